"""The file format of `Trajectories.save`: one safetensors file, which can be memory-mapped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import map_tensors, read_tensors, write_tensors
from ..errors import InputError
from ._arrays import frozen

if TYPE_CHECKING:
    from ._dataset import Trajectories

_ARRAYS = ("states", "offsets", "times", "actions", "succeeded")


def write_arrays(data: Trajectories, path: str | Path, header: dict[str, Any]) -> None:
    """Write the arrays of `data`, its names and its unit, and `header`: how the data was made."""
    tensors = {name: getattr(data, name) for name in _ARRAYS}
    present = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    named = {"columns": list(data.columns)} if data.columns else {}
    unit = {"time_unit": data.time_unit} if data.time_unit else {}
    episodes = {"episode_names": list(data.episode_names)} if data.episode_names else {}
    write_tensors(path, "trajectories", present, {"made": header, **named, **unit, **episodes})


def read_arrays(path: str | Path, memory_map: bool) -> dict[str, Any]:
    """The arguments of `Trajectories` that `write_arrays` stored in `path`; a mapped file's are not read yet."""
    tensors, header = (map_tensors if memory_map else read_tensors)(path, "trajectories")
    missing = {"states", "offsets"} - tensors.keys()
    if missing:
        raise InputError(f"{path} has no {' and no '.join(sorted(missing))}; write it again.")
    return {
        **{name: frozen(tensors[name]) for name in _ARRAYS if name in tensors},
        "columns": tuple(header.get("columns", ())),
        "time_unit": str(header.get("time_unit", "")),
        "episode_names": tuple(header.get("episode_names", ())),
    }
