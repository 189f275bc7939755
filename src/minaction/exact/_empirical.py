"""The minimum action distance of recorded data: shortest paths over its transitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..trajectories import Trajectories, as_trajectories
from ._graph import minimum_action_distance


def observed_distance(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """The minimum time between all distinct states of a data set along recorded transitions.

    It combines pieces of different episodes wherever they share a state, which is all that the data alone can tell. A
    transition that was recorded several times counts with its shortest duration.

    Args:
        data: recorded episodes, as `recorded_distance` takes them. All pairs of distinct states are measured, so there
            should be at most a few thousand.

    Returns:
        The distinct states (U, *shape), and the distances (U, U) between them, in steps or in the unit of the recorded
        times; infinite where no chain of recorded transitions leads.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[0.0, 1.0, 2.0, 3.0], [3.0, 1.0]])
    >>> states, distances = ma.observed_distance(data)
    >>> states.ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> distances[:, 1].tolist()
    [1.0, 0.0, 2.0, 1.0]
    """
    states, edges, durations = observed_transitions(as_trajectories(data))
    return states, minimum_action_distance(len(states), edges, durations)


def observed_transitions(data: Trajectories) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct states (U, *shape), and every recorded transition between two of them: (from, to), and duration."""
    distinct = data.distinct
    goes_on = np.ones(data.num_states, dtype=bool)
    goes_on[data.offsets[1:] - 1] = False  # the last state of an episode has no successor
    now = np.flatnonzero(goes_on)
    edges = np.stack([distinct.index[now], distinct.index[now + 1]], axis=1).astype(np.int64)
    durations = np.ones(len(now)) if data.times is None else data.times[now + 1] - data.times[now]
    moved = edges[:, 0] != edges[:, 1]
    return distinct.states, edges[moved], durations[moved]
