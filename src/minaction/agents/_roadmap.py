"""The high level: recorded states as a graph, and the way to a goal on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from .._mapped import read_rows
from ..recorded import RecordedDistance
from ..runtimes import _roadmap as runtime
from ..runtimes._roadmap import Way as Way

_NEIGHBOURS = 24
_AROUND = 4.0  # typical moves, within which recorded states are counted
_COUNTED = 100_000  # of the recorded states
TRODDEN = 0.25
"""How much dearer an edge is at a node with few recorded states around: their share of the usual, to this power."""


@dataclass(frozen=True, eq=False)
class Roadmap(runtime.Roadmap):
    """The roadmap of the runtimes, made of a recording; SciPy finds shortest paths in a tenth of the time."""

    graph: csr_array  # (n, n) time of every edge

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
            recorded.repeats,
            recorded.straight_time,
        )

    @classmethod
    def with_scipy(cls, stored: runtime.Roadmap) -> Roadmap:
        """The same as a roadmap of the runtimes."""
        given = {field.name: getattr(stored, field.name) for field in fields(stored) if field.init}
        count = len(stored.states)
        return cls(**{**given, "graph": csr_array(tuple(stored.graph), shape=(count, count))})

    def on_trodden_ways(self, states: np.ndarray, power: float = TRODDEN) -> Roadmap:
        """The same with edges that cost more where few of the recorded `states` (N, D) are, as along walls.

        Shortest ways hug corners. There a policy has seen little, and a walking body falls: ants reached 95.0% of their
        goals in a medium maze (navigate) and 99.3% on trodden ways, 94.6% and 99.8% (stitch), in no more steps.
        """
        some = states[:: -(-len(states) // _COUNTED)]
        found = KDTree(self._place(some).T).query_ball_point(self._places.T, _AROUND, return_length=True)
        around = np.maximum(found, 1)
        dearer = np.maximum(np.median(around) / around, 1.0) ** power
        edges = self.graph.tocoo()
        cost = (edges.data * dearer[edges.row] * dearer[edges.col]).astype(np.float32)
        return replace(self, graph=csr_array((cost, (edges.row, edges.col)), shape=edges.shape))

    def measured(self, distance: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Roadmap:
        """The same nodes, but with edges to near ones that cost what `distance` says; for comparison.

        `distance` takes states (m, D) and goals (m, D). Where it is small across a wall, so is the edge.
        """
        places = self._place(self.states).T
        found = KDTree(places).query(places, min(_NEIGHBOURS + 1, len(self.states)))
        near = np.asarray(found[1])[:, 1:]
        start, end = np.repeat(np.arange(len(near)), near.shape[1]), near.ravel()
        recorded = self.graph.tocoo()  # steps to where nothing is near, such as through a door
        far = recorded.data > self.move_time
        start, end = np.concatenate([start, recorded.row[far]]), np.concatenate([end, recorded.col[far]])
        cost = np.maximum(distance(self.states[start], self.states[end]), 1e-6)  # SciPy reads a zero as "no edge"
        keys, first = np.unique(start.astype(np.int64) * len(self.states) + end, return_index=True)
        graph = csr_array((cost[first], (keys // len(self.states), keys % len(self.states))), shape=self.graph.shape)
        return replace(self, graph=graph)

    def _shortest(self, nodes: np.ndarray) -> np.ndarray:
        return dijkstra(self._reversed, indices=nodes, min_only=True)

    @cached_property
    def _reversed(self) -> csr_array:
        return csr_array(self.graph.T)
