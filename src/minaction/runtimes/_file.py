"""A model file as `DistanceModel.save` writes it: weights, and a header that describes what they belong to."""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from .._checksums import is_as_written
from ..errors import InputError

FORMAT = 2  # the newest that can be read here; that of `minaction._files`
_SAMPLE = "recorded."  # the sample of recorded states that coverage is measured from
_MOST_NUMBERS = 1 << 26  # of a state
_UNREADABLE = (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError, struct.error, AttributeError)
_LOADED_BY = {"model": ("a model", "load"), "agent": ("an agent", "load_agent")}


@dataclass(frozen=True)
class Stored:
    """What a runtime needs of a model."""

    weights: dict[str, np.ndarray]
    encoder: dict[str, Any]
    quasimetric: dict[str, Any]
    state_shape: tuple[int, ...]
    state_dtype: str
    origin: np.ndarray | None = None
    """Where the network sees states from, in float64; None for where they are recorded from."""
    step_time: float = 1.0
    """How long one of the steps takes that the network measures in."""


def read(path: str | os.PathLike[str]) -> Stored:
    """The model in `path`; what its header says beyond what a runtime needs is ignored."""
    if os.path.isdir(path):
        path = os.path.join(path, "model.safetensors")  # as `DistanceModel.save` writes a folder
    tensors, header = read_file(path, "model")
    with fitting(path):
        return stored_model(tensors, header)


def read_file(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header of a file that holds a `kind`, a model or an agent."""
    if not os.path.isfile(path):
        raise InputError(
            f"There is no file {path}; give the file of {_LOADED_BY[kind][0]}, such as {kind}.safetensors."
        )
    try:
        with safe_open(str(path), framework="numpy") as file:
            header = json.loads((file.metadata() or {})["minaction"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        found, newer = header["kind"], header["format"] > FORMAT
        unchanged = is_as_written(path)
    except _UNREADABLE as error:
        raise InputError(f"{path} is not a file of minaction, or it is truncated; write it again.") from error
    if not unchanged:
        raise InputError(f"{path} has changed since it was written (its checksum is wrong); write or copy it again.")
    if newer:
        raise InputError(f"{path} was written by a newer version of minaction ({header.get('version')}); upgrade it.")
    if found != kind:
        what, loader = _LOADED_BY.get(str(found), (f"a {found}", None))
        remedy = f"read it with `{loader}`" if loader else "give another file"
        raise InputError(f"{path} holds {what}, not {_LOADED_BY[kind][0]}; {remedy}.")
    return tensors, header


def stored_model(tensors: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> Stored:
    """The model of a file's arrays and header."""
    shape, dtype = tuple(header["state_shape"]), np.dtype(header["state_dtype"]).name
    if not all(type(size) is int and size > 0 for size in shape) or math.prod(shape) > _MOST_NUMBERS:
        raise ValueError(f"states of shape {shape}")
    origin, step_time = tensors.get("origin"), float(header.get("step_time", 1.0))
    if not 0 < step_time < math.inf or (origin is not None and origin.shape != shape):
        raise ValueError("units that do not fit the states")
    weights = {name: value for name, value in tensors.items() if not name.startswith(_SAMPLE) and name != "origin"}
    if not all(weight.dtype.kind == "f" for weight in weights.values()):
        raise ValueError("weights that are no floating-point numbers")
    if not all(np.isfinite(weight).all() for weight in weights.values()):
        raise ValueError("weights that are infinite or NaN")
    return Stored(weights, header["encoder"], header["quasimetric"], shape, dtype, origin, step_time)


@contextlib.contextmanager
def fitting(path: str | os.PathLike[str]) -> Iterator[None]:
    """Refuse a file whose header and weights do not fit each other, where building a model of them would break off."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # a header can be wrong in any place, and is only used here
        reason = f"{type(error).__name__}: {error}"[:200]
        raise InputError(f"{path} does not describe the weights that it holds ({reason}); write it again.") from error


def try_out(model: Any, *questions: Callable[[np.ndarray, np.ndarray], Any]) -> None:
    """Ask about two states of `model`, so that what does not fit is refused when it is loaded, not later."""
    nowhere = np.zeros(model.state_shape, model.state_dtype)
    for question in questions:
        question(nowhere, nowhere)
