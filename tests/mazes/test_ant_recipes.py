"""The ant's data recipes against a plain loop over OGBench's environment."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ogbench")

from minaction.mazes._ant import Ants, maze_model, uprightness
from minaction.mazes._ant_recipes import ANT_RECIPES
from minaction.mazes._ball import make_ogbench_maze
from minaction.mazes._recipes import Draws, generators
from minaction.mazes._teleport import BLACK_HOLES, DESTINATIONS, LAYOUT, WHITE_HOLES, black_hole_at, hops_as_mapped
from minaction.mazes._walker import Walker

NAVIGATE = ANT_RECIPES["ogbench-antmaze-medium-navigate"]
EXPLORE = ANT_RECIPES["ogbench-antmaze-medium-explore"]
TELEPORT = ANT_RECIPES["ogbench-antmaze-teleport-explore"]
CURATED = ANT_RECIPES["ogbench-antmaze-teleport-curated"]
WALKER = Walker.load()


def test_the_published_sizes_and_noises() -> None:
    found = {name: (r.length, r.published_episodes, r.noise, r.behaviour) for name, r in ANT_RECIPES.items()}
    assert found == {
        "ogbench-antmaze-medium-navigate": (1001, 1000, 0.2, "navigate"),
        "ogbench-antmaze-medium-stitch": (201, 5000, 0.2, "stitch"),
        "ogbench-antmaze-medium-explore": (501, 10_000, 1.0, "explore"),
        "ogbench-antmaze-large-navigate": (1001, 1000, 0.2, "navigate"),
        "ogbench-antmaze-large-stitch": (201, 5000, 0.2, "stitch"),
        "ogbench-antmaze-large-explore": (501, 10_000, 1.0, "explore"),
        "ogbench-antmaze-giant-navigate": (2001, 500, 0.2, "navigate"),
        "ogbench-antmaze-giant-stitch": (201, 5000, 0.2, "stitch"),
        "ogbench-antmaze-teleport-explore": (501, 10_000, 1.0, "explore"),
        "ogbench-antmaze-teleport-curated": (501, 10_000, 1.0, "explore"),
    }


@pytest.mark.parametrize("name", ["ogbench-antmaze-medium-navigate", "ogbench-antmaze-medium-stitch"])
def test_a_plain_loop_with_the_same_random_numbers_gives_the_same_episode(name: str) -> None:
    recipe = replace(ANT_RECIPES[name], length=150)
    states, actions, reached = recipe.roll_out(Ants(maze_model("medium"), 2), WALKER, 7, np.array([3, 5]))
    draws = Draws.draw(recipe.layout, recipe.behaviour, generators(7, np.array([5])), (150, 8), recipe.noise)
    environment: Any = make_ogbench_maze("medium", "ant")
    reset: Any = importlib.import_module("mujoco").mj_resetData
    reset(environment.model, environment.data)
    environment.set_state(states[1, 0, :15], states[1, 0, 15:])
    np.testing.assert_array_equal(states[1, 0, :2], draws.start[0])
    observed, goal, count = environment.get_ob(), 0, 0
    for step in range(150):
        environment.cur_goal_xy = draws.goals[0, goal]
        np.testing.assert_array_equal(observed, states[1, step])
        subgoal, _ = environment.get_oracle_subgoal(environment.get_xy(), environment.cur_goal_xy)
        direction = subgoal - environment.get_xy()
        direction /= np.linalg.norm(direction) + 1e-6
        action = np.clip(WALKER.actions(observed[None], direction[None])[0] + draws.noise[0, step], -1, 1)
        np.testing.assert_array_equal(action, actions[1, step])
        observed, *_, info = environment.step(action)
        if info["success"]:
            count += 1
            goal += recipe.behaviour == "navigate"
    assert count == reached[1]


def test_explore_keeps_a_direction_for_ten_steps() -> None:
    recipe = replace(EXPLORE, length=40, noise=0.0)
    seen: list[np.ndarray] = []

    class Recording(Walker):
        def actions(self, states: np.ndarray, directions: np.ndarray) -> np.ndarray:
            seen.append(directions)
            return super().actions(states, directions)

    recipe.roll_out(Ants(maze_model("medium"), 2), Recording(WALKER.weights, WALKER.biases, {}), 0, np.arange(2))
    directions = np.stack(seen)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=-1), 1.0)
    changes = (np.diff(directions, axis=0) != 0).any(axis=-1)
    assert [np.flatnonzero(changes[:, k]).tolist() for k in range(2)] == [[9, 19, 29], [9, 19, 29]]


@pytest.mark.parametrize("recipe", [NAVIGATE, TELEPORT, CURATED], ids=["navigate", "teleport", "curated"])
def test_same_seed_same_bytes_whatever_the_blocks_and_threads(recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(recipe, length=60)
    large = recipe.collect(1, 9, keep_actions=True, threads=1)
    monkeypatch.setattr("minaction.mazes._ant_recipes._ANTS_AT_ONCE", 2)
    small, other = recipe.collect(1, 5, keep_actions=True, threads=2), recipe.collect(2, 5)
    assert large.first(5).states.tobytes() == small.states.tobytes()
    assert large.actions is not None
    assert small.actions is not None
    assert large.actions[: len(small.actions)].tobytes() == small.actions.tobytes()
    assert small.states.tobytes() != other.states.tobytes()
    assert small.lengths.tolist() == [60] * 5
    assert small.state_shape == (29,)


def beside_holes(count: int) -> np.ndarray:
    """Numbers of episodes of seed 0 that begin in a black hole or next to one."""
    numbers = np.arange(400)
    starts = np.array([random.integers(len(LAYOUT.free_cells)) for random in generators(0, numbers)])
    away = np.abs(LAYOUT.free_cells[starts][:, None] - BLACK_HOLES).sum(axis=2).min(axis=1)
    return numbers[away <= 1][:count]


def test_the_deterministic_maze_hops_within_the_step() -> None:
    recipe, numbers = replace(TELEPORT, length=120), beside_holes(30)
    states, _, _ = recipe.roll_out(Ants(maze_model("teleport"), 30), WALKER, 0, numbers)
    positions = states[:, :, :2]
    jumps = np.argwhere(np.linalg.norm(np.diff(positions, axis=1), axis=2) > 2)
    assert len(jumps) > 5
    assert (black_hole_at(positions[:, 1:]) == -1).all()  # only a first state can lie in a black hole
    for episode, time in jumps:
        before, after = positions[episode, time], positions[episode, time + 1]
        hole = int(np.linalg.norm(before - LAYOUT.centre(BLACK_HOLES), axis=1).argmin())
        np.testing.assert_array_equal(after, LAYOUT.centre(WHITE_HOLES[DESTINATIONS[hole]]))
        assert np.linalg.norm(before - LAYOUT.centre(BLACK_HOLES[hole])) < 2.5
    assert all(hops_as_mapped(episode) for episode in positions)


def test_ogbenchs_random_holes_are_observed_before_the_hop() -> None:
    recipe, numbers = replace(CURATED, length=120), beside_holes(30)
    states, _, _ = recipe.roll_out(Ants(maze_model("teleport"), 30), WALKER, 0, numbers)
    positions = states[:, :, :2]
    fits = np.array([hops_as_mapped(episode) for episode in positions])
    assert 0 < fits.sum() < 30
    # Who begins in a hole is not taken at once.
    taken = np.argwhere(black_hole_at(positions[:, 1:-1]) >= 0) + np.array([0, 1])
    assert len(taken) > 5
    after = positions[taken[:, 0], taken[:, 1] + 1]
    assert np.linalg.norm(LAYOUT.centre(WHITE_HOLES) - after[:, None], axis=2).min(axis=1).max() < 1.0


def test_curated_data_are_the_random_mazes_episodes_less_the_unfit_ones() -> None:
    recipe = replace(CURATED, length=40)
    states, _, _ = recipe.roll_out(Ants(maze_model("teleport"), 25), WALKER, 0, np.arange(25))
    fits = np.array([hops_as_mapped(episode[:, :2]) for episode in states])
    assert 0 < fits.sum() < 25
    kept = recipe.collect(0, int(fits.sum()))
    np.testing.assert_array_equal(kept.states.reshape(-1, 40, 29), states[fits].astype(np.float32))


def test_numpys_global_generator_is_left_alone() -> None:
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002 (it is what must not be used)
        if not draws:
            replace(CURATED, length=20).collect(0, 2)
        draws.append(np.random.random())  # noqa: NPY002
    assert draws[0] == draws[1]


@pytest.mark.slow
def test_navigate_reaches_five_goals_in_a_thousand_steps_and_few_ants_flip() -> None:
    states, _, reached = NAVIGATE.roll_out(Ants(maze_model("medium"), 40, 0), WALKER, 11, np.arange(40))
    assert reached.mean() >= 5
    assert (uprightness(states) < 0).any(axis=1).mean() < 0.2
