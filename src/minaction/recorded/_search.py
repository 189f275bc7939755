"""`python _search.py FOLDER`: the shortest paths of a graph, in a process of its own; see `_paths.paths_of_both`.

It imports nothing of the package, so that it starts within a second.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra


def search(folder: Path) -> None:
    """Write lengths.npy: from the nodes in sources.npy to those in targets.npy."""
    data, indices, indptr, sources, targets = (
        np.load(folder / f"{name}.npy") for name in ("data", "indices", "indptr", "sources", "targets")
    )
    size = len(indptr) - 1
    graph = csr_array((data, indices, indptr), shape=(size, size))
    np.save(folder / "lengths.npy", dijkstra(graph, indices=sources)[:, targets])


if __name__ == "__main__":
    search(Path(sys.argv[1]))
