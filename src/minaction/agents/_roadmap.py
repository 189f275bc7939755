"""The high level: recorded states as a graph, and the way to a goal on it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from ..recorded import RecordedDistance

_APART = 1e6  # between states that differ in an input that must agree: as good as infinitely far
_DOORS = 8  # nodes near a state by which it may join the graph
_BESIDE = 0.5  # typical moves further away than the nearest of them
_GOALS_REMEMBERED = 16
_NEIGHBOURS = 24


class Way(NamedTuple):
    """Where to head for next, and how long the way is."""

    subgoal: np.ndarray  # (D,) the goal itself once it is near
    remaining: float  # time to the goal; infinite where no path leads there
    off_road: float  # how far the state is from anything recorded, in typical moves
    goal_off_road: float  # how far the goal is


class _Field(NamedTuple):
    remaining: np.ndarray  # (n,) from every node to the goal
    following: np.ndarray  # (n,) the next node on the way there


@dataclass(frozen=True, eq=False)
class Roadmap:
    """Recorded states, and the cost of edges between them.

    States are near each other by the inputs that `counts`, each measured in its typical change in a move, `unit`; and
    only where the inputs that `must_agree` do.
    """

    states: np.ndarray  # (n, D)
    graph: csr_array  # (n, n) time of every edge
    counts: np.ndarray  # (D,) bool
    must_agree: np.ndarray  # (D,) bool
    unit: np.ndarray  # (k,)
    move_time: float
    _fields: OrderedDict[int, _Field] = field(default_factory=OrderedDict, init=False, repr=False)

    @classmethod
    def of(cls, recorded: RecordedDistance) -> Roadmap:
        """The graph of a recording."""
        graph = recorded.graph
        return cls(
            recorded.nodes,
            csr_array((graph.data.astype(np.float32), graph.indices.astype(np.int32), graph.indptr), shape=graph.shape),
            recorded.counts,
            recorded.must_agree,
            recorded.unit,
            recorded.typical_time,
        )

    def measured(self, distance: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Roadmap:
        """The same nodes, but with edges to near ones that cost what `distance` says; for comparison.

        `distance` takes states (m, D) and goals (m, D). Where it is small across a wall, so is the edge.
        """
        found = self._tree.query(self._place(self.states), min(_NEIGHBOURS + 1, len(self.states)))
        near = np.asarray(found[1])[:, 1:]
        start, end = np.repeat(np.arange(len(near)), near.shape[1]), near.ravel()
        recorded = self.graph.tocoo()  # steps to where nothing is near, such as through a door
        far = recorded.data > self.move_time
        start, end = np.concatenate([start, recorded.row[far]]), np.concatenate([end, recorded.col[far]])
        cost = np.maximum(distance(self.states[start], self.states[end]), 1e-6)  # SciPy reads a zero as "no edge"
        keys, first = np.unique(start.astype(np.int64) * len(self.states) + end, return_index=True)
        graph = csr_array((cost[first], (keys // len(self.states), keys % len(self.states))), shape=self.graph.shape)
        return Roadmap(self.states, graph, self.counts, self.must_agree, self.unit, self.move_time)

    def way(self, state: np.ndarray, goal: np.ndarray, lookahead: float) -> Way:
        """The way from `state` to `goal`, both (D,): the subgoal lies `lookahead` ahead on the shortest path."""
        away, door = self._doors(state)
        goal_away, goal_door = self._doors(goal)
        to_goal = self._field(int(goal_door[0]))
        total = away * self.move_time + to_goal.remaining[door]
        best = int(np.argmin(total))
        off_road, goal_off_road = (float(far[0]) if far[0] < _APART / 2 else np.inf for far in (away, goal_away))
        remaining = float(total[best])
        if not np.isfinite(remaining) or np.isinf(off_road) or np.isinf(goal_off_road):
            return Way(goal, np.inf, off_road, goal_off_road)
        node, left = int(door[best]), remaining - lookahead
        while to_goal.remaining[node] > max(left, 0.0):
            node = int(to_goal.following[node])
        return Way(goal if left <= 0 else self.states[node], remaining, off_road, goal_off_road)

    def _field(self, goal: int) -> _Field:
        """The ways from everywhere to a node; those to the last few goals are remembered."""
        if goal not in self._fields:
            self._fields[goal] = _Field(*dijkstra(self._backward, indices=goal, return_predecessors=True))
            if len(self._fields) > _GOALS_REMEMBERED:
                self._fields.popitem(last=False)
        return self._fields[goal]

    def _doors(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes nearest to a state, nearest first, and how far away they are."""
        found = self._tree.query(self._place(state[None])[0], min(_DOORS, len(self.states)))
        away, node = (np.atleast_1d(part) for part in found)
        beside = away <= away[0] + _BESIDE  # no further: there may be a wall, or a step that leads one way only
        return away[beside], node[beside]

    def _place(self, states: np.ndarray) -> np.ndarray:
        rows = np.asarray(states, np.float64)
        return np.concatenate([rows[:, self.counts] / self.unit, _APART * rows[:, self.must_agree]], axis=1)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._place(self.states))

    @cached_property
    def _backward(self) -> csr_array:
        return csr_array(self.graph.T)
