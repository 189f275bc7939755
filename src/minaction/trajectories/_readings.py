"""Readings that failed, as the spikes of a sensor: they jump far away and straight back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._dataset import Trajectories
from ._distinct import states_repeat
from ._pauses import typical_change

AWAY = 5.0
"""Such a reading lies at least so many typical changes away from the ones before and after it,"""
BACK = 3.0
"""which are at most so many from each other."""
_BESIDE = 2.5
"""If one number fails in a row, so may others, by less."""
_RETURN = 0.25  # of how far it went: what comes back like that says nothing of how large changes are
_RARE = 0.05  # of all rows: what happens more often is how the world is


def failed_readings(data: Trajectories) -> dict[int, np.ndarray]:
    """The rows (n,) of failed readings by the number of a state that they belong to, where there are any.

    None are looked for among images, whole numbers, states that repeat, where any jump may be the world's own, and in
    files that do not fit into memory.
    """
    flat = len(data.state_shape) == 1 and data.states.dtype.kind == "f"
    if not flat or data.is_mapped or states_repeat(data.states, data.offsets):
        return {}
    inside = np.ones(data.num_states, bool)
    inside[data.offsets[:-1]] = inside[data.offsets[1:] - 1] = False  # the ends of episodes have one neighbour
    rows = np.flatnonzero(inside)
    odd = np.zeros(len(rows), bool)
    for column in data.states.T:
        odd |= _jumps(column, rows) > AWAY
    if not odd.any() or odd.sum() > _RARE * data.num_states:
        return {}
    failed = {number: rows[odd & (_jumps(column, rows) > _BESIDE)] for number, column in enumerate(data.states.T)}
    return {number: found for number, found in failed.items() if len(found)}


def _jumps(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """How far a number jumps to each of `rows` and straight back, (n,) in typical changes; 0 if it stays away."""
    values = column.astype(np.float64)
    there, here = values[rows] - values[rows - 1], values[rows + 1] - values[rows]
    away, apart = np.minimum(np.abs(there), np.abs(here)), np.abs(there + here)
    returns = apart <= _RETURN * away
    typical = typical_change(np.where(returns | np.roll(returns, 1), 0.0, there)[:, None])[0]
    return np.where(apart <= BACK * typical, away / typical, 0.0) if typical > 0 else np.zeros(len(rows))


def repaired(data: Trajectories) -> Trajectories:
    """The recording with the mean of the readings before and after in place of those that failed.

    One spike is a short cut through whatever place it names: a thousandth of such rows took the distances in two rooms
    from .999 to .87 (the correlation of the recording's graph with the truth).
    """
    found = failed_readings(data)
    if not found:
        return data
    states = np.array(data.states)
    for number, rows in found.items():
        states[rows, number] = (data.states[rows - 1, number] + data.states[rows + 1, number]) / 2
    return replace(data, states=states)
