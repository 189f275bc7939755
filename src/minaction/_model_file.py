"""Model files: weights, the full description of what they belong to, provenance, and a sample of recorded states."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import msgspec
import numpy as np

from ._card import card, front_matter
from ._coverage import Coverage
from ._distance import Architecture, Distance
from ._files import atomic_write, read_tensors, write_json, write_tensors
from ._health import Health
from ._trees import named_leaves, with_named_leaves
from ._units import Units
from .encoders._inputs import no_statistics
from .errors import InputError
from .runtimes._file import Stored
from .trajectories._arrays import KEPT

if TYPE_CHECKING:
    from ._model import DistanceModel

WEIGHTS = "model.safetensors"  # in a folder for the Hub; also known to `runtimes/_file.py`
_RECORDED = "recorded."  # before the names of the arrays that `Coverage` keeps in a model's file


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from; kept in its file."""

    objective: str
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    seed: int = 0
    data: str = ""
    """The task or file it was trained on."""
    data_fingerprint: str = ""
    episodes: int = 0
    """How many of them it was trained on, and of how many states; 0 if that is not known."""
    states: int = 0


def write_model(model: DistanceModel, path: str | Path) -> None:
    """Write `model` to a safetensors file."""
    write_tensors(path, "model", *contents_of(model))


def contents_of(model: DistanceModel) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header of a model's file; an agent's file holds them too."""
    header = {
        **model.architecture.as_dict(),
        "state_shape": list(model.state_shape),
        "state_dtype": model.state_dtype,
        "step_time": model.units.time,
        "columns": list(model.columns),
        "unit": model.unit,
        "provenance": asdict(model.provenance),
        "health": None if model.health is None else asdict(model.health),
        "agreement": model.agreement,
        "card": card(model),
    }
    origin = {} if model.units.origin is None else {"origin": model.units.origin}
    recorded = {} if model.recorded is None else model.recorded.as_tensors(_RECORDED)
    return {**named_leaves(model.network), **origin, **recorded}, header


def write_folder(model: DistanceModel, path: str | Path, licence: str = "") -> None:
    """Write `model` as a folder that the Hugging Face Hub understands: weights, what they are, and the card."""
    folder = Path(path)
    others = [name for name in ("config.json", "README.md") if (folder / name).exists()]
    if others and not (folder / WEIGHTS).exists():
        raise InputError(f"{folder} holds something else with a {others[0]}; choose another folder.")
    write_model(model, folder / WEIGHTS)
    described = {
        "library_name": "minaction",
        **model.architecture.as_dict(),
        "state_shape": model.state_shape,
        "state_dtype": model.state_dtype,
        "columns": model.columns,
        "unit": model.unit,
    }
    write_json(folder / "config.json", described)
    with atomic_write(folder / "README.md") as file:
        file.write((front_matter(licence) + card(model, licence)).encode())


def is_one_model(path: Path) -> bool:
    """Whether `path` is a model by itself, a file or a folder for the Hub; a run may have several."""
    return not path.is_dir() or (path / WEIGHTS).exists()


def read_model(path: str | Path) -> dict[str, Any]:
    """The arguments of `DistanceModel` that `write_model` stored in `path`."""
    return arguments_of(*read_tensors(path, "model"), path)


def arguments_of(tensors: dict[str, np.ndarray], header: dict[str, Any], path: str | Path) -> dict[str, Any]:
    """The arguments of `DistanceModel` from what `contents_of` gave; `path` is for messages."""
    try:
        architecture = Architecture.from_dict(header)
        shape, dtype = _shape(header["state_shape"]), np.dtype(header["state_dtype"]).name
        if np.dtype(dtype) not in KEPT:
            raise InputError(f"its states are of type {dtype}")
        if not all(np.isfinite(array).all() for array in tensors.values()):
            raise InputError("its weights are infinite or NaN")
        return {
            "architecture": architecture,
            "provenance": msgspec.convert(header["provenance"], Provenance),
            "state_shape": shape,
            "state_dtype": dtype,
            "units": _units(tensors.pop("origin", None), header.get("step_time", 1.0), shape),
            "columns": tuple(map(str, header.get("columns", ()))),
            "unit": str(header.get("unit", "")),
            "health": msgspec.convert(header.get("health"), Health | None),
            "agreement": msgspec.convert(header.get("agreement", {}), dict[str, dict[str, float | None]]),
            "recorded": Coverage.from_tensors(tensors, _RECORDED, shape),
            # All arrays at once; `jnp.asarray` compiles a program to copy one for every new shape.
            "network": with_named_leaves(_skeleton(architecture, shape), jax.device_put(tensors)),
        }
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise InputError(
            f"{path} does not describe a model that can be built here ({str(error).rstrip('.')}); it may come from "
            "another version, or need a package that is not installed."
        ) from error


def as_stored(model: DistanceModel) -> Stored:
    """What `runtimes` needs of `model`, as if it had been read from a file."""
    described = model.architecture.as_dict()
    return Stored(
        named_leaves(model.network),
        described["encoder"],
        described["quasimetric"],
        model.state_shape,
        model.state_dtype,
        model.units.origin,
        model.units.time,
    )


def _shape(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(size) is not int or not 1 <= size < 1 << 31 for size in values):
        raise InputError(f"the shape of a state is {values!r}")
    return tuple(values)


def _units(origin: np.ndarray | None, step_time: Any, shape: tuple[int, ...]) -> Units:
    """The units in a file, refused where they cannot be any."""
    if isinstance(step_time, bool) or not isinstance(step_time, int | float) or not 0 < step_time < math.inf:
        raise InputError(f"the time of a step is {step_time!r}")
    if origin is not None and (origin.shape != shape or not np.isfinite(origin).all()):
        raise InputError(f"the origin has shape {origin.shape} and states {shape}, or it is not finite")
    return Units(origin, float(step_time))


@lru_cache(maxsize=64)
def _skeleton(architecture: Architecture, state_shape: tuple[int, ...]) -> Distance:
    """A distance with the shapes of its arrays in place of the arrays."""
    return eqx.filter_eval_shape(lambda: architecture.build(no_statistics(state_shape), key=jax.random.key(0)))
