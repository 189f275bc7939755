"""Maze truths against an independent search, plain geometry and a finer lattice."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._layouts import OGBENCH_LAYOUTS, POINT_MAZE_LAYOUTS, MazeLayout
from minaction.mazes._truth import ball_steps, cell_distances, free_lattice

ALL_LAYOUTS = [*OGBENCH_LAYOUTS.values(), *POINT_MAZE_LAYOUTS.values()]


def searched_cell_distances(layout: MazeLayout, start: tuple[int, int]) -> dict[tuple[int, int], int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        i, j = queue.popleft()
        for cell in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if not layout.walls[cell] and cell not in found:
                found[cell] = found[i, j] + 1
                queue.append(cell)
    return found


@pytest.mark.parametrize("layout", ALL_LAYOUTS, ids=lambda layout: f"{layout.name}-{layout.cell_size:g}")
def test_cell_distances_equal_a_plain_search(layout: MazeLayout) -> None:
    distances = cell_distances(layout)
    cells = [(int(i), int(j)) for i, j in layout.free_cells]
    for source, cell in enumerate(cells):
        found = searched_cell_distances(layout, cell)
        assert distances[source].tolist() == [found[target] for target in cells]


@pytest.mark.parametrize(("name", "cells", "longest"), [("medium", 26, 11), ("large", 46, 19), ("giant", 86, 31)])
def test_size_of_the_ogbench_mazes(name: str, cells: int, longest: int) -> None:
    distances = cell_distances(OGBENCH_LAYOUTS[name])
    assert distances.shape == (cells, cells)
    assert distances.max() == longest


@pytest.mark.parametrize("name", ["medium", "large"])
def test_step_truth_converges_as_the_lattice_is_refined(name: str) -> None:
    layout = OGBENCH_LAYOUTS[name]
    by_points = {points: ball_steps(layout, layout.centres, points) for points in (5, 10, 20, 40)}
    errors = [np.abs(by_points[points] - by_points[40]) for points in (5, 10, 20)]
    assert errors[0].mean() > errors[1].mean() > 0.5
    assert errors[2].max() <= 0.5  # the corner's roundness is resolved to less than a step
    random = layout.random_positions(40, np.random.default_rng(3))
    gap = ball_steps(layout, random, 20) - ball_steps(layout, random, 40)
    assert np.abs(gap).max() <= 1.5
    assert np.abs(gap).mean() <= 0.25


def test_one_step_to_a_neighbouring_cell_per_fifth_of_a_unit() -> None:
    layout = OGBENCH_LAYOUTS["giant"]
    steps, cells = ball_steps(layout, layout.centres), cell_distances(layout)
    assert np.allclose(steps[cells == 1], 20.0)
    assert (steps >= np.abs(layout.centres[:, None] - layout.centres[None]).max(axis=-1) / 0.2 - 1e-6).all()
    assert steps.max() == 440.0


def test_positions_in_an_open_room_are_a_maximum_norm_apart() -> None:
    layout = OGBENCH_LAYOUTS["medium"]  # its upper left corner is a room of two by two cells
    random = np.random.default_rng(0)
    positions = random.uniform(-1.3, 5.3, size=(60, 2))
    expected = np.abs(positions[:, None] - positions[None]).max(axis=-1) / 0.2
    excess = ball_steps(layout, positions) - expected
    assert excess.min() > -1e-6
    assert excess.max() < 0.5
    assert excess.mean() < 0.02


def test_step_truth_is_a_metric() -> None:
    layout = OGBENCH_LAYOUTS["large"]
    positions = np.concatenate([layout.random_positions(50, np.random.default_rng(1)), layout.centres[:1]])
    positions = np.concatenate([positions, positions[-1:]])  # the same position twice
    steps = ball_steps(layout, positions)
    assert (steps == steps.T).all()
    assert (np.diag(steps) == 0).all()
    assert steps[-1, -2] == 0
    assert (steps[:, None] <= steps[:, :, None] + steps[None] + 1e-6).all()


def test_lattice_moves_keep_the_ball_out_of_the_walls() -> None:
    layout = OGBENCH_LAYOUTS["large"]
    lattice = free_lattice(layout)
    start, end = lattice.points[lattice.moves[:, 0]], lattice.points[lattice.moves[:, 1]]
    assert np.abs(start - end).max() == pytest.approx(0.2)
    worst = min(layout.clearance(start + share * (end - start)).min() for share in np.linspace(0, 1, 21))
    assert worst > 0.7 - 0.002


def test_what_cannot_be_asked_is_refused() -> None:
    layout = OGBENCH_LAYOUTS["medium"]
    with pytest.raises(InputError, match="position 1"):
        ball_steps(layout, np.array([[0.0, 0.0], [1.5, 8.0]]))
    with pytest.raises(InputError, match="at least 1 point"):
        ball_steps(layout, layout.centres, 0)
