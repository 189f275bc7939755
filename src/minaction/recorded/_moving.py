"""Rows of a recording in which something moves: all but the inside of pauses."""

from __future__ import annotations

import numpy as np

from ..trajectories import Trajectories, at_rest, typical_change
from ._sample import episodes


def moving_rows(places: np.ndarray, episode: np.ndarray) -> np.ndarray:
    """The rows of a recording but for the inside of pauses, and of what goes on so slowly that rows hardly differ.

    The rows of a pause would be nodes that lie on each other, and all joins stay within it.
    """
    rows, inside = np.arange(len(places)), episode[1:] == episode[:-1]
    change = np.diff(places, axis=0)
    still = np.zeros(len(change), bool)
    still[inside] = at_rest(change[inside])
    if not still.any():
        return rows
    typical = typical_change(change[inside])
    first = np.maximum.accumulate(np.where(np.append(False, still), 0, rows))  # of the stretch of still steps
    passed = np.floor(np.abs(places - places[first]) / np.where(typical > 0, typical, 1.0))
    crept_on = np.append(False, (np.diff(passed, axis=0) != 0).any(axis=1))
    return rows[crept_on | ~(np.append(False, still) & np.append(still, False))]


def at_rows(data: Trajectories, rows: np.ndarray) -> Trajectories:
    """Only these rows of a recording, each still at its time."""
    lengths = np.bincount(episodes(data)[rows], minlength=data.num_episodes)
    times = np.arange(data.num_states, dtype=np.float64) if data.times is None else data.times
    return Trajectories.from_flat(
        data.states[rows], np.concatenate([[0], np.cumsum(lengths[lengths > 0])]), times=times[rows]
    )
