"""The way to a goal on a graph of recorded states, with NumPy alone."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ._sight import Sight, spacing_of

_APART = 1e6  # between states that differ in an input that must agree: as good as infinitely far
_DOORS = 8  # nodes near a state by which it may join the graph
_BESIDE = 0.5  # typical moves further away than the nearest of them
_FREE_DOORS = 64  # where moves are free, as for `RecordedDistance`
_WIDE_DOORS, _WIDE = 512, 10.0
_GOALS_REMEMBERED = 16


class Way(NamedTuple):
    """Where to head for next, and how long the way is."""

    subgoal: np.ndarray  # (D,) the goal itself once it is near
    remaining: float  # time to the goal; infinite where no path leads there
    off_road: float  # how far the state is from anything recorded, in typical moves
    goal_off_road: float  # how far the goal is


class Edges(NamedTuple):
    """Edges by the node they lead from, as in SciPy's `csr_array`: those of node i are indptr[i] to indptr[i + 1]."""

    data: np.ndarray  # (e,) time of every edge
    indices: np.ndarray  # (e,) where it leads
    indptr: np.ndarray  # (n + 1,)


@dataclass(frozen=True, eq=False)
class Roadmap:
    """Recorded states, and the cost of edges between them.

    States are near each other by the inputs that `counts`, each measured in its typical change in a move, `unit`; and
    only where the inputs that `must_agree` do.
    """

    states: np.ndarray  # (n, D)
    graph: Any  # `Edges`, or a `csr_array`, which has the same three arrays
    counts: np.ndarray  # (D,) bool
    must_agree: np.ndarray  # (D,) bool
    unit: np.ndarray  # (k,)
    move_time: float
    repeats: bool  # whether nodes are all the states there are, as in a grid; else a policy finds its way between them
    straight_time: float | None = None
    """The time of a typical move straight ahead at the fastest recorded pace; None where moves are not free.

    To join the graph must not cost more than its edges, nor depend on a single node, of which a thin sample joins some
    badly: else the way from one place leads back to another, from which it leads forth again (half of the episodes of
    two tasks in OGBench's giant maze; none since).
    """
    _fields: OrderedDict[bytes, tuple[float, np.ndarray]] = field(default_factory=OrderedDict, init=False, repr=False)

    def __post_init__(self) -> None:
        times, nodes, begins = self.graph.data, self.graph.indices, self.graph.indptr
        count = len(self.states)
        if len(begins) != count + 1 or begins[0] != 0 or begins[-1] != len(nodes) or (np.diff(begins) < 0).any():
            raise ValueError("edges that do not fit the nodes")
        if nodes.dtype.kind != "i" or begins.dtype.kind != "i" or len(nodes) != len(times):
            raise ValueError("edges that are none")
        if not ((nodes >= 0) & (nodes < count)).all() or not (times >= 0).all():
            raise ValueError("edges that lead nowhere, or back in time")
        known = self.counts.dtype == self.must_agree.dtype == bool and (self.unit > 0).all()
        if not known or not np.isfinite(self._places).all():
            raise ValueError("nodes that are nowhere")

    def way(self, state: np.ndarray, goal: np.ndarray, lookahead: float) -> Way:
        """The way from `state` to `goal`, both (D,): the subgoal lies `lookahead` ahead on the shortest path."""
        goal_away, times = self._times_to(goal)
        away, door = self._entries(state)
        if np.isinf(times[door]).all() and not self.repeats:  # to where an episode began nothing may lead
            (away, door), (_, times) = self._doors(state, _WIDE_DOORS, _WIDE), self._times_to(goal, wide=True)
        pace = self.move_time if self.straight_time is None else self.straight_time
        total, sight = away * pace + times[door], self._sight(state)
        best = next((int(one) for one in np.argsort(total, kind="stable") if sight.sees(self._places[:, door[one]])), 0)
        off_road, goal_off_road = (float(far) if far < _APART / 2 else np.inf for far in (away[0], goal_away))
        remaining = float(total[best])
        if not np.isfinite(remaining) or np.isinf(off_road) or np.isinf(goal_off_road):
            return Way(goal, np.inf, off_road, goal_off_road)
        left, node = remaining - lookahead, int(door[best])
        if left <= 0 and (times[node] == 0 or sight.sees(self._place(goal[None])[:, 0])):
            return Way(goal, remaining, off_road, goal_off_road)
        first = self._next(node, times) if away[best] <= _BESIDE and times[node] > left else node  # its edge leads on
        return Way(self.states[self._ahead(first, times, left, sight)], remaining, off_road, goal_off_road)

    def holds(self, off_road: float) -> bool:
        """Whether a state so far from anything recorded is as good as recorded: in a grid, only a recorded one."""
        return off_road <= (_BESIDE if self.repeats else _WIDE)

    def reachable(self, state: np.ndarray) -> np.ndarray:
        """The nodes (m,) to which a way leads from `state` (D,)."""
        found, newest = np.zeros(len(self.states), bool), self._doors(state)[1]
        while len(newest):
            found[newest] = True
            after = [self.graph.indices[slice(*self.graph.indptr[node : node + 2])] for node in newest]
            newest = np.unique(np.concatenate(after))
            newest = newest[~found[newest]]
        return np.flatnonzero(found)

    def around(self, state: np.ndarray, number: int) -> np.ndarray:
        """A state (D,) to which an edge leads from where `state` (D,) is: any, but always the same for a `number`."""
        nearest = int(np.argmin(self._away(state)))
        nodes = np.append(self.graph.indices[slice(*self.graph.indptr[nearest : nearest + 2])], nearest)
        return self.states[np.random.default_rng([number, nearest]).choice(nodes)]

    def _ahead(self, node: int, times: np.ndarray, left: float, sight: Sight) -> int:
        """The first node on the shortest path from `node` from which no more than `left` remains, or the last in sight.

        Beyond it a policy would run into walls: in rooms with walls two steps thick, where a step into one does not
        move, an agent reached 27 of 60 goals, and with sight and `around` 54.
        """
        for _ in range(len(self.states)):  # no path is longer
            if times[node] <= max(left, 0.0) or not sight.sees(self._places[:, following := self._next(node, times)]):
                break
            node = following
        return node

    def _next(self, node: int, times: np.ndarray) -> int:
        """The node that follows on the shortest path.

        Of several shortest ways the longest step, which edges that take no time cannot turn into a circle, and of these
        the first: so every runtime takes the same one.
        """
        edges = slice(*self.graph.indptr[node : node + 2])
        following = self.graph.indices[edges]
        after = times[following]
        return int(following[np.lexsort((after, self.graph.data[edges] + after))[0]])

    def _sight(self, state: np.ndarray) -> Sight:
        return Sight(self._place(state[None])[:, 0], self._places, self._away(state), self._spacing)

    @cached_property
    def _spacing(self) -> np.ndarray:
        """Of every node, (n,); where moves are not free a policy is asked for recorded steps alone, and all is seen."""
        if self.repeats or self.straight_time is None:
            return np.full(len(self.states), np.inf)
        leaving = np.repeat(np.arange(len(self.states)), np.diff(self.graph.indptr))
        return spacing_of(self._places, leaving, self.graph.indices)

    def _times_to(self, goal: np.ndarray, wide: bool = False) -> tuple[float, np.ndarray]:
        """How far `goal` (D,) is from the nearest node, and the time from every node (n,) to those beside it.

        Those of the last few goals are remembered.
        """
        key = bytes([wide]) + goal.tobytes()
        if key not in self._fields:
            away, doors = self._doors(goal, _WIDE_DOORS, _WIDE) if wide else self._doors(goal)
            self._fields[key] = float(away[0]), self._shortest(doors)
            if len(self._fields) > _GOALS_REMEMBERED:
                self._fields.popitem(last=False)
        return self._fields[key]

    def _shortest(self, nodes: np.ndarray) -> np.ndarray:
        """Dijkstra's algorithm in plain Python: a quarter of a second for 20,000 nodes with 24 edges each."""
        begins, before, cost = self._backward
        times = [np.inf] * len(self.states)
        queue = [(0.0, int(node)) for node in nodes]
        for _, node in queue:
            times[node] = 0.0
        while queue:
            time, node = heapq.heappop(queue)
            if time > times[node]:
                continue
            for edge in range(begins[node], begins[node + 1]):
                other, longer = before[edge], time + cost[edge]
                if longer < times[other]:
                    times[other] = longer
                    heapq.heappush(queue, (longer, other))
        return np.array(times)

    @cached_property
    def _backward(self) -> tuple[list[int], list[int], list[float]]:
        """The edges by the node they lead to, as lists, which plain Python reads faster than arrays."""
        order = np.argsort(self.graph.indices, kind="stable")
        arriving = np.bincount(self.graph.indices, minlength=len(self.states))
        leaving = np.repeat(np.arange(len(self.states)), np.diff(self.graph.indptr))
        begins = [0, *np.cumsum(arriving).tolist()]
        return begins, leaving[order].tolist(), self.graph.data[order].astype(np.float64).tolist()

    def _entries(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nodes by which a state may join the graph, nearest first, and how far away they are."""
        if self.repeats or self.straight_time is None:
            return self._doors(state)
        return self._doors(state, _FREE_DOORS, _WIDE)

    def _doors(self, state: np.ndarray, most: int = _DOORS, further: float = _BESIDE) -> tuple[np.ndarray, np.ndarray]:
        """The nodes beside a state, at most so many and so much further away than the nearest; and how far they are."""
        away = self._away(state)
        # No further: there may be a wall, or a step that leads one way only.
        beside = np.flatnonzero(away <= away.min() + further)
        nearest = beside[np.argsort(away[beside], kind="stable")[:most]]
        return away[nearest], nearest

    def _away(self, state: np.ndarray) -> np.ndarray:
        """How far every node is from a state, (n,), in typical moves: for some ten thousand, faster than a tree."""
        difference = self._places - self._place(state[None])
        return np.sqrt((difference * difference).sum(axis=0))

    @cached_property
    def _places(self) -> np.ndarray:
        return np.ascontiguousarray(self._place(self.states))

    def _place(self, states: np.ndarray) -> np.ndarray:
        """States (n, D) as columns (k, n) of what they are near by."""
        rows = np.asarray(states, np.float64)
        return np.concatenate([rows[:, self.counts] / self.unit, _APART * rows[:, self.must_agree]], axis=1).T
