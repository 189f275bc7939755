"""`Units`: the origin and the time unit of a recording, removed before training and restored in every distance.

Networks compute in float32, whose seven digits are not enough for Unix times or map coordinates. And objectives count
in steps, whatever the clock of the recording.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._mapped import read_rows, row_blocks
from .trajectories import Trajectories

_FAR = 1 << 10
"""An input whose mean is this many deviations from 0 is centred; otherwise float32 has at least four digits for it."""
_MOST_ROWS = 1 << 20
_COARSE = 1e-2
"""If adjacent numbers of the recorded type are this many deviations apart, the recording is too coarse: warn."""


@dataclass(frozen=True, eq=False)
class Units:
    """The origin of the states, in float64, None if it is 0; and the time of a typical step."""

    origin: np.ndarray | None = None
    time: float = 1.0

    @classmethod
    def of(cls, data: Trajectories) -> Units:
        """The units of a recording: without an origin and with a time of 1 for ordinary data."""
        return cls(_origin(data.states), step_time(data))

    def centred(self, states: Any) -> Any:
        """States as networks take them: unchanged, or relative to the origin as float32."""
        if self.origin is None:
            return states
        return (np.asarray(states, np.float64) - self.origin).astype(np.float32)

    def in_steps(self, data: Trajectories) -> Trajectories:
        """`data` with times in typical steps since the start of each episode."""
        if data.times is None:
            return data
        if data.is_mapped:  # single precision, which objectives sample in anyway: half the memory
            times, first = np.empty(data.num_states, np.float32), 0
            begins = read_rows(data.times, data.offsets[:-1])
            for block in row_blocks(data.times):
                rows = np.arange(first, first + len(block))
                episode = np.searchsorted(data.offsets, rows, side="right") - 1
                times[rows] = (block - begins[episode]) / self.time
                first += len(block)
            times.flags.writeable = False  # or it would be copied
            return replace(data, times=times)
        begins = np.repeat(data.times[data.offsets[:-1]], data.lengths)
        return replace(data, times=(data.times - begins) / self.time)


ORDINARY = Units()
"""No origin, and time counted in steps."""


def _origin(states: np.ndarray) -> np.ndarray | None:
    if states.dtype.kind != "f":
        return None
    count, first = 0, np.asarray(states[0], np.float64)
    total, squares = np.zeros_like(first), np.zeros_like(first)
    stride = -(-len(states) // _MOST_ROWS)
    for block in row_blocks(states):  # relative to the first state: squares of large numbers would hide small changes
        rows = block[::stride]
        away = rows.astype(np.float64) - first
        count, total, squares = count + len(rows), total + away.sum(axis=0), squares + (away**2).sum(axis=0)
    mean = total / count
    deviation = np.sqrt(np.maximum(0.0, squares / count - mean**2))
    mean += first
    step = np.abs(mean) * np.finfo(states.dtype).eps  # between adjacent numbers of this type
    if ((deviation > 0) & (step > _COARSE * deviation)).any():
        where = np.flatnonzero(((deviation > 0) & (step > _COARSE * deviation)).ravel()).tolist()
        warnings.warn(
            f"Inputs {where[:8]} change by hardly more than {states.dtype} can tell apart at their size; record them "
            "as float64, or from a nearer origin.",
            stacklevel=2,
        )
    far = (deviation > 4 * step) & (np.abs(mean) > _FAR * deviation)
    return np.where(far, mean, 0.0) if far.any() else None


def step_time(data: Trajectories) -> float:
    """The median time of one recorded step."""
    if data.times is None:
        return 1.0
    count = data.num_states - 1
    rows = np.arange(count) if count <= _MOST_ROWS else np.linspace(0, count - 1, _MOST_ROWS).astype(np.int64)
    rows = rows[~np.isin(rows, data.offsets[1:-1] - 1)]
    return float(np.median(read_rows(data.times, rows + 1) - read_rows(data.times, rows)))
