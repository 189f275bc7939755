"""The minimum action distance of what was observed: shortest paths over the recorded transitions alone."""

from __future__ import annotations

import numpy as np

from ..trajectories._dataset import Trajectories
from ._graph import minimum_action_distance


def observed_distance(data: Trajectories) -> tuple[np.ndarray, np.ndarray]:
    """The distinct states (U, D), and the least elapsed time (U, U) between them along recorded transitions.

    No method can know more than this from the data alone: it joins pieces of different episodes wherever they
    share a state, and is infinite where no chain of recorded transitions leads. A transition recorded
    several times counts with its shortest duration.
    """
    states, edges, durations = observed_transitions(data)
    return states, minimum_action_distance(len(states), edges, durations)


def observed_transitions(data: Trajectories) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct states (U, D), and every recorded change from one to another: (from, to) and duration."""
    distinct = data.distinct
    goes_on = np.ones(data.num_states, dtype=bool)
    goes_on[data.offsets[1:] - 1] = False  # the last state of an episode leads nowhere
    now = np.flatnonzero(goes_on)
    edges = np.stack([distinct.index[now], distinct.index[now + 1]], axis=1).astype(np.int64)
    durations = np.ones(len(now)) if data.times is None else data.times[now + 1] - data.times[now]
    moved = edges[:, 0] != edges[:, 1]
    return distinct.states, edges[moved], durations[moved]
