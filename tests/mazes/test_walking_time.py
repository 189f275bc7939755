"""Shortest ways around walls, against geometry by hand and against a fine lattice."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from minaction.mazes._layouts import ANT_LAYOUTS, MazeLayout
from minaction.mazes._teleport import BLACK_HOLES, LAYOUT, WHITE_HOLES, directed_cell_distances
from minaction.mazes._truth import cell_distances, free_lattice
from minaction.mazes._walking_time import route_lengths, shortest_routes, teleport_route_lengths

MEDIUM = ANT_LAYOUTS["medium"]
AROUND_ONE_WALL = MazeLayout(
    "corner", np.array([[c == "#" for c in row] for row in ("####", "#..#", "#.##", "####")]), 4.0, (-4.0, -4.0), 1, 0.7
)


def test_around_one_corner_the_way_is_two_tangents_and_an_arc() -> None:
    start, end = np.array([4.0, 0.0]), np.array([0.0, 4.0])  # the corner that sticks out, (2, 2), is halfway between
    half = np.hypot(2.0, 2.0)
    tangent, bend = np.sqrt(half**2 - 0.7**2), np.pi - 2 * np.arccos(0.7 / half)
    expected = 2 * tangent + 0.7 * bend
    found = route_lengths(AROUND_ONE_WALL, np.stack([start, end]))[0, 1]
    assert found == pytest.approx(expected, rel=2e-3)
    assert found >= expected


def test_ways_are_a_little_shorter_than_on_a_lattice() -> None:
    """Straight and diagonal moves on a lattice are up to 8.3% longer than the straight way, and never shorter."""
    lattice = free_lattice(MEDIUM)
    ends = lattice.points[lattice.moves]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    count = len(lattice.points)
    graph = coo_array((lengths, (lattice.moves[:, 0], lattice.moves[:, 1])), shape=(count, count)).tocsr()
    nearest = [int(np.linalg.norm(lattice.points - centre, axis=1).argmin()) for centre in MEDIUM.centres]
    on_lattice = dijkstra(graph, directed=False, indices=nearest)[:, nearest]
    found = route_lengths(MEDIUM, MEDIUM.centres)
    apart = ~np.eye(26, dtype=bool)
    ratio = found[apart] / on_lattice[apart]
    assert ratio.max() < 1.003  # points around a corner lie a hair outside the circle
    assert ratio.min() > 0.92
    assert (np.diag(found) == 0).all()
    assert np.corrcoef(found[apart], cell_distances(MEDIUM)[apart])[0, 1] > 0.98


def test_routes_have_the_lengths_that_are_claimed_and_keep_clear_of_walls() -> None:
    places = MEDIUM.centres[[0, 5, 13, 25]]
    lengths, routes = route_lengths(MEDIUM, places), shortest_routes(MEDIUM, places)
    for i in range(4):
        for j in range(4):
            way = np.concatenate([places[i : i + 1], routes[i][j]])
            np.testing.assert_array_equal(way[-1], places[j])
            assert np.linalg.norm(np.diff(way, axis=0), axis=1).sum() == pytest.approx(lengths[i, j])
            for start, end in itertools.pairwise(way):
                assert MEDIUM.clearance(np.linspace(start, end, 300)).min() > 0.7 - 1e-3


def test_the_deterministic_holes_shorten_ways_in_one_direction() -> None:
    seen = np.array([not (cell == BLACK_HOLES).all(axis=1).any() for cell in LAYOUT.free_cells])
    places, speed = LAYOUT.centres[seen], 0.2
    lengths = teleport_route_lengths(LAYOUT, places, hop=speed)
    cells = directed_cell_distances()[np.ix_(seen, seen)]
    np.testing.assert_array_equal(np.isinf(lengths), np.isinf(cells))
    assert np.isinf(lengths).sum() == 42
    index = {tuple(cell.tolist()): k for k, cell in enumerate(LAYOUT.free_cells[seen])}
    # Beside the hole (5, 1), 4 from its middle: 2.5 to where it takes the ant, then the hop.
    assert lengths[index[4, 1], index[6, 10]] == pytest.approx(2.5 + speed)
    assert lengths[index[6, 10], index[4, 1]] > 20
    # Nobody walks past a hole: from one side of (4, 6) to the other it is the long way round.
    assert lengths[index[3, 6], index[5, 6]] > 30
    assert tuple(WHITE_HOLES[0].tolist()) in index
