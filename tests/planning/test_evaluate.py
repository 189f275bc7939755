"""Goal reaching against OGBench's own facts, and with distances whose worth is known."""

from __future__ import annotations

import json

import jax.numpy as jnp
import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._ball import make_ogbench_maze
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.mazes._truth import ball_steps
from minaction.planning import Episodes, euclidean, evaluate_planning, learned_fields, step_truth, untrained
from minaction.planning._acting import Balls
from minaction.planning._episodes import NOISE, TASK_CELLS

MEDIUM = OGBENCH_LAYOUTS["medium"]


@pytest.mark.parametrize("maze", list(TASK_CELLS))
def test_the_pairs_are_ogbenchs(maze: str) -> None:
    environment = make_ogbench_maze(maze)
    found = tuple((tuple(task["init_ij"]), tuple(task["goal_ij"])) for task in environment.task_infos)
    assert found == TASK_CELLS[maze]
    centres = OGBENCH_LAYOUTS[maze].centre(np.array(TASK_CELLS[maze]))
    assert np.allclose(centres, [[task["init_xy"], task["goal_xy"]] for task in environment.task_infos])
    assert environment._goal_tol == Balls.tolerance
    assert environment._noise * environment._maze_unit / 4 == NOISE


def test_episodes_are_moved_by_noise_and_reproducible() -> None:
    one, same, other = (Episodes.draw("large", (2, 5), 200, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.starts, same.starts)
    assert not np.array_equal(one.goals, other.goals)
    moved = one.goals - OGBENCH_LAYOUTS["large"].centre(np.array([(7, 1)] * 200 + [(5, 4)] * 200))
    assert 0.95 < np.abs(moved).max() <= 1.0
    assert list(np.unique(one.tasks)) == [2, 5]


def test_step_truth_agrees_with_the_exact_steps() -> None:
    random = np.random.default_rng(0)
    starts, goals = MEDIUM.random_positions(40, random), MEDIUM.random_positions(5, random)
    found = step_truth(MEDIUM, goals)(jnp.asarray(starts)[:, None], jnp.asarray(goals)[None])
    exact = ball_steps(MEDIUM, np.concatenate([starts, goals]))[:40, 40:]
    assert np.abs(np.asarray(found) - exact).max() < 1.5


def test_interpolated_distances_are_the_models() -> None:
    random, model = np.random.default_rng(0), untrained(MEDIUM)
    starts, goals = MEDIUM.random_positions(300, random), MEDIUM.random_positions(4, random)
    fields = learned_fields(model, MEDIUM, goals, spacing=0.25)
    found = np.asarray(fields(jnp.asarray(starts, jnp.float32)[:, None], jnp.asarray(goals, jnp.float32)[None]))
    direct = model.pairwise(starts, goals)
    assert np.abs(found - direct).max() < 0.01 * direct.max()


@pytest.mark.usefixtures("shared_tables")
def test_the_truth_leads_where_the_straight_line_does_not() -> None:
    # Pair 3: the goal is next door, behind a wall.
    episodes = Episodes.draw("medium", (3,), 6, 0)
    result = evaluate_planning(step_truth(MEDIUM, episodes.goals), "medium", episodes, most_steps=600)
    assert result.total.successes == 6
    # Wilson's 95% interval of 6 of 6: from 1 / (1 + 1.96**2 / 6) to 1.
    assert result.total.interval == pytest.approx((1 / (1 + 1.959964**2 / 6), 1.0), abs=1e-6)
    assert 1 < result.total.path_ratio < 4
    for path, goal in zip(result.paths, episodes.goals, strict=True):
        assert MEDIUM.clearance(path).min() > 0.6
        away = np.hypot(*(path - goal).T)
        assert away[-1] <= Balls.tolerance < away[:-1].min()
    straight = evaluate_planning(euclidean, "medium", episodes, most_steps=200)
    assert straight.total.successes == 0
    assert json.loads(json.dumps(straight.as_dict(), allow_nan=False))["total"]["mean_steps"] is None


@pytest.mark.usefixtures("shared_tables")
def test_the_same_seed_walks_the_same_paths() -> None:
    episodes = Episodes.draw("medium", (1, 4), 2, 0)
    one, same, other = (evaluate_planning(euclidean, "medium", episodes, seed=s, most_steps=40) for s in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(one.paths, same.paths, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(one.paths, other.paths, strict=True))


@pytest.mark.parametrize("goal", [(8.0, 0.0), (500.0, 500.0), (float("nan"), 0.0)])
def test_a_goal_in_a_wall_is_refused(goal: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="lies in a wall of the medium maze or outside it"):
        Episodes.towards("medium", goal, 2, 0)


def test_numbers_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="numbered 1 to 5; 6 is not one"):
        Episodes.draw("medium", (1, 6), 2, 0)
    with pytest.raises(InputError, match="0 episodes"):
        Episodes.draw("medium", (1,), 0, 0)
