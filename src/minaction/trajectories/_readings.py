"""Readings that failed, as the spikes of a sensor: they jump far away and straight back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._dataset import Trajectories
from ._distinct import states_repeat
from ._pauses import typical_change

AWAY = 5.0
"""Such readings lie at least so many typical changes away from the ones before and after them,"""
BACK = 3.0
"""which are at most so many from each other; half as many more for every further row."""
LONGEST = 3
"""So many rows in a row may fail."""
_BESIDE = 2.5
"""If one number fails in a row, so may others, by less."""
_RETURN = 0.25  # of how far it went: what comes back like that says nothing of how large changes are
_RARE = 0.05  # of all rows: what happens more often is how the world is


def failed_readings(data: Trajectories) -> dict[int, np.ndarray]:
    """The rows (n,) of failed readings by the number of a state that they belong to, where there are any.

    None are looked for among images, whole numbers, states that repeat, where any jump may be the world's own, and in
    files that do not fit into memory.
    """
    return {number: rows for number, (rows, _) in _mended(data).items()}


def repaired(data: Trajectories) -> Trajectories:
    """The recording with failed readings replaced by what lies between those before and after.

    One spike is a short cut through whatever place it names: a thousandth of such rows took the distances in two rooms
    from .999 to .87 (the correlation of the recording's graph with the truth).
    """
    found = _mended(data)
    if not found:
        return data
    states = np.array(data.states)
    for number, (rows, values) in found.items():
        states[rows, number] = values
    return replace(data, states=states)


def _mended(data: Trajectories) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """By the number of a state, the rows in which it failed and what it probably was."""
    flat = len(data.state_shape) == 1 and data.states.dtype.kind == "f"
    if not flat or data.is_mapped or states_repeat(data.states, data.offsets):
        return {}
    failed, typical = np.zeros(data.num_states, bool), np.zeros(data.state_shape[0])
    for number, column in enumerate(data.states.T):
        values = column.astype(np.float64)
        typical[number] = _typical(values, data.offsets)
        if typical[number] > 0:
            for length in range(1, LONGEST + 1):
                failed |= _failed(values / typical[number], length, data.offsets)
    if not failed.any() or failed.sum() > _RARE * data.num_states:
        return {}
    found, rows, sound = {}, np.flatnonzero(failed), np.flatnonzero(~failed)
    for number, column in enumerate(data.states.T):
        between = np.interp(rows, sound, column[sound])
        off = np.abs(column[rows] - between) > _BESIDE * typical[number]
        if typical[number] > 0 and off.any():
            found[number] = rows[off], between[off]
    return found


def _typical(values: np.ndarray, offsets: np.ndarray) -> float:
    """The typical change of a number (N,), but for steps that leave and soon come back."""
    change = np.diff(values)
    change[offsets[1:-1] - 1] = 0.0
    for length in range(1, LONGEST + 1):
        away, apart, _ = _excursions(values, length, offsets)
        leaves = np.flatnonzero(apart <= _RETURN * away)
        for k in range(length + 1):
            change[leaves + k] = 0.0
    return float(typical_change(change[:, None])[0]) if len(change) else 0.0


def _failed(values: np.ndarray, length: int, offsets: np.ndarray) -> np.ndarray:
    """The rows (N,) of readings that failed, just so many of them in a row; `values` are in typical changes."""
    away, apart, inside = _excursions(values, length, offsets)
    begins = np.flatnonzero(inside & (away > AWAY) & (apart <= BACK * (length + 1) / 2))
    failed = np.zeros(len(values), bool)
    for k in range(1, length + 1):
        failed[begins + k] = True
    return failed


def _excursions(values: np.ndarray, length: int, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every row and the one `length` + 1 later: how far the nearest between is from both, how far they are apart.

    And whether they are of the same episode; all (N - length - 1,).
    """
    last = max(0, len(values) - length - 1)
    before, after = values[:last], values[length + 1 :]
    between = np.stack([values[k : last + k] for k in range(1, length + 1)])
    away = np.minimum(np.abs(between - before), np.abs(between - after)).min(axis=0)
    rows = np.arange(last)
    inside = rows + length + 1 < offsets[np.searchsorted(offsets, rows, side="right")]
    return away, np.abs(after - before), inside
