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

from .._mapped import read_rows
from ..recorded import RecordedDistance

_APART = 1e6  # between states that differ in an input that must agree: as good as infinitely far
_DOORS = 8  # nodes near a state by which it may join the graph
_BESIDE = 0.5  # typical moves further away than the nearest of them
_WIDE_DOORS, _WIDE = 512, 10.0
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
    _fields: OrderedDict[bytes, _Field] = field(default_factory=OrderedDict, init=False, repr=False)

    @classmethod
    def of(cls, recorded: RecordedDistance, states: np.ndarray, inputs: np.ndarray) -> Roadmap:
        """The graph of a recording of `inputs` (k,), some of the numbers of the states that it was made of (N, D)."""
        graph = recorded.graph
        counts, must_agree = np.zeros((2, states.shape[1]), bool)
        counts[inputs], must_agree[inputs] = recorded.counts, recorded.must_agree
        return cls(
            read_rows(states, recorded.rows),
            csr_array((graph.data.astype(np.float32), graph.indices.astype(np.int32), graph.indptr), shape=graph.shape),
            counts,
            must_agree,
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
        goal_away, goal_door = self._doors(goal)
        away, door = self._doors(state)
        to_goal = self._field(goal_door)
        if np.isinf(to_goal.remaining[door]).all() and self._dense:  # to where an episode began nothing may lead
            (away, door), to_goal = self._doors(state, wide=True), self._field(self._doors(goal, wide=True)[1])
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

    def holds(self, off_road: float) -> bool:
        """Whether a state so far from anything recorded is as good as recorded: in a grid, only a recorded one."""
        return off_road <= (_WIDE if self._dense else _BESIDE)

    def reachable(self, state: np.ndarray) -> np.ndarray:
        """The nodes (m,) to which a way leads from `state` (D,)."""
        found = dijkstra(self.graph, indices=self._doors(state)[1], min_only=True)
        return np.flatnonzero(np.isfinite(found))

    def _field(self, nodes: np.ndarray) -> _Field:
        """The ways from everywhere to the nearest of some nodes; those to the last few goals are remembered."""
        key = nodes.tobytes()
        if key not in self._fields:
            found = dijkstra(self._backward, indices=nodes, return_predecessors=True, min_only=True)
            self._fields[key] = _Field(*found[:2])
            if len(self._fields) > _GOALS_REMEMBERED:
                self._fields.popitem(last=False)
        return self._fields[key]

    def _doors(self, state: np.ndarray, wide: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The nodes beside a state, nearest first, and how far away they are; if `wide`, also those a few moves off."""
        most, further = (_WIDE_DOORS, _WIDE) if wide else (_DOORS, _BESIDE)
        found = self._tree.query(self._place(state[None])[0], min(most, len(self.states)))
        away, node = (np.atleast_1d(part) for part in found)
        beside = away <= away[0] + further  # no further: there may be a wall, or a step that leads one way only
        return away[beside], node[beside]

    @cached_property
    def _dense(self) -> bool:
        """Whether states lie so close that a policy finds its own way over a few moves; not in a grid."""
        some = self._place(self.states[:: max(1, len(self.states) // 1000)])
        return bool(np.median(np.asarray(self._tree.query(some, 2)[0])[:, -1]) < _BESIDE)

    def _place(self, states: np.ndarray) -> np.ndarray:
        rows = np.asarray(states, np.float64)
        return np.concatenate([rows[:, self.counts] / self.unit, _APART * rows[:, self.must_agree]], axis=1)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(self._place(self.states))

    @cached_property
    def _backward(self) -> csr_array:
        return csr_array(self.graph.T)
