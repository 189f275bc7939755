"""Our maps and coordinates against those of the simulators, and distances to walls by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from minaction.mazes._ball import make_ogbench_maze
from minaction.mazes._layouts import OGBENCH_LAYOUTS, POINT_MAZE_LAYOUTS
from minaction.mazes._point import make_point_maze
from minaction.mazes._routes import cells_at_distance, next_cells, vertex_cells

pytest.importorskip("ogbench")
pytest.importorskip("gymnasium_robotics")


@pytest.mark.parametrize("name", list(OGBENCH_LAYOUTS))
def test_ogbench_maps_and_coordinates(name: str) -> None:
    layout, environment = OGBENCH_LAYOUTS[name], make_ogbench_maze(name)
    assert np.array_equal(layout.walls, environment.maze_map == 1)
    for cell, centre in zip(layout.free_cells, layout.centres, strict=True):
        assert tuple(centre) == environment.ij_to_xy(tuple(cell))
    for position in layout.random_positions(500, np.random.default_rng(0)):
        assert tuple(layout.cell_of(position)) == environment.xy_to_ij(position)
    geom = environment.model.geom("pointbody")
    assert geom.size[0] == layout.ball_radius


@pytest.mark.parametrize("name", list(POINT_MAZE_LAYOUTS))
def test_gymnasium_robotics_maps_and_coordinates(name: str) -> None:
    layout, environment = POINT_MAZE_LAYOUTS[name], make_point_maze(name)
    maze = environment.maze
    assert np.array_equal(layout.walls, np.array(maze.maze_map) == 1)
    for cell, centre in zip(layout.free_cells, layout.centres, strict=True):
        assert np.allclose(centre, maze.cell_rowcol_to_xy(cell))
    for position in layout.random_positions(500, np.random.default_rng(0)):
        assert tuple(layout.cell_of(position)) == tuple(maze.cell_xy_to_rowcol(position))
    assert environment.point_env.model.geom("particle_geom").size[0] == layout.ball_radius


@pytest.mark.parametrize("layout", [OGBENCH_LAYOUTS["large"], POINT_MAZE_LAYOUTS["umaze"]], ids=lambda x: x.name)
def test_clearance_is_the_distance_to_the_nearest_wall(layout) -> None:
    random = np.random.default_rng(0)
    low, high = layout.centres.min(axis=0), layout.centres.max(axis=0)
    positions = random.uniform(low, high, size=(2000, 2))
    walls = layout.centre(np.argwhere(layout.walls))
    gaps = np.maximum(np.abs(positions[:, None] - walls[None]) - layout.cell_size / 2, 0.0)
    expected = np.minimum(np.linalg.norm(gaps, axis=-1).min(axis=1), layout.cell_size)
    assert np.allclose(layout.clearance(positions), expected, atol=1e-12)


@pytest.mark.parametrize("name", list(OGBENCH_LAYOUTS))
def test_next_cells_equal_the_oracle_of_ogbench(name: str) -> None:
    layout, environment = OGBENCH_LAYOUTS[name], make_ogbench_maze(name)
    route = next_cells(layout)
    random = np.random.default_rng(0)
    for source, goal in random.integers(len(layout.free_cells), size=(300, 2)):
        subgoal, _ = environment.get_oracle_subgoal(layout.centres[source], layout.centres[goal])
        assert np.array_equal(subgoal, layout.centres[route[source, goal]])


def test_vertex_cells_and_cells_four_moves_away_of_the_medium_maze() -> None:
    layout = OGBENCH_LAYOUTS["medium"]
    corridors = {tuple(c) for c in layout.free_cells} - {tuple(layout.free_cells[k]) for k in vertex_cells(layout)}
    assert corridors == {(3, 3), (4, 5), (5, 1), (5, 6), (6, 2)}
    near = cells_at_distance(layout, 4)
    upper_left = layout.cell_index[1, 1]
    assert {tuple(layout.free_cells[k]) for k in near[upper_left]} == {(3, 3), (4, 2)}
    assert [list(cells) for cells in cells_at_distance(layout, 99)] == [[k] for k in range(26)]


def test_random_positions_fill_the_free_space_evenly() -> None:
    layout = OGBENCH_LAYOUTS["medium"]
    positions = layout.random_positions(26_000, np.random.default_rng(0))
    assert layout.is_free(positions).all()
    counts = np.bincount(layout.cell_index[tuple(layout.cell_of(positions).T)], minlength=26)
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 101)[:-1] + 0.02, np.linspace(-2, 2, 101)[:-1] + 0.02), axis=-1)
    areas = np.array([layout.is_free(centre + grid).mean() for centre in layout.centres])
    expected = 26_000 * areas / areas.sum()
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()
