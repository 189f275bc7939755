"""gymnasium-robotics' ball, many at once, against the environment itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from minaction.mazes._layouts import POINT_MAZE_LAYOUTS
from minaction.mazes._point import POINT_MAZE_RECIPES, InertialBallMaze, RandomForceRecipe, make_point_maze

pytest.importorskip("gymnasium_robotics")


def state_of(environment: Any) -> np.ndarray:
    return np.concatenate([environment.point_env.data.qpos, environment.point_env.data.qvel])


def assert_steps_equal_the_environment(name: str, steps: int, seed: int) -> None:
    """Half of the steps are random, half push on in one direction and so run into walls at full speed."""
    ball, environment, random = InertialBallMaze(name), make_point_maze(name), np.random.default_rng(seed)
    states, actions, results = np.empty((steps, 4)), np.empty((steps, 2)), np.empty((steps, 4))
    environment.reset(seed=seed)
    for step in range(steps):
        if step < steps // 2:
            actions[step] = random.uniform(-1, 1, size=2)
        elif step % 25 == 0:
            actions[step:] = random.choice([-1.0, -0.3, 0.3, 1.0], size=2)
        states[step] = state_of(environment)
        results[step] = environment.step(actions[step])[0]["observation"]
    assert (ball.layout.clearance(states[:, :2]) < 0.1).mean() > 0.03
    assert np.abs(states[:, 2:]).max() > 5
    gaps = np.abs(ball.step(states, actions) - results).max(axis=1)
    near = ball.layout.clearance(states[:, :2]) < 0.11
    assert gaps[~near].max() < 1e-12
    # MuJoCo's solver begins where it ended a step ago, and so stops a hair earlier or later than from nothing.
    assert np.median(gaps[near]) < 1e-12
    assert gaps[near].max() < 1e-4


@pytest.mark.parametrize("name", list(POINT_MAZE_LAYOUTS))
def test_a_step_equals_the_environments(name: str) -> None:
    assert_steps_equal_the_environment(name, 2_000, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(POINT_MAZE_LAYOUTS))
def test_twenty_thousand_steps_equal_the_environments(name: str) -> None:
    assert_steps_equal_the_environment(name, 20_000, seed=1)


def test_an_episode_equals_the_environment_driven_by_its_actions() -> None:
    recipe = POINT_MAZE_RECIPES["pointmaze-umaze"]
    states, actions = recipe.roll_out(InertialBallMaze("umaze"), 0, np.array([4]))
    environment = make_point_maze("umaze")
    environment.reset(seed=0)
    environment.point_env.set_state(states[0, 0, :2], np.zeros(2))
    for step in range(300):
        observation = environment.step(actions[0, step])[0]["observation"]
        assert np.abs(observation - states[0, step + 1]).max() < 1e-9


def test_episodes_are_as_long_as_the_environments_own() -> None:
    import gymnasium
    import gymnasium_robotics

    gymnasium.register_envs(gymnasium_robotics)
    for name, environment in (("umaze", "PointMaze_UMaze-v3"), ("medium", "PointMaze_Medium-v3")):
        recipe = POINT_MAZE_RECIPES[f"pointmaze-{name}"]
        assert gymnasium.spec(environment).max_episode_steps == recipe.steps
        assert recipe.collect(0, 2).lengths.tolist() == [recipe.steps + 1] * 2


def test_starts_follow_the_same_distribution_as_the_environments_reset() -> None:
    layout, environment = POINT_MAZE_LAYOUTS["umaze"], make_point_maze("umaze")
    environment.reset(seed=0)
    theirs = np.array([environment.reset()[0]["observation"] for _ in range(1500)])
    ours, _ = RandomForceRecipe("umaze", 1).roll_out(InertialBallMaze("umaze"), 0, np.arange(1500))
    ours = ours[:, 0]
    assert (ours[:, 2:] == 0).all()
    shares = [np.bincount(layout.cell_index[tuple(layout.cell_of(s[:, :2]).T)], minlength=7) for s in (theirs, ours)]
    assert (np.abs(shares[0] - shares[1]) < 5 * np.sqrt(2 * 1500 / 7)).all()
    for starts in (theirs, ours):
        offsets = starts[:, :2] - layout.centre(layout.cell_of(starts[:, :2]))
        assert 0.24 < np.abs(offsets).max() <= 0.25
        assert np.abs(offsets.std(axis=0) - 0.25 / np.sqrt(3)).max() < 0.01


def test_same_seed_same_bytes_and_actions_are_kept_on_request() -> None:
    recipe = POINT_MAZE_RECIPES["pointmaze-medium"]
    one, two, other = recipe.collect(3, 4), recipe.collect(3, 4, keep_actions=True), recipe.collect(4, 4)
    assert one.states.tobytes() == two.states.tobytes() != other.states.tobytes()
    assert one.actions is None
    assert two.actions is not None
    assert two.actions.shape == (4 * 601, 2)
    assert 0.55 < two.actions.std() < 0.60  # uniform on [-1, 1] has 0.577
