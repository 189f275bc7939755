"""Truth of the grid worlds against a search over the real environments; recipes against real roll-outs."""

from __future__ import annotations

from collections import Counter, deque
from functools import cache
from itertools import pairwise
from typing import Any

import gymnasium
import numpy as np
import pytest
from scipy.stats import chi2

from minaction.environments._collect import collect
from minaction.environments._noisy_grid import NoisyGridWorld
from minaction.errors import InputError
from minaction.tasks import Source
from minaction.tasks._base import Task
from minaction.tasks._gridworlds import TASKS, CliffWalkingTask, KeyDoorTask, NoisyGridTask

IDS = {
    "cliffwalking": "minaction/CliffWalking-v0",
    "keydoor-gridworld": "minaction/KeyDoorGridWorld-v0",
    "noisy-gridworld": "minaction/NoisyGridWorld-v0",
}
State = tuple[float, ...]


@cache
def stepped_graph(name: str) -> dict[State, set[State]]:
    """Every state that can be met, and what follows it, found by stepping the environment everywhere."""
    environment = gymnasium.make(IDS[name]).unwrapped
    attempts = 1
    options: dict[str, Any] = {}
    if name == "noisy-gridworld":
        attempts, options = 25, {"state": (0.5, 0.5)}  # actions slip: missing a move has probability 1e-20
    _, info = environment.reset(seed=0, options=options)
    start = tuple(info["state"].tolist())
    follows: dict[State, set[State]] = {}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        if state in follows:
            continue
        follows[state] = set()
        for action in list(range(4)) * attempts:
            environment.reset(options={"state": state})
            _, _, ended, _, info = environment.step(action)
            after = tuple(info["state"].tolist())
            follows[state].add(after)
            if ended:
                follows[after] = set()
            waiting.append(after)
    return follows


def breadth_first_distances(follows: dict[State, set[State]], source: State) -> dict[State, int]:
    distances, waiting = {source: 0}, deque([source])
    while waiting:
        state = waiting.popleft()
        for after in follows[state]:
            if after not in distances:
                distances[after] = distances[state] + 1
                waiting.append(after)
    return distances


def state_of(name: str, observation: np.ndarray) -> State:
    if name == "cliffwalking":
        return tuple(np.rint(observation * (11, 3)).astype(int).tolist())
    if name == "keydoor-gridworld":
        return tuple(np.rint(observation * (12, 12, 1)).astype(int).tolist())
    return tuple((np.rint(observation[:2] * 26) / 2).tolist())  # cell centres are multiples of one half


@pytest.mark.parametrize("name", TASKS)
def test_members_follow_the_contract(name: str) -> None:
    task = TASKS[name]
    assert isinstance(task, Task)
    assert task.name == name
    assert task.fresh_data_per_seed
    assert "\n" not in task.summary


@pytest.mark.parametrize(
    ("name", "count"), [("cliffwalking", 37), ("keydoor-gridworld", 336), ("noisy-gridworld", 169)]
)
def test_truth_equals_a_search_that_steps_the_environment_everywhere(name: str, count: int) -> None:
    follows = stepped_graph(name)
    truth = TASKS[name].truths()[0]
    sources = [state_of(name, row) for row in truth.sources]
    targets = [state_of(name, row) for row in truth.targets]
    assert (truth.name, truth.unit) == ("true", "steps")
    assert len(set(sources)) == len(sources) == count
    expected = np.full(truth.distances.shape, np.inf)
    for i, source in enumerate(sources):
        found = breadth_first_distances(follows, source)
        expected[i] = [found.get(target, np.inf) for target in targets]
    np.testing.assert_array_equal(truth.distances, expected)


def test_truth_covers_every_state_the_environment_can_be_in() -> None:
    for name, task in TASKS.items():
        covered = {state_of(name, row) for row in task.truths()[0].sources}
        missing = set(stepped_graph(name)) - covered
        assert missing == ({(11, 3)} if name == "cliffwalking" else set())  # the goal is left out there


