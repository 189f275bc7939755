"""Readings that failed, as the spikes of a sensor: they jump far away and straight back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._circles import periods, turned
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
_MOST_NUMBERS = 64  # of a state: what has more is an embedding, or an image flattened
_GLANCE = 10_000
_TAME = 4.0  # times the median: with no larger change nothing has failed, which is told without sorting all of them


def failed_readings(data: Trajectories) -> dict[int, np.ndarray]:
    """The rows (n,) of failed readings by the number of a state that they belong to, where there are any.

    None are looked for among images, whole numbers, states of very many numbers, states that repeat, where any jump may
    be the world's own, and in files that do not fit into memory.
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
    measured = len(data.state_shape) == 1 and data.state_shape[0] <= _MOST_NUMBERS and data.states.dtype.kind == "f"
    if not measured or data.is_mapped or states_repeat(data.states, data.offsets):
        return {}
    failed, typical = np.zeros(data.num_states, bool), np.zeros(data.state_shape[0])
    period = periods(data)

    def column(number: int) -> np.ndarray:
        """One at a time, for memory's sake; what goes round goes on instead, or each round would be a spike."""
        values = data.states[:, number].astype(np.float64)
        return np.unwrap(values, period=period[number]) if np.isfinite(period[number]) else values

    for number in range(len(period)):
        typical[number], rows = _jumped(column(number), data.offsets)
        failed[rows] = True
    if not failed.any() or failed.sum() > _RARE * data.num_states:
        return {}
    found, rows, sound = {}, np.flatnonzero(failed), np.flatnonzero(~failed)
    for number in range(len(period)):
        values = column(number)
        between = np.interp(rows, sound, values[sound])
        off = np.abs(values[rows] - between) > _BESIDE * typical[number]
        if typical[number] > 0 and off.any():
            least, most = float(data.states[:, number].min()), float(data.states[:, number].max())
            found[number] = rows[off], turned(between[off], (least + most) / 2, period[number])
    return found


def _jumped(values: np.ndarray, offsets: np.ndarray) -> tuple[float, np.ndarray]:
    """The typical change of a number (N,), but for steps that leave and soon come back, and the rows that failed."""
    change, none = np.diff(values), np.empty(0, np.int64)
    change[offsets[1:-1] - 1] = 0.0
    size = np.abs(change)
    if len(size) == 0 or size.max() <= _TAME * np.median(size[:: 1 + len(size) // _GLANCE]):
        return 0.0, none
    excursions = [_excursions(values, length) for length in range(1, LONGEST + 1)]
    for length, (away, apart) in enumerate(excursions, start=1):
        leaves = np.flatnonzero(apart <= _RETURN * away)
        for k in range(length + 1):
            change[leaves + k] = 0.0
    typical = float(typical_change(change[:, None])[0])
    if typical == 0:
        return 0.0, none
    rows = []
    for length, (away, apart) in enumerate(excursions, start=1):
        begins = np.flatnonzero((away > AWAY * typical) & (apart <= BACK * (length + 1) / 2 * typical))
        inside = np.searchsorted(offsets, begins, "right") == np.searchsorted(offsets, begins + length + 1, "right")
        rows += [begins[inside] + k for k in range(1, length + 1)]
    return typical, np.concatenate(rows)


def _excursions(values: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Of every row and the one `length` + 1 later (N - length - 1,): how far the nearest between them is from both.

    And how far the two are apart.
    """
    last = max(0, len(values) - length - 1)
    before, after = values[:last], values[length + 1 :]
    away = np.full(last, np.inf)
    for k in range(1, length + 1):
        between = values[k : last + k]
        np.minimum(away, np.abs(between - before), out=away)
        np.minimum(away, np.abs(between - after), out=away)
    return away, np.abs(after - before)
