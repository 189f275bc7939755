"""Writing a data set to a file: our own format, or the archive that OGBench's loader opens."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._files import atomic_write
from ..errors import InputError
from ._dataset import Trajectories


def convert(data: Trajectories, path: str | Path) -> None:
    """Write `data` in the format that the path's ending names: `.safetensors` (ours) or `.npz` (OGBench's)."""
    path = Path(path)
    writers = {".safetensors": _write_ours, ".npz": write_ogbench}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"Cannot write {path}: its ending must be {' or '.join(writers)}.")
    if path.is_dir():
        raise InputError(f"Cannot write {path}: it is a folder; give the name of a file.")
    writer(data, path)


def write_ogbench(data: Trajectories, path: Path) -> None:
    """Write OGBench's compact layout: `observations`, `actions`, and `terminals`, true at the end of an episode.

    OGBench's loader needs actions. Where the data has none the array has no columns, rather than invented numbers that
    a policy could be trained on. Recorded times go into an array `times`, which OGBench ignores and we read.
    """
    terminals = np.zeros(data.num_states, dtype=bool)
    terminals[data.offsets[1:] - 1] = True
    actions = np.zeros((data.num_states, 0), dtype=np.float32) if data.actions is None else data.actions
    arrays = {
        "observations": data.states,
        "actions": actions.astype(np.float32, copy=False),
        "terminals": terminals,
    }
    if data.times is not None:
        arrays["times"] = data.times
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)


def _write_ours(data: Trajectories, path: Path) -> None:
    data.save(path)
