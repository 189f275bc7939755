"""A model file as `DistanceModel.save` writes it: weights, and a header that describes what they belong to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from ..errors import InputError

FORMAT = 2  # the newest that can be read here; that of `minaction._files`
_SAMPLE = "recorded."  # the sample of recorded states that coverage is measured from


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


def read(path: str | Path) -> Stored:
    """The model in `path`; what its header says beyond what a runtime needs is ignored."""
    if Path(path).is_dir():
        path = Path(path) / "model.safetensors"  # as `DistanceModel.save` writes a folder
    if not Path(path).is_file():
        raise InputError(f"There is no file {path}; give a model file, such as model.safetensors.")
    try:
        with safe_open(str(path), framework="numpy") as file:
            header = json.loads((file.metadata() or {})["minaction"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        kind, newer = header["kind"], header["format"] > FORMAT
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a model file of minaction, or it is truncated; write it again.") from error
    if newer:
        raise InputError(f"{path} was written by a newer version of minaction ({header.get('version')}); upgrade it.")
    if kind != "model":
        raise InputError(f"{path} holds a {kind}, not a model; give another file.")
    try:
        shape, dtype = tuple(map(int, header["state_shape"])), np.dtype(header["state_dtype"]).name
        origin, step_time = weights.pop("origin", None), float(header.get("step_time", 1.0))
        weights = {name: value for name, value in weights.items() if not name.startswith(_SAMPLE)}
        return Stored(weights, header["encoder"], header["quasimetric"], shape, dtype, origin, step_time)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} does not say what its states are ({error}); write it again.") from error
