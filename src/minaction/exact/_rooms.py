"""Shortest paths among rectangular walls in the maximum norm, for a point that moves by up to 1 in x and in y.

Replacing a bend by its chord makes no path longer, in any norm. Some shortest path is therefore straight except at
corners of walls, and the visibility graph of all points and corners contains it, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._graph import minimum_action_distance


@dataclass(frozen=True)
class Room:
    """The square from 0 to `side` with walls in it, by default an S-shaped corridor.

    ::

        20 +-----------------------+
           |             ##        |
           |             ##        |
           |      ##     ##        |      x to the right, y upwards
           |      ##     ##        |
           |      ##               |
         0 +------##---------------+
    """

    side: float = 20.0
    walls: tuple[tuple[float, float, float, float], ...] = ((6, -1, 8, 13), (12, 7, 14, 21))
    """Each as (least x, least y, greatest x, greatest y); a wall with no gap at its end extends outside the room."""

    @property
    def _low(self) -> np.ndarray:
        return np.array(self.walls, dtype=np.float64)[:, :2]

    @property
    def _high(self) -> np.ndarray:
        return np.array(self.walls, dtype=np.float64)[:, 2:]

    def is_free(self, points: np.ndarray) -> np.ndarray:
        """Whether each point (..., 2) lies in the room and not inside a wall; the border of a wall is free."""
        inside = ((points >= 0) & (points <= self.side)).all(axis=-1)
        at = points[..., None, :]
        walled = ((at > self._low) & (at < self._high)).all(axis=-1).any(axis=-1)
        return np.asarray(inside & ~walled)

    def sees(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Whether the segments from `starts` to `ends` (..., 2), all of them in the room, cross no wall."""
        start, along = starts[..., None, :], (ends - starts)[..., None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (self._low - start) / along, (self._high - start) / along
        # Which part of the segment lies between a wall's two sides, in x and in y: all or none where it does not move.
        between = (start > self._low) & (start < self._high)
        enters = np.where(along == 0, np.where(between, -np.inf, np.inf), np.minimum(one, other)).max(axis=-1)
        leaves = np.where(along == 0, np.where(between, np.inf, -np.inf), np.maximum(one, other)).min(axis=-1)
        crossed = np.minimum(leaves, 1) - np.maximum(enters, 0) > 1e-12  # touching a corner crosses nothing
        return ~crossed.any(axis=-1)

    def shortest_paths(self, points: np.ndarray) -> np.ndarray:
        """The lengths (n, n) of the shortest paths between all free `points` (n, 2)."""
        corners = np.array(self.walls, dtype=np.float64)[:, [[0, 1], [0, 3], [2, 1], [2, 3]]].reshape(-1, 2)
        corners = corners[self.is_free(corners)]
        # Points that coincide become one node.
        nodes, number = np.unique(np.concatenate([points, corners]), axis=0, return_inverse=True)
        lengths = np.abs(nodes[:, None] - nodes[None]).max(axis=-1)
        edges = np.argwhere(self.sees(nodes[:, None], nodes[None]) & (lengths > 0))
        paths = minimum_action_distance(len(nodes), edges, lengths[tuple(edges.T)])
        return paths[np.ix_(number[: len(points)], number[: len(points)])]
