"""The ant's planner: in a toy world where what it says can be recomputed, and in MuJoCo with data of the recipe."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from minaction.errors import InputError
from minaction.mazes._ant import ExactAnt, uprightness
from minaction.mazes._ant_recipes import AntRecipe
from minaction.mazes._ball import make_ogbench_maze
from minaction.mazes._layouts import ANT_LAYOUTS
from minaction.mazes._walking_time import route_lengths
from minaction.planning import (
    DatasetGuided,
    Episodes,
    PlanningResult,
    Segments,
    euclidean,
    evaluate_ant_planning,
    plan_from_data,
    untrained,
    untrained_on,
    walking_truth,
)
from minaction.planning._acting import WalkingAnts
from minaction.planning._episodes import NOISE, TASK_CELLS
from minaction.reports._planning_picture import draw_paths
from minaction.tasks import get_task
from minaction.tasks._ant_mazes import standing_at, walking_speed
from minaction.trajectories import Trajectories

MEDIUM = ANT_LAYOUTS["medium"]
FEW = DatasetGuided(candidates=16, horizon=25, interval=10)


@pytest.fixture(scope="module")
def walks() -> Trajectories:
    """Twelve short episodes of the walking policy."""
    return AntRecipe("medium", "stitch", 101, 5000, 0.2).collect(0, 12, keep_actions=True)


class Ice:
    """Bodies that slide by the first two torques; the third overturns them."""

    def step(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        after = states.copy()
        after[:, :2] += actions[:, :2]
        over = actions[:, 2] > 0.5
        after[over, 3], after[over, 4] = 0.0, 1.0
        return after


def on_ice(seed: int = 0, overturning: float = 0.0) -> Trajectories:
    random = np.random.default_rng(seed)
    states = standing_at(random.uniform(-1, 1, (60, 2)))
    states[:, 7:] = random.standard_normal((60, 22))
    actions = random.uniform(-0.3, 0.3, (60, 8)).astype(np.float32)
    actions[:, 2] = random.random(60) < overturning
    return Trajectories.from_flat(states, np.arange(0, 61, 20), actions=actions)


def test_the_best_way_is_found_and_only_begun() -> None:
    data, settings = on_ice(), DatasetGuided(candidates=40, horizon=5, interval=2)
    here, goals = standing_at(np.zeros((3, 2))), standing_at(np.array([[1, 0], [0, -1], [0.2, 0.2]]))
    actions, scores = plan_from_data(settings, Segments(data, settings), Ice(), euclidean, here, goals)
    assert data.actions is not None
    for k in range(3):
        ways = {}
        for first in [begin + step for begin in (0, 20, 40) for step in range(16)]:
            way = np.cumsum(data.actions[first : first + 5, :2], axis=0)
            ways[float(np.hypot(*(way - goals[k, :2]).T).min())] = data.actions[first : first + 2]
        # 40 of the 48 possible ones were tried.
        rank = np.searchsorted(sorted(ways), scores[k] - 1e-5)
        assert rank <= 8
        np.testing.assert_array_equal(actions[k], ways[sorted(ways)[rank]])


def test_an_ant_is_not_overturned_where_that_can_be_avoided() -> None:
    settings = DatasetGuided(candidates=40, horizon=3, interval=3)
    here, goal = standing_at(np.zeros((1, 2))), standing_at(np.array([[1.0, 0.0]]))
    for share, overturned in ((0.3, False), (1.0, True)):
        data = on_ice(overturning=share)
        actions, _ = plan_from_data(settings, Segments(data, settings), Ice(), euclidean, here, goal)
        assert bool((actions[..., 2] > 0.5).any()) == overturned


def test_candidates_follow_the_states_nearest_by_the_model(walks: Trajectories) -> None:
    assert walks.actions is not None
    model, settings = untrained_on(walks.states), DatasetGuided(candidates=8, horizon=25, nearby=5000)
    state = walks.states[430] + np.float32(0.05)
    found = Segments(walks, settings, model).following(state[None])[0]
    assert found.shape == (8, 25, 8)
    position = np.arange(len(walks.states)) % 101
    allowed = np.flatnonzero((position <= 101 - 25) & (uprightness(walks.states) > 0.5))
    nearest = allowed[np.argsort(np.asarray(model.distance(state, walks.states[allowed])), kind="stable")]
    expected, stretches = [], set()
    for first in nearest:  # of ten consecutive states only one
        if first // 10 not in stretches:
            stretches.add(first // 10)
            expected.append(walks.actions[first : first + 25])
    np.testing.assert_array_equal(found, expected[:8])


def test_from_a_recorded_state_the_recorded_way_is_found_again(walks: Trajectories) -> None:
    settings = DatasetGuided(candidates=1, horizon=15, interval=15)
    first = np.array([0, 215, 640])
    here, goals = walks.states[first].astype(np.float64), walks.states[first + 12].astype(np.float64)
    segments = Segments(walks, settings)
    actions, scores = plan_from_data(settings, segments, ExactAnt("medium", 1), euclidean, here, goals)
    assert walks.actions is not None
    np.testing.assert_array_equal(actions, walks.actions[first[:, None] + np.arange(15)])
    assert scores.max() < 0.02  # but for what was rounded when it was recorded


@pytest.fixture(scope="module")
def reached(walks: Trajectories) -> dict[str, tuple[PlanningResult, np.ndarray]]:
    """What came of 40 steps with the truth and with an untrained network, and how much nearer each ant got."""
    episodes = Episodes.draw("medium", (1, 4), 2, 0)
    truth = walking_truth(MEDIUM, episodes.goals, walking_speed())
    found = {}
    for name, distance in (("truth", truth), ("untrained", untrained_on(walks.states))):
        result = evaluate_ant_planning(distance, "medium", walks, episodes, FEW, most_steps=40)
        ends = np.stack([path[-1] for path in result.paths])
        lengths = route_lengths(MEDIUM, np.concatenate([episodes.starts, ends, episodes.goals]))
        found[name] = result, lengths[:4, 8:].diagonal() - lengths[4:8, 8:].diagonal()
    return found


def test_the_truth_leads_nearer_than_an_untrained_network(reached: dict) -> None:
    nearer = {name: float(gain.mean()) for name, (_, gain) in reached.items()}
    print(nearer)
    assert nearer["truth"] > 2.0
    assert nearer["truth"] > nearer["untrained"] + 1.5


def test_what_came_of_the_episodes_is_told(reached: dict) -> None:
    result, _ = reached["truth"]
    assert [path.shape for path in result.paths] == [(41, 2)] * 4
    assert result.total.successes == 0
    assert result.total.episodes == 4
    assert [one.task for one in result.tasks] == [1, 4]
    told = result.as_dict()
    assert told["settings"] == {"candidates": 16, "horizon": 25, "interval": 10, "nearby": 2048}
    assert told["total"]["path_ratio"] is None


def test_the_paths_are_drawn_over_the_distance_of_standing_ants(
    walks: Trajectories, reached: dict, tmp_path: Path
) -> None:
    layout = get_task("ogbench-antmaze-medium-navigate").layout()
    assert layout is not None
    draw_paths(tmp_path / "paths.png", reached["untrained"][0], untrained_on(walks.states), layout)
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")


def test_a_goal_nearby_is_reached_with_a_ratio_above_one(walks: Trajectories) -> None:
    start = np.array([[0.0, 0.0]])
    episodes = Episodes(np.array([0]), start, start + np.array([2.0, 0.0]))
    result = evaluate_ant_planning(euclidean, "medium", walks, episodes, FEW, most_steps=100)
    assert result.total.successes == 1
    away = np.hypot(*(result.paths[0] - episodes.goals[0]).T)
    assert away[-1] <= 0.5 < away[:-1].min()
    walked = np.hypot(*np.diff(result.paths[0], axis=0).T).sum()
    assert result.total.path_ratio == pytest.approx(walked / 2.0)


def test_the_same_seed_walks_the_same_paths_on_any_number_of_threads(walks: Trajectories) -> None:
    episodes = Episodes.draw("medium", (2,), 2, 0)
    settings = DatasetGuided(candidates=4, horizon=10, interval=5)
    one, same, other = (
        evaluate_ant_planning(euclidean, "medium", walks, episodes, settings, seed, most_steps=10, threads=threads)
        for seed, threads in ((0, 1), (0, 2), (1, 1))
    )
    assert all(np.array_equal(a, b) for a, b in zip(one.paths, same.paths, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(one.paths, other.paths, strict=True))


def test_the_ants_pairs_and_tolerance_are_ogbenchs() -> None:
    environment = make_ogbench_maze("medium", "ant")
    found = tuple((tuple(task["init_ij"]), tuple(task["goal_ij"])) for task in environment.task_infos)
    assert found == TASK_CELLS["medium"]
    assert environment._goal_tol == WalkingAnts.tolerance
    assert environment._noise * environment._maze_unit / 4 == NOISE


def test_the_walking_truth_is_the_length_of_the_shortest_way() -> None:
    random = np.random.default_rng(0)
    starts, goals = MEDIUM.random_positions(40, random), MEDIUM.random_positions(5, random)
    found = np.asarray(walking_truth(MEDIUM, goals, 0.1)(jnp.asarray(starts)[:, None], jnp.asarray(goals)[None]))
    exact = route_lengths(MEDIUM, np.concatenate([starts, goals]))[:40, 40:] / 0.1
    # Eight directions make a way longer by up to 8%; goals are moved to the lattice, by up to 0.15.
    assert (found > exact - 2).all()
    assert (found < 1.083 * exact + 2).all()


@pytest.mark.parametrize("name", ["candidates", "horizon", "interval", "nearby"])
def test_settings_that_mean_nothing_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 0; it must be at least 1"):
        DatasetGuided(**{name: 0})
    with pytest.raises(InputError, match="interval of 60 steps is longer than its horizon of 40"):
        DatasetGuided(interval=60)


def test_data_that_cannot_be_repeated_is_refused() -> None:
    data = on_ice()
    assert data.actions is not None
    with pytest.raises(InputError, match="the data has none; read it with keep_actions"):
        Segments(Trajectories.from_flat(data.states, data.offsets), FEW)
    with pytest.raises(InputError, match="no 25 actions from an upright ant on to repeat: no episode is that long"):
        Segments(data, FEW)
    fallen = data.states.copy()
    fallen[:, 3:5] = (0.0, 1.0)
    with pytest.raises(InputError, match="no state of the data is upright"):
        Segments(Trajectories.from_flat(fallen, data.offsets, actions=data.actions), DatasetGuided(horizon=15))
    with pytest.raises(InputError, match="those of an ant have 29 and 8 numbers"):
        Segments(Trajectories.from_flat(data.states[:, :2], data.offsets, actions=data.actions), FEW)


def test_a_model_of_other_states_or_another_maze_is_refused(walks: Trajectories) -> None:
    episodes = Episodes.draw("medium", (1,), 1, 0)
    with pytest.raises(InputError, match="takes states of 2 numbers, but the simulator's have 29"):
        evaluate_ant_planning(untrained(MEDIUM), "medium", walks, episodes)
    with pytest.raises(InputError, match="no maze for an ant named 'huge'"):
        evaluate_ant_planning(euclidean, "huge", walks, episodes)
    with pytest.raises(InputError, match="no maze of OGBench named 'teleport'"):
        Episodes.draw("teleport", (1,), 1, 0)
