"""How long the ant takes between positions in a maze: the shortest path around the walls, at its measured speed.

There is no formula for the ant's minimum number of steps. What can be measured is how fast the walking policy moves it
along shortest paths, so a distance in steps is the length of the shortest path on which the ant keeps clear of the
walls, divided by that speed. It is as uncertain as single walks are different from it (the card with the policy's
weights says how much), and a better policy would be faster throughout.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra

from ._layouts import MazeLayout
from ._teleport import BLACK_HOLES, DESTINATIONS, RADIUS, white_hole_centre

_POINTS_PER_CORNER = 7


def route_lengths(layout: MazeLayout, positions: np.ndarray) -> np.ndarray:
    """The length of the shortest path between all pairs of positions, (n, n), `ball_radius` away from every wall."""
    count = len(positions)
    graph, _ = _straight_lines(layout, positions)
    found = dijkstra(graph, directed=False, indices=np.arange(count))[:, :count]
    return np.minimum(found, found.T)


def shortest_routes(layout: MazeLayout, positions: np.ndarray) -> list[list[np.ndarray]]:
    """For each pair of positions the points (m, 2) where the shortest path bends, and its end."""
    count = len(positions)
    graph, points = _straight_lines(layout, positions)
    _, previous = dijkstra(graph, directed=False, indices=np.arange(count), return_predecessors=True)

    def route(start: int, end: int) -> np.ndarray:
        bends = [end]
        while previous[start, bends[-1]] not in (start, -9999):  # SciPy's mark for the start
            bends.append(int(previous[start, bends[-1]]))
        return points[bends[::-1]]

    return [[route(start, end) for end in range(count)] for start in range(count)]


def _straight_lines(layout: MazeLayout, positions: np.ndarray) -> tuple[csr_array, np.ndarray]:
    """The free line segments between the positions and points around the corners, and all these points.

    A shortest path is straight except where it bends around corners, so it consists of such segments.
    """
    points = np.concatenate([positions, _around_corners(layout)])
    pairs = np.array(list(itertools.combinations(range(len(points)), 2)))
    start, span = points[pairs[:, 0]], points[pairs[:, 1]] - points[pairs[:, 0]]
    for samples in (5, 17, 129):  # a few samples rule out most segments
        shares = np.linspace(0.0, 1.0, samples)[:, None, None]
        clear = layout.is_free(start + shares * span).all(axis=0)
        pairs, start, span = pairs[clear], start[clear], span[clear]
    lengths = np.maximum(np.linalg.norm(span, axis=1), 1e-12)  # SciPy reads a zero as "no edge"
    graph = coo_array((lengths, (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points)))
    return csr_array(graph), points


def _around_corners(layout: MazeLayout) -> np.ndarray:
    """Points around every convex corner, just outside the circle that the ant must not enter."""
    walls = layout.walls
    rows, columns = np.indices((walls.shape[0] - 1, walls.shape[1] - 1))
    found = [np.empty((0, 2))]
    half = 0.25 * np.pi / (_POINTS_PER_CORNER - 1)
    angles = np.linspace(0.0, 0.5 * np.pi, _POINTS_PER_CORNER)
    arc = layout.ball_radius / np.cos(half) * np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # along rows, columns
    for row, column in zip(rows.ravel(), columns.ravel(), strict=True):
        block = walls[row : row + 2, column : column + 2]
        for down, right in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            # The arc goes around the one wall of the four cells; all others must be free for the corner to be convex.
            wall = block[(1 - down) // 2, (1 - right) // 2]
            if wall and block.sum() == 1:
                corner = np.array([row + 0.5, column + 0.5])
                found.append(layout.centre(corner + arc * np.array([down, right]) / layout.cell_size))
    return np.concatenate(found)


def teleport_route_lengths(layout: MazeLayout, positions: np.ndarray, hop: float) -> np.ndarray:
    """As `route_lengths` in the deterministic teleport maze: directed, and infinite where there is no path.

    A black hole fills its corridor, so nothing walks past it; going through it costs `hop` more than reaching it.
    """
    count = len(positions)
    points = np.concatenate([positions, white_hole_centre(DESTINATIONS), layout.centre(BLACK_HOLES)])
    closed = layout.walls.copy()
    closed[tuple(BLACK_HOLES.T)] = True
    total = route_lengths(replace(layout, walls=closed), points)
    for _ in BLACK_HOLES:  # one hop may lead to the next
        for k, hole in enumerate(BLACK_HOLES):
            others = closed.copy()
            others[tuple(hole)] = False
            to_hole = route_lengths(replace(layout, walls=others), points)[:, len(points) - len(BLACK_HOLES) + k]
            way = np.maximum(to_hole - RADIUS, 0.0) + hop
            total = np.minimum(total, way[:, None] + total[count + k])
    return total[:count, :count]
