"""The minimum action distance of a directed graph: the cost of the cheapest path from one node to another."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ..errors import InputError


def minimum_action_distance(num_nodes: int, edges: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray:
    """The distances between all nodes of a directed graph.

    Args:
        num_nodes: n; nodes are numbered 0 to n - 1.
        edges: integers (m, 2), one row (from, to) per edge. Of parallel edges the cheapest counts.
        costs: the cost of each edge, (m,), positive; one action each if None.

    Returns:
        An array (n, n) whose entry [i, j] is the distance from i to j, infinite where j cannot be reached.

    >>> import numpy as np
    >>> import minaction as ma
    >>> ma.minimum_action_distance(3, np.array([[0, 1], [1, 2], [2, 0]]))
    array([[0., 1., 2.],
           [2., 0., 1.],
           [1., 2., 0.]])
    """
    edges = _checked_edges(num_nodes, edges)
    costs = np.ones(len(edges)) if costs is None else _checked_costs(edges, costs)
    return np.asarray(dijkstra(graph_of(num_nodes, edges, costs), directed=True), dtype=np.float64)


def graph_of(num_nodes: int, edges: np.ndarray, costs: np.ndarray) -> csr_array:
    """Every distinct edge (m, 2) once, with its lowest cost (m,); a sparse matrix would sum parallel edges."""
    order = np.lexsort((costs, edges[:, 1], edges[:, 0]))
    edges, costs = edges[order], costs[order]
    first = np.ones(len(edges), dtype=bool)
    first[1:] = (edges[1:] != edges[:-1]).any(axis=1)
    return csr_array((costs[first], tuple(edges[first].T)), shape=(num_nodes, num_nodes))


def _checked_edges(num_nodes: int, edges: np.ndarray) -> np.ndarray:
    if num_nodes < 1:
        raise InputError(f"A graph of {num_nodes} nodes has no distances; give at least one node.")
    edges = np.asarray(edges)
    if edges.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputError(
            f"Edges must be an integer array of shape (m, 2), not {edges.dtype} {edges.shape}; "
            "give one row (from, to) per edge."
        )
    outside = ((edges < 0) | (edges >= num_nodes)).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"Edge {row} is {tuple(edges[row].tolist())}, but the nodes are 0 to {num_nodes - 1}; "
            "renumber the edge or raise the number of nodes."
        )
    return edges.astype(np.int64)


def _checked_costs(edges: np.ndarray, costs: np.ndarray) -> np.ndarray:
    costs = np.asarray(costs, dtype=np.float64)
    if costs.shape != (len(edges),):
        raise InputError(f"There are costs of shape {costs.shape} for {len(edges)} edges; give one cost per edge.")
    bad = ~(np.isfinite(costs) & (costs > 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"Edge {row} costs {costs[row]:g}; costs must be positive and finite, leave other edges out.")
    return costs
