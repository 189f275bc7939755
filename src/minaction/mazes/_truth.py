"""True distances in mazes: between cells (as in the paper) and, for OGBench's ball, in steps.

One step moves OGBench's ball by at most 0.2 in x and, independently, by at most 0.2 in y. The minimum number of
steps between two positions is therefore the length of the shortest path in the maximum norm, through the
space where the ball fits, divided by 0.2. It is found on a lattice whose neighbours include the diagonal
ones: each move of one spacing h, straight or diagonal, costs h / 0.2 steps. MuJoCo's walls are slightly soft,
so the simulated ball can cut corners a little: greedy descent in the simulator was up to 1.6% faster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from ..errors import InputError
from ..exact import minimum_action_distance
from ._layouts import STEP_LENGTH, MazeLayout

POINTS_PER_CELL = 20


def cell_distances(layout: MazeLayout) -> np.ndarray:
    """The minimum number of moves to a neighbouring cell between all `free_cells`, (n, n)."""
    return minimum_action_distance(len(layout.free_cells), cell_moves(layout))


def cell_moves(layout: MazeLayout) -> np.ndarray:
    """The pairs (from, to) of neighbouring `free_cells`, (m, 2)."""
    edges = []
    for move in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        neighbour = layout.cell_index[tuple((layout.free_cells + move).T)]  # the map's border is wall: never outside
        source = np.flatnonzero(neighbour >= 0)
        edges.append(np.stack([source, neighbour[source]], axis=1))
    return np.concatenate(edges)


@dataclass(frozen=True)
class Lattice:
    """The lattice points at which the ball fits, and the moves between neighbours that cut no corner."""

    spacing: float
    points: np.ndarray  # (n, 2)
    moves: np.ndarray  # (m, 2): indices of neighbouring points, each pair once


def free_lattice(layout: MazeLayout, points_per_cell: int = POINTS_PER_CELL) -> Lattice:
    """The lattice through all cell centres with `points_per_cell` points along the side of a cell."""
    if points_per_cell < 1:
        raise InputError(f"A lattice needs at least 1 point per cell, not {points_per_cell}.")
    spacing = layout.cell_size / points_per_cell
    rows, columns = layout.walls.shape
    first = layout.centre(np.array([0, 0]))
    steps = np.array([spacing, layout.row_direction * spacing])
    grid = np.indices(((columns - 1) * points_per_cell + 1, (rows - 1) * points_per_cell + 1))  # along x, along y
    positions = first + np.moveaxis(grid, 0, -1) * steps
    free = layout.is_free(positions)
    index = np.full(free.shape, -1)
    index[free] = np.arange(free.sum())
    moves = []
    for right, down in ((1, 0), (0, 1), (1, 1), (1, -1)):
        here = _shifted(index, 0, max(0, -down), right, abs(down))
        there = _shifted(index, right, max(0, down), right, abs(down))
        both = (here >= 0) & (there >= 0)
        moves.append(np.stack([here[both], there[both]], axis=1))
    pairs = np.concatenate(moves)
    points = positions[free]
    # Both ends may be free and the straight line between them still cut a corner.
    pairs = pairs[layout.is_free(points[pairs].mean(axis=1))]
    return Lattice(spacing, points, pairs)


def ball_steps(layout: MazeLayout, positions: np.ndarray, points_per_cell: int = POINTS_PER_CELL) -> np.ndarray:
    """The minimum number of steps of OGBench's ball between all pairs of positions, (n, n), found on a lattice.

    Positions off the lattice are connected to the lattice points within two spacings, and to each other where they are
    that close, at the cost of the straight line; a position in a wall is refused.
    """
    positions = np.asarray(positions, dtype=np.float64)
    blocked = ~layout.is_free(positions)
    if blocked.any():
        where = int(np.argmax(blocked))
        raise InputError(f"The ball does not fit at position {where}, {positions[where].tolist()}: it is in a wall.")
    lattice = free_lattice(layout, points_per_cell)
    reach = 2 * lattice.spacing * (1 + 1e-9)
    links = _links(layout, positions, lattice.points, reach)
    direct = _links(layout, positions, positions, reach)
    count = len(lattice.points)
    edges = np.concatenate([lattice.moves, links + np.array([count, 0]), direct + count])
    everything: np.ndarray = np.concatenate([lattice.points, positions])
    lengths = np.abs(everything[edges[:, 0]] - everything[edges[:, 1]]).max(axis=1) / STEP_LENGTH
    graph = _undirected(edges, lengths, len(everything))
    distances = dijkstra(graph, directed=False, indices=np.arange(count, len(everything)))[:, count:]
    return np.round(np.minimum(distances, distances.T), 9)  # symmetric, and without rounding errors of the sums


def _shifted(index: np.ndarray, x: int, y: int, span_x: int, span_y: int) -> np.ndarray:
    width, height = index.shape
    return index[x : width - span_x + x, y : height - span_y + y]


def _links(layout: MazeLayout, positions: np.ndarray, points: np.ndarray, reach: float) -> np.ndarray:
    """Pairs (position, point) no further apart than `reach` in x and y, with nothing in between, (m, 2)."""
    near = KDTree(positions).sparse_distance_matrix(KDTree(points), reach, p=np.inf, output_type="coo_matrix")
    pairs = np.stack([near.row, near.col], axis=1).astype(np.int64)
    start, end = positions[pairs[:, 0]], points[pairs[:, 1]]
    clear = np.logical_and.reduce([layout.is_free(start + share * (end - start)) for share in (0.25, 0.5, 0.75)])
    return pairs[clear]


def _undirected(edges: np.ndarray, lengths: np.ndarray, count: int) -> csr_array:
    # SciPy reads a stored zero as "no edge", so two equal positions are connected at a negligible cost.
    lengths = np.maximum(lengths, 1e-12)
    distinct = edges[:, 0] != edges[:, 1]
    edges, lengths = edges[distinct], lengths[distinct]
    return csr_array(coo_array((lengths, (edges[:, 0], edges[:, 1])), shape=(count, count)))
