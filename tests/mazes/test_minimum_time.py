"""Least times of the ball with inertia: against closed forms, an integer programme and the simulator."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from minaction.errors import InputError
from minaction.mazes._layouts import POINT_MAZE_LAYOUTS
from minaction.mazes._minimum_time import (
    BALL_MASS,
    DAMPING,
    MOTOR_FORCE,
    TOP_SPEED,
    SpeedLattice,
    fastest_path,
    least_steps,
)
from minaction.mazes._point import InertialBallMaze
from minaction.mazes._truth import cell_distances

UMAZE = POINT_MAZE_LAYOUTS["umaze"]
# Where the ball's centre may be in the U maze: upper, right and lower corridor as x from, x to, y from, y to.
CORRIDORS = ((-1.4, 1.4, 0.6, 1.4), (0.6, 1.4, -1.4, 1.4), (-1.4, 1.4, -1.4, -0.6))
SECONDS = 0.01


def can_arrive(start: np.ndarray, goal: np.ndarray, steps: int) -> bool:
    """Whether the simulator's equations lead from rest to rest inside the corridors, by an integer programme.

    Variables, each at steps 0..T: x, y, their speeds, their forces, and which of the corridors hold the ball.
    """
    times = steps + 1
    keep, push = (
        BALL_MASS / (BALL_MASS + SECONDS * DAMPING),
        SECONDS * MOTOR_FORCE / (BALL_MASS + SECONDS * DAMPING),
    )
    rows: list[tuple[dict[int, float], float, float]] = []
    for axis, k in itertools.product((0, 1), range(steps)):
        place, speed, force = ((axis + 2 * kind) * times + k for kind in (0, 1, 2))
        rows.append(({speed + 1: 1.0, speed: -keep, force: -push}, 0.0, 0.0))
        rows.append(({place + 1: 1.0, place: -1.0, speed + 1: -SECONDS}, 0.0, 0.0))
    for k in range(times):
        rows.append(({(6 + corridor) * times + k: 1.0 for corridor in range(3)}, 1.0, 3.0))
        for corridor, (x_low, x_high, y_low, y_high) in enumerate(CORRIDORS):
            inside = (6 + corridor) * times + k
            for axis, low, high in ((0, x_low, x_high), (1, y_low, y_high)):
                rows.append(({axis * times + k: 1.0, inside: 1.4 - high}, -np.inf, 1.4))
                rows.append(({axis * times + k: 1.0, inside: -1.4 - low}, -1.4, np.inf))
    limits = np.repeat([1.4, 1.4, TOP_SPEED, TOP_SPEED, 1.0, 1.0, 1.0, 1.0, 1.0], times)
    lower = np.where(np.arange(9 * times) < 6 * times, -limits, 0.0)
    for axis, k in itertools.product((0, 1), (0, steps)):
        lower[axis * times + k] = limits[axis * times + k] = (start if k == 0 else goal)[axis]
        lower[(axis + 2) * times + k] = limits[(axis + 2) * times + k] = 0.0
    entries = [(r, column, value) for r, (row, _, _) in enumerate(rows) for column, value in row.items()]
    r, columns, values = zip(*entries, strict=True)
    matrix = csr_array((values, (r, columns)), shape=(len(rows), 9 * times))
    # SciPy's annotations know only single numbers as limits, its documentation knows arrays.
    between: Any = [[row[k] for row in rows] for k in (1, 2)]
    within: Any = (lower, limits)
    integers = (np.arange(9 * times) >= 6 * times).astype(int)
    result = milp(
        np.zeros(9 * times),
        constraints=LinearConstraint(matrix, *between),
        bounds=Bounds(*within),
        integrality=integers,
    )
    return result.success


def optimum(source: int, target: int, guess: float) -> int:
    """The least number of steps for which `can_arrive` holds (it then holds for all larger ones)."""
    low, high = int(guess) - 9, int(guess) + 9
    assert not can_arrive(UMAZE.centres[source], UMAZE.centres[target], low)
    while high - low > 1:
        middle = (low + high) // 2
        if can_arrive(UMAZE.centres[source], UMAZE.centres[target], middle):
            high = middle
        else:
            low = middle
    return high


@pytest.mark.parametrize(("source", "target"), [(0, 1), (0, 2), (1, 3), (0, 3), (1, 6), (2, 4)])
def test_near_the_optimum_of_an_integer_programme(source: int, target: int) -> None:
    steps = least_steps(UMAZE, UMAZE.centres)[source, target]
    assert abs(steps - optimum(source, target, steps)) <= 5


@pytest.mark.slow
def test_near_the_optimum_between_all_cells_of_the_u_maze() -> None:
    for levels, worst, mean in ((4, 5.0, 2.0), (5, 3.0, 1.5)):
        steps = least_steps(UMAZE, UMAZE.centres, SpeedLattice(levels))
        pairs = list(itertools.combinations(range(7), 2))
        gaps = np.array([steps[pair] - optimum(*pair, steps[pair]) for pair in pairs])
        print(f"{levels} levels: mean {gaps.mean():.2f}, mean absolute {np.abs(gaps).mean():.2f}, {gaps}")
        assert np.abs(gaps).max() <= worst
        assert np.abs(gaps).mean() <= mean


def test_straight_ways_take_the_time_of_full_thrust_then_full_brake() -> None:
    lattice = SpeedLattice()
    steps = least_steps(UMAZE, UMAZE.centres, lattice)
    acceleration = TOP_SPEED**2 * lattice.rest_points_per_cell / lattice.levels**2
    assert acceleration == pytest.approx(MOTOR_FORCE / BALL_MASS, rel=0.01)
    one_cell = 2 * np.sqrt(1 / acceleration) / SECONDS
    two_cells = (2 / TOP_SPEED + TOP_SPEED / acceleration) / SECONDS
    assert abs(steps[0, 1] - one_cell) < lattice.steps_per_slice / 2
    assert abs(steps[0, 2] - two_cells) < lattice.steps_per_slice


def test_symmetric_zero_on_the_diagonal_and_longer_for_more_cells() -> None:
    layout = POINT_MAZE_LAYOUTS["medium"]
    steps, cells = least_steps(layout, layout.centres, SpeedLattice(3)), cell_distances(layout)
    assert (steps == steps.T).all()
    assert (np.diag(steps) == 0).all()
    off_diagonal = cells > 0
    assert np.corrcoef(steps[off_diagonal], cells[off_diagonal])[0, 1] > 0.9
    assert (steps[cells == 1] == steps[cells == 1][0]).all()


def follow(ball: InertialBallMaze, way: np.ndarray, slower: float) -> float:
    """Steps until the simulated ball, steered along `way` run through that much `slower`, comes to rest."""
    slice_seconds = SpeedLattice().steps_per_slice * SECONDS
    pushes = np.diff(way[:, 2:], axis=0) / slice_seconds
    state = np.concatenate([way[0, :2], np.zeros(2)])
    for step in range(1, 400):
        now = min(step * SECONDS / slower, len(pushes) * slice_seconds * (1 - 1e-9))
        k = int(now / slice_seconds)
        into = now - k * slice_seconds
        place = way[k, :2] + way[k, 2:] * into + pushes[k] * into**2 / 2
        speed = (way[k, 2:] + pushes[k] * into) / slower
        wanted = speed + 30 * (place - state[:2] - SECONDS * speed)
        current = np.clip(state[2:], -5, 5)
        force = (wanted - current) * (BALL_MASS + SECONDS * DAMPING) / SECONDS + DAMPING * current
        state = ball.step(state[None], np.clip(force / MOTOR_FORCE, -1, 1)[None])[0]
        if np.abs(state[:2] - way[-1, :2]).max() < 0.05 and np.abs(state[2:]).max() < 0.5:
            return step
    return np.inf


@pytest.mark.parametrize(
    ("name", "start", "goal"),
    [
        ("umaze", (1, 1), (3, 1)),
        ("umaze", (3, 2), (2, 3)),
        ("medium", (1, 1), (6, 6)),
        ("medium", (5, 3), (1, 5)),
    ],
)
def test_the_simulated_ball_arrives_in_that_time(name: str, start: tuple[int, int], goal: tuple[int, int]) -> None:
    pytest.importorskip("gymnasium_robotics")
    ball = InertialBallMaze(name)
    ends = ball.layout.centre(np.array([start, goal]))
    way = fastest_path(ball.layout, *ends)
    assert np.allclose(way[[0, -1]], np.concatenate([ends, np.zeros((2, 2))], axis=1))
    assert np.abs(way[:, 2:]).max() <= TOP_SPEED + 1e-9
    steps = least_steps(ball.layout, ends)[0, 1]
    taken = min(follow(ball, way, slower) for slower in (1.0, 1.02, 1.05))
    assert steps - 6 <= taken <= 1.05 * steps + 6


def test_any_position_is_moved_to_the_nearest_lattice_point_and_walls_are_refused() -> None:
    near = UMAZE.centres[:3] + np.array([0.01, -0.02])
    lattice = SpeedLattice(3)
    assert np.array_equal(least_steps(UMAZE, near, lattice), least_steps(UMAZE, UMAZE.centres[:3], lattice))
    assert UMAZE.is_free(lattice.rest_positions(UMAZE)).all()
    with pytest.raises(InputError, match="in a wall"):
        least_steps(UMAZE, np.array([[-1.0, 0.0], [1.0, 1.0]]), lattice)
    with pytest.raises(InputError, match="at least 2"):
        SpeedLattice(1)
