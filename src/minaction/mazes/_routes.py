"""Routes over the cells of a maze: the next cell on a shortest path, and the cells that make useful goals."""

from __future__ import annotations

import numpy as np

from ._layouts import MazeLayout
from ._truth import cell_distances

# OGBench's oracle looks at the neighbours in this order and keeps the first of equally good ones.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1))


def next_cells(layout: MazeLayout) -> np.ndarray:
    """For free cell i and goal j the free cell to head for next, (n, n); inside the goal's cell, that one."""
    distances = cell_distances(layout)
    count = len(layout.free_cells)
    best = np.tile(np.arange(count)[:, None], (1, count))
    best_distance = distances.copy()
    for step in _NEIGHBOURS:
        neighbour = layout.cell_index[tuple((layout.free_cells + step).T)]  # the map's border is wall: never outside
        candidate = np.where(neighbour[:, None] >= 0, distances[neighbour], np.inf)
        closer = candidate < best_distance
        best = np.where(closer, neighbour[:, None], best)
        best_distance = np.minimum(best_distance, candidate)
    return best


def vertex_cells(layout: MazeLayout) -> np.ndarray:
    """The free cells that are not straight corridors, as indices into `layout.free_cells`."""
    free = ~layout.walls
    rows, columns = layout.free_cells.T
    up, down = free[rows - 1, columns], free[rows + 1, columns]
    left, right = free[rows, columns - 1], free[rows, columns + 1]
    corridor = (up & down & ~left & ~right) | (left & right & ~up & ~down)
    return np.flatnonzero(~corridor)


def cells_at_distance(layout: MazeLayout, steps: int) -> list[np.ndarray]:
    """For every free cell the free cells exactly `steps` moves away; the cell itself where there is none."""
    distances = cell_distances(layout)
    found = [np.flatnonzero(row == steps) for row in distances]
    return [cells if len(cells) else np.array([k]) for k, cells in enumerate(found)]
