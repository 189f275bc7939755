"""Shortest paths by SciPy, from nodes or from states that stand beside the graph."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from .._cores import core_count
from ._ends import Ends

# Edges times sources from which on a second process pays: two seconds of searching.
_WORTH_A_PROCESS = 150_000_000


def paths_from(graph: Any, indices: np.ndarray) -> np.ndarray:
    """The lengths (k, nodes) of the shortest paths from the nodes with these indices."""
    if len(indices) == 0:
        return np.empty((0, graph.shape[0]))
    return np.asarray(dijkstra(graph, directed=True, indices=indices)).reshape(len(indices), -1)


def paths_of_both(first: Any, second: Any, sources: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths (k, m) of the shortest paths from `sources` to `targets` in two graphs of the same nodes.

    SciPy holds Python's lock while it searches, so that threads would wait for each other: where it takes seconds, the
    second graph is searched by another process, if there is a core for it.
    """
    no_python = not sys.executable or getattr(sys, "frozen", False)  # in programs that embed one or contain it
    if no_python or core_count() < 2 or second.nnz * len(sources) < _WORTH_A_PROCESS:
        return paths_from(first, sources)[:, targets], paths_from(second, sources)[:, targets]
    with tempfile.TemporaryDirectory(prefix="minaction-") as name:
        folder = Path(name)
        arrays = {"data": second.data, "indices": second.indices, "indptr": second.indptr}
        for what, values in {**arrays, "sources": sources, "targets": targets}.items():
            np.save(folder / f"{what}.npy", values)
        program = [sys.executable, str(Path(__file__).with_name("_search.py")), name]
        with subprocess.Popen(program, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
            try:
                found = paths_from(first, sources)[:, targets]
                done = other.wait() == 0
            finally:
                other.kill()
        return found, np.load(folder / "lengths.npy") if done else paths_from(second, sources)[:, targets]


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
