"""Nearest neighbours by SciPy's k-d tree, always as arrays of one row per place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree


class Neighbours(NamedTuple):
    """The nearest nodes of every place, nearest first; where there are fewer, the number of nodes, infinitely far."""

    away: np.ndarray  # (n, k)
    node: np.ndarray  # (n, k)


def neighbours(tree: KDTree, places: np.ndarray, count: int, radius: float = np.inf, p: float = 2) -> Neighbours:
    """The nearest `count` nodes (at most all) of each of `places` (n, k) within `radius` in the norm `p`."""
    count = min(count, tree.n)
    away, node = tree.query(places, k=count, p=p, distance_upper_bound=radius, workers=-1)
    return Neighbours(np.reshape(away, (len(places), count)), np.reshape(node, (len(places), count)))


def nearest(tree: KDTree, places: np.ndarray, radius: float = np.inf) -> Neighbours:
    """The nearest node alone, both parts (n,)."""
    away, node = neighbours(tree, places, 1, radius)
    return Neighbours(away[:, 0], node[:, 0])