def test_losing_the_key_is_impossible() -> None:
    for state, following in stepped_graph("keydoor-gridworld").items():
        assert all(after[2] >= state[2] for after in following)
    truth = TASKS["keydoor-gridworld"].truths()[0]
    has_key = truth.sources[:, 2] == 1
    assert np.isinf(truth.distances[np.ix_(has_key, ~has_key)]).all()
    door = (truth.sources == np.array([6 / 12, 9 / 12, 1], np.float32)).all(axis=1)
    assert np.isfinite(truth.distances[np.ix_(~has_key, has_key)]).all()
    assert np.isfinite(truth.distances[:, door]).all()
    assert np.isfinite(truth.distances[door]).sum() == 1  # the episode is over: only the door itself is left
    for k in range(100):
        key = TASKS["keydoor-gridworld"].trajectories(1).episode(k)[:, 2]
        assert (np.diff(key) >= 0).all()


def test_noisy_truth_is_the_manhattan_distance_seen_with_fresh_noise() -> None:
    task = NoisyGridTask()
    truth, again = task.truths()[0], task.truths()[0]
    position, goal = truth.sources[:, None, :2] * 13, truth.targets[None, :, :2] * 13
    np.testing.assert_allclose(truth.distances, np.abs(position - goal).sum(axis=-1), atol=1e-5)
    np.testing.assert_array_equal(truth.sources[:, :2], truth.targets[:, :2])
    noise = np.concatenate([truth.sources[:, 2:], truth.targets[:, 2:]])
    assert len(np.unique(noise)) == noise.size
    np.testing.assert_allclose(noise.std(), 0.1, rtol=0.15)
    assert truth.sources.tobytes() == again.sources.tobytes()  # the same judge for every data seed
    for seed in range(3):
        assert not np.isin(noise, task.trajectories(seed).states[:, 2:]).all(axis=1).any()


@pytest.mark.parametrize("name", ["cliffwalking", "keydoor-gridworld"])
@pytest.mark.parametrize("seed", [0, 1])
def test_observed_truth_searches_the_recorded_transitions(name: str, seed: int) -> None:
    source = Source(name, (seed,))
    data = source.data(seed)
    true, observed = source.truths(seed)
    assert data.fingerprint == TASKS[name].trajectories(seed).fingerprint
    follows: dict[State, set[State]] = {state_of(name, row): set() for row in data.distinct.states}
    for k in range(data.num_episodes):
        visited = [state_of(name, row) for row in data.episode(k)]
        for now, after in pairwise(visited):
            follows[now].add(after)
    judged = {state_of(name, row): i for i, row in enumerate(true.sources)}
    states = [state_of(name, row) for row in observed.sources]
    assert (observed.name, observed.unit) == ("observed", "steps")
    assert set(states) == set(follows) & set(judged)
    for i, source in enumerate(states):
        found = breadth_first_distances(follows, source)
        np.testing.assert_array_equal(observed.distances[i], [found.get(target, np.inf) for target in states])
    rows = [judged[state] for state in states]
    assert (observed.distances >= true.distances[np.ix_(rows, rows)]).all()  # data can only miss short cuts


@pytest.mark.parametrize("name", TASKS)
def test_the_same_seed_gives_the_same_bytes(name: str) -> None:
    task = TASKS[name]
    first, second = task.trajectories(7), task.trajectories(7)
    assert first.states.tobytes() == second.states.tobytes()
    assert first.offsets.tobytes() == second.offsets.tobytes()
    assert first.fingerprint != task.trajectories(8).fingerprint


def test_data_does_not_touch_numpys_global_generator() -> None:
    before = np.random.get_state()[1].tobytes()  # type: ignore[index,union-attr]  # noqa: NPY002
    for task in TASKS.values():
        task.trajectories(0)
        task.truths()
    assert np.random.get_state()[1].tobytes() == before  # type: ignore[index,union-attr]  # noqa: NPY002


@pytest.mark.parametrize("name", TASKS)
def test_episodes_have_as_many_actions_as_the_papers_and_end_only_at_a_goal(name: str) -> None:
    longest, ended = 102 if name == "cliffwalking" else 101, 0  # states: one more than actions
    for seed in range(8):
        data = TASKS[name].trajectories(seed)
        assert data.num_episodes == 100
        assert data.lengths.max() == longest
        for k in range(100):
            visited = [state_of(name, row) for row in data.episode(k)]
            goals = [i for i, s in enumerate(visited) if s == {"cliffwalking": (11, 3)}.get(name, (6, 9, 1))]
            assert goals in ([], [len(visited) - 1])
            assert goals or len(visited) == longest
            ended += len(goals)
    if name == "cliffwalking":
        assert ended > 0


