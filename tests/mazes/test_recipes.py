"""The data recipes against a plain loop over OGBench's environment."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._ball import BallMaze, make_ogbench_maze
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.mazes._recipes import OGBENCH_RECIPES, BallRecipe
from minaction.mazes._routes import vertex_cells
from minaction.mazes._truth import cell_distances

pytest.importorskip("ogbench")


def head_for_goal(environment: Any, noise: np.ndarray) -> np.ndarray:
    subgoal, _ = environment.get_oracle_subgoal(environment.get_xy(), environment.cur_goal_xy)
    direction = subgoal - environment.get_xy()
    return np.clip(direction / (np.linalg.norm(direction) + 1e-6) + noise, -1, 1)


def plain_navigate(environment: Any, name: str, episodes: int, length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """States (episodes, length, 2) and goals reached, the obvious way, with random numbers of its own."""
    layout, random = OGBENCH_LAYOUTS[name], np.random.default_rng(seed)
    vertices = layout.free_cells[vertex_cells(layout)]
    states, reached = np.empty((episodes, length, 2)), np.zeros(episodes)
    for episode in range(episodes):
        environment.set_xy(layout.centres[random.integers(len(layout.centres))] + random.uniform(-1, 1, 2))
        environment.cur_goal_xy = layout.centre(vertices[random.integers(len(vertices))]) + random.uniform(-1, 1, 2)
        for step in range(length):
            states[episode, step] = environment.get_xy()
            info = environment.step(head_for_goal(environment, random.normal(0, 0.5, 2)))[-1]
            if info["success"]:
                reached[episode] += 1
                goal = layout.centre(vertices[random.integers(len(vertices))])
                environment.cur_goal_xy = goal + random.uniform(-1, 1, 2)
    return states, reached


def assert_same_statistics(name: str, plain_episodes: int, fast_episodes: int) -> None:
    length = 1001
    environment = make_ogbench_maze(name)
    environment.reset()
    plain_states, plain_reached = plain_navigate(environment, name, plain_episodes, length, seed=5)
    recipe = BallRecipe(name, "navigate", length, 1000)
    fast_states, _, fast_reached = recipe.roll_out(BallMaze(name), 0, np.arange(fast_episodes))
    assert_means_agree(plain_reached[:, None], fast_reached[:, None].astype(float))
    # A goal in the far corner of a cell can hold a ball for hundreds of steps: clipped, the shares have no such tail.
    shares = [np.minimum(visit_shares(name, states), 0.1) for states in (plain_states, fast_states)]
    assert_means_agree(*shares)


def visit_shares(name: str, states: np.ndarray) -> np.ndarray:
    """The share of each episode spent in each cell, (episodes, cells)."""
    layout = OGBENCH_LAYOUTS[name]
    cells = layout.cell_index[tuple(np.moveaxis(layout.cell_of(states), -1, 0))]
    return np.array([np.bincount(episode, minlength=len(layout.free_cells)) for episode in cells]) / states.shape[1]


def assert_means_agree(few: np.ndarray, many: np.ndarray) -> None:
    error = many.std(axis=0) * np.sqrt(1 / len(few) + 1 / len(many))
    assert (np.abs(few.mean(axis=0) - many.mean(axis=0)) < 4.5 * error).all()


@pytest.mark.parametrize("name", list(OGBENCH_RECIPES))
def test_a_plain_loop_with_the_same_random_numbers_gives_the_same_episode(name: str) -> None:
    recipe = BallRecipe(OGBENCH_RECIPES[name].maze, OGBENCH_RECIPES[name].behaviour, 500, 1)
    ball, environment = BallMaze(recipe.maze), make_ogbench_maze(recipe.maze)
    states, actions, reached = recipe.roll_out(ball, 7, np.array([3]))
    draws = recipe._draw(ball.layout, 7, np.array([3]))
    environment.reset()
    environment.set_xy(draws.start[0])
    goal = count = 0
    for step in range(500):
        environment.cur_goal_xy = draws.goals[0, goal]
        assert np.abs(environment.get_xy() - states[0, step]).max() < 1e-9
        action = head_for_goal(environment, draws.noise[0, step])
        assert np.abs(action - actions[0, step]).max() < 1e-9
        if environment.step(action)[-1]["success"]:
            count += 1
            goal += recipe.behaviour == "navigate"
    assert count == reached[0] > 0


def test_navigate_reaches_as_many_goals_and_visits_the_same_cells_as_a_plain_loop() -> None:
    assert_same_statistics("medium", plain_episodes=10, fast_episodes=150)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(OGBENCH_LAYOUTS))
def test_larger_navigate_sets_agree_with_a_plain_loop(name: str) -> None:
    assert_same_statistics(name, plain_episodes=60, fast_episodes=600)


@pytest.mark.slow
def test_a_thousand_navigate_episodes_take_less_than_a_tenth_of_the_plain_loops_time() -> None:
    environment = make_ogbench_maze("medium")
    environment.reset()
    start = time.perf_counter()
    plain_navigate(environment, "medium", 20, 1001, seed=0)
    plain = (time.perf_counter() - start) * 1000 / 20
    start = time.perf_counter()
    OGBENCH_RECIPES["ogbench-pointmaze-medium-navigate"].collect(0, 1000)
    fast = time.perf_counter() - start
    print(f"1000 medium-navigate episodes: {fast:.1f} s, plain loop {plain:.1f} s (from 20)")
    assert fast < plain / 10


def test_starts_and_goals_are_drawn_as_ogbench_does() -> None:
    layout = OGBENCH_LAYOUTS["medium"]
    stitch = OGBENCH_RECIPES["ogbench-pointmaze-medium-stitch"]
    draws = stitch._draw(layout, 0, np.arange(4000))
    cells = layout.cell_index[tuple(layout.cell_of(draws.start).T)]
    assert (np.abs(np.bincount(cells) - 4000 / 26) < 5 * np.sqrt(4000 / 26)).all()
    offsets = draws.start - layout.centres[cells]
    assert np.abs(offsets).max() <= 1.0
    assert np.abs(offsets.std(axis=0) - 1 / np.sqrt(3)).max() < 0.03
    assert (cell_distances(layout)[cells, draws.goal_cells[:, 0]] == 4).all()
    assert np.abs(draws.goals[:, 0] - layout.centres[draws.goal_cells[:, 0]]).max() <= 1.0
    navigate = OGBENCH_RECIPES["ogbench-pointmaze-medium-navigate"]
    draws = navigate._draw(layout, 0, np.arange(40))
    counts = np.bincount(draws.goal_cells.ravel(), minlength=26)
    chosen = np.zeros(26, dtype=bool)
    chosen[vertex_cells(layout)] = True
    expected = draws.goal_cells.size / chosen.sum()
    assert (counts[~chosen] == 0).all()
    assert (np.abs(counts[chosen] - expected) < 5 * np.sqrt(expected)).all()
    assert np.abs(draws.noise.std() - 0.5) < 0.01


def test_stitch_episodes_end_around_a_cell_four_moves_from_where_they_began() -> None:
    recipe = OGBENCH_RECIPES["ogbench-pointmaze-giant-stitch"]
    ball = BallMaze("giant")
    states, _, reached = recipe.roll_out(ball, 0, np.arange(200))
    layout = ball.layout
    first, last = (layout.cell_index[tuple(layout.cell_of(states[:, k]).T)] for k in (0, -1))
    assert (cell_distances(layout)[first, last] == 4).mean() > 0.97
    assert (reached > 0).mean() > 0.97


def test_same_seed_same_bytes_and_a_longer_set_begins_with_the_shorter() -> None:
    recipe = OGBENCH_RECIPES["ogbench-pointmaze-large-stitch"]
    small, again, large, other = (recipe.collect(seed, n) for seed, n in ((1, 5), (1, 5), (1, 9), (2, 5)))
    assert small.states.tobytes() == again.states.tobytes()
    assert large.first(5).states.tobytes() == small.states.tobytes()
    assert small.states.tobytes() != other.states.tobytes()
    assert small.lengths.tolist() == [201] * 5


def test_blocks_make_no_difference_and_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = OGBENCH_RECIPES["ogbench-pointmaze-medium-stitch"]
    whole = recipe.collect(0, 7, keep_actions=True)
    monkeypatch.setattr("minaction.mazes._recipes._EPISODES_AT_ONCE", 3)
    seen: list[tuple[int, int]] = []
    parts = recipe.collect(0, 7, lambda done, total: seen.append((done, total)), keep_actions=True)
    assert seen == [(3, 7), (6, 7), (7, 7)]
    assert whole.states.tobytes() == parts.states.tobytes()
    assert whole.actions is not None
    assert parts.actions is not None
    assert whole.actions.tobytes() == parts.actions.tobytes()


def test_numpys_global_generator_is_left_alone() -> None:
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002 (it is what must not be used)
        if not draws:
            OGBENCH_RECIPES["ogbench-pointmaze-medium-stitch"].collect(0, 2)
        draws.append(np.random.random())  # noqa: NPY002
    assert draws[0] == draws[1]


@pytest.mark.parametrize(("seed", "episodes"), [(0, 0), (0, -3), (-1, 5)])
def test_impossible_requests_are_refused(seed: int, episodes: int) -> None:
    with pytest.raises(InputError, match="Cannot make"):
        OGBENCH_RECIPES["ogbench-pointmaze-medium-stitch"].collect(seed, episodes)
