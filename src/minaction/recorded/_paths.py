"""Shortest paths by SciPy, from nodes or from states that stand beside the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ._ends import Ends


def paths_from(graph: Any, indices: np.ndarray) -> np.ndarray:
    """The lengths (k, nodes) of the shortest paths from the nodes with these indices."""
    if len(indices) == 0:
        return np.empty((0, graph.shape[0]))
    return np.asarray(dijkstra(graph, directed=True, indices=indices)).reshape(len(indices), -1)


def with_entries(graph: Any, nodes: np.ndarray, cost: np.ndarray) -> csr_array:
    """The graph with one more node for each row of `nodes` (k, e), from which edges lead to them at `cost` (k, e)."""
    used = np.isfinite(cost)
    size = graph.shape[0] + len(nodes)
    rows = graph.indptr[-1] + np.cumsum(used.sum(axis=1))
    return csr_array(
        (
            np.concatenate([graph.data, cost[used]]),
            np.concatenate([graph.indices, nodes[used].astype(graph.indices.dtype)]),
            np.concatenate([graph.indptr, rows.astype(graph.indptr.dtype)]),
        ),
        shape=(size, size),
    )


def with_exits(reached: np.ndarray, targets: Ends) -> np.ndarray:
    """From distances (k, nodes) to all nodes, the distances (k, m) to the states that those are the ends of."""
    return np.min(reached[:, targets.nodes] + targets.into, axis=2, initial=np.inf)
