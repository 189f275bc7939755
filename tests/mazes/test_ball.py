"""The fast ball against OGBench's environment, and the step truth against what the ball can do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from minaction.mazes._ball import BallMaze, make_ogbench_maze
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.mazes._truth import ball_steps, free_lattice

pytest.importorskip("ogbench")


def assert_steps_equal_the_environment(name: str, steps: int, seed: int) -> None:
    """Half of the steps are random, half push on in one direction for a while and so slide along walls."""
    ball, environment, random = BallMaze(name), make_ogbench_maze(name), np.random.default_rng(seed)
    positions, actions, memory, results = np.empty((4, steps, 2))
    environment.reset()
    for step in range(steps):
        if step % 100 == 0:
            environment.set_xy(ball.layout.random_positions(1, random)[0])
        if step < steps // 2:
            actions[step] = random.uniform(-1, 1, size=2)
        elif step % 50 == 0:
            actions[step:] = random.choice([-1.0, -0.3, 0.3, 1.0], size=2)
        positions[step], memory[step] = environment.get_xy(), environment.data.qacc_warmstart
        results[step] = environment.step(actions[step])[0]
    without_memory = ball.step(positions, actions)
    moved = ball.step(positions, actions, memory)
    touching = ball.layout.clearance(positions + 0.2 * actions) < 0.7
    assert 0.05 < touching[: steps // 2].mean() < 0.5
    assert touching[steps // 2 :].mean() > 0.3
    assert np.abs(moved - results).max() < 1e-12
    assert np.abs(without_memory - results).max() < 1e-9


@pytest.mark.parametrize("name", list(OGBENCH_LAYOUTS))
def test_a_step_equals_the_environments(name: str) -> None:
    assert_steps_equal_the_environment(name, 2_000, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OGBENCH_LAYOUTS))
def test_twenty_thousand_steps_equal_the_environments(name: str) -> None:
    assert_steps_equal_the_environment(name, 20_000, seed=1)


def test_a_whole_walk_along_walls_equals_the_environments_to_the_bit() -> None:
    ball, environment, random = BallMaze("large"), make_ogbench_maze("large"), np.random.default_rng(2)
    position, memory = ball.layout.random_positions(1, random), np.zeros((1, 2))
    environment.reset()
    environment.set_xy(position[0])
    touches, action = 0, np.zeros(2)
    for step in range(1000):
        if step % 30 == 0:
            action = random.choice([-1.0, -0.3, 0.3, 1.0], size=2)
        touches += ball.layout.clearance(position[0] + 0.2 * action) < 0.7
        position = ball.step(position, action[None], memory)
        assert np.array_equal(position[0], environment.step(action)[0])
    assert touches > 200


def test_balls_do_not_feel_each_other() -> None:
    ball, random = BallMaze("medium"), np.random.default_rng(0)
    positions = ball.layout.random_positions(300, random)
    actions = random.choice([-1.0, 1.0], size=(300, 2))
    together = ball.step(positions, actions)
    order = random.permutation(300)
    assert np.array_equal(ball.step(positions[order], actions[order]), together[order])
    alone = np.concatenate([ball.step(p[None], a[None]) for p, a in zip(positions, actions, strict=True)])
    assert np.array_equal(alone, together)


def greedy_steps(ball: BallMaze, start: np.ndarray, goal: np.ndarray) -> int:
    """Steps of the simulated ball when each is the best of 81 by the distance left on a lattice."""
    lattice = free_lattice(ball.layout, 40)
    count = len(lattice.points)
    moves = coo_array((np.full(len(lattice.moves), 0.5), tuple(lattice.moves.T)), shape=(count, count))
    tree = KDTree(lattice.points)
    left = dijkstra(moves.tocsr(), directed=False, indices=int(tree.query(goal)[1]))
    choices = np.stack(np.meshgrid(*[np.linspace(-1, 1, 9)] * 2), axis=-1).reshape(-1, 2)
    position, taken = start, 0
    while np.abs(position - goal).max() > 0.2:
        moved = ball.step(np.tile(position, (len(choices), 1)), choices)
        apart, near = tree.query(moved, k=16, p=np.inf)
        position, taken = moved[np.argmin((left[near] + apart / 0.2).min(axis=1))], taken + 1
    return taken + 1


@pytest.mark.parametrize(("start", "goal"), [((1, 1), (6, 6)), ((1, 6), (6, 1)), ((6, 3), (1, 5))])
def test_the_simulated_ball_needs_as_many_steps_as_the_truth_says(
    start: tuple[int, int], goal: tuple[int, int]
) -> None:
    ball = BallMaze("medium")
    ends = ball.layout.centre(np.array([start, goal]))
    truth = ball_steps(ball.layout, ends)[0, 1]
    assert 0.97 * truth <= greedy_steps(ball, *ends) <= truth + 1
