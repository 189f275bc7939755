"""Upper bounds on distances from recorded steps."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from ..exact._empirical import observed_transitions
from ..exact._graph import graph_of
from ..trajectories import Trajectories, met_again

_SOURCES_AT_A_TIME = 64
_VISITS = 2  # of a state on average, where states are said to repeat


def states_repeat(data: Trajectories) -> bool:
    """Whether states are visited twice or more on average, so that paths of different episodes meet."""
    return data.has_at_most(data.num_states // _VISITS) and met_again(data.distinct, data.offsets, _VISITS)


class RecordedBounds:
    """Shortest paths along recorded steps; infinite where none leads, and from or to states never recorded."""

    def __init__(self, data: Trajectories) -> None:
        states, edges, durations = observed_transitions(data)
        self._dtype = states.dtype
        self._place = {_key(row): k for k, row in enumerate(states)}
        self._graph = graph_of(len(states), edges, durations)

    def places(self, states: np.ndarray) -> np.ndarray:
        """The index of each of `states` (n, *shape) among recorded states, (n,); -1 for states never recorded."""
        same_type = states.astype(self._dtype, copy=False)
        return np.array([self._place.get(_key(row), -1) for row in same_type], dtype=int)

    def between(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The shortest time from sources[k] to targets[k], both (n, *shape), for every k, (n,)."""
        begin, end = self.places(sources), self.places(targets)
        found = np.full(len(begin), np.inf)
        starts = np.unique(begin[(begin >= 0) & (end >= 0)])
        for some in np.split(starts, range(_SOURCES_AT_A_TIME, len(starts), _SOURCES_AT_A_TIME)):
            asked = np.flatnonzero(np.isin(begin, some) & (end >= 0))
            if len(asked):
                reached = dijkstra(self._graph, indices=some)
                found[asked] = reached[np.searchsorted(some, begin[asked]), end[asked]]
        return found


def _key(row: np.ndarray) -> bytes:
    return (row + row.dtype.type(0)).tobytes() if row.dtype.kind == "f" else row.tobytes()  # -0.0 is 0.0