@pytest.mark.parametrize("name", ["cliffwalking", "keydoor-gridworld"])
def test_recorded_transitions_lie_in_the_true_graph(name: str) -> None:
    follows = stepped_graph(name)
    for seed in range(3):
        data = TASKS[name].trajectories(seed)
        for k in range(data.num_episodes):
            visited = [state_of(name, row) for row in data.episode(k)]
            assert all(b in follows[a] for a, b in pairwise(visited))


def test_recorded_moves_of_the_noisy_grid_are_one_cell_along_one_axis_or_none() -> None:
    data = TASKS["noisy-gridworld"].trajectories(0)
    for k in range(data.num_episodes):
        moves = np.diff(data.episode(k)[:, :2] * 13, axis=0)
        np.testing.assert_allclose(moves, np.rint(moves), atol=1e-5)
        assert set(np.abs(np.rint(moves)).sum(axis=1)) <= {0, 1}


@pytest.mark.parametrize("name", TASKS)
def test_the_recipe_agrees_with_rolling_the_environment_out(name: str) -> None:
    """Cells at one fixed time are independent between episodes, as a chi-square test needs them."""
    episodes, time = 600, 9
    made = TASKS[name].trajectories(11, episodes)
    rolled = collect(IDS[name], episodes, seed=12, max_steps=time)
    sides = {"cliffwalking": (11, 3), "keydoor-gridworld": (12, 12), "noisy-gridworld": (4, 4)}[name]

    def cells(data: Any) -> Counter[State]:
        there = [data.episode(k)[time, :2] for k in range(episodes) if data.lengths[k] > time]
        return Counter(tuple(np.floor(row * sides + 1e-3).tolist()) for row in there)

    counts = [cells(made), cells(rolled)]
    common = [cell for cell in counts[0] | counts[1] if counts[0][cell] + counts[1][cell] >= 10]
    table = np.array([[count[cell] for cell in common] for count in counts])
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    statistic = ((table - expected) ** 2 / expected).sum()
    assert len(common) > 8
    assert statistic < chi2.ppf(0.9999, len(common) - 1)


def test_layouts_put_every_judged_state_on_its_own_pixel() -> None:
    shapes = {"cliffwalking": (4, 12), "keydoor-gridworld": (13, 27), "noisy-gridworld": (13, 13)}
    for name, task in TASKS.items():
        layout = task.layout()
        assert layout is not None
        assert layout.shape == shapes[name]
        assert len(np.unique(layout.pixels, axis=0)) == len(layout.pixels) == len(layout.states)
        judged = task.truths()[0].sources
        if name != "noisy-gridworld":
            assert {row.tobytes() for row in layout.states} == {row.tobytes() for row in judged}
        for state, (row, column) in zip(layout.states, layout.pixels, strict=True):
            x, y, *rest = state_of(name, state)
            if name == "keydoor-gridworld":
                x += 14 * rest[0]
            assert (int(x), int(y)) == (column, row)
    noisy = NoisyGridTask().layout()
    assert (noisy.states[:, 2:] == 0).all()
    assert 13 not in KeyDoorTask().layout().pixels[:, 1]  # the gap between the boards
    assert not ((CliffWalkingTask().layout().pixels[:, 0] == 3) & (CliffWalkingTask().layout().pixels[:, 1] > 0)).any()


def test_the_noise_of_a_task_can_be_chosen() -> None:
    task = NoisyGridTask(world=NoisyGridWorld(sigma=2.0))
    data = task.trajectories(0)
    np.testing.assert_allclose(data.states[:, 2:].std(), 2.0, rtol=0.05)
    np.testing.assert_allclose(task.truths()[0].sources[:, 2:].std(), 2.0, rtol=0.2)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="episodes"):
        CliffWalkingTask().trajectories(0, episodes=0)
    with pytest.raises(InputError, match="seed"):
        CliffWalkingTask().trajectories(-1)
