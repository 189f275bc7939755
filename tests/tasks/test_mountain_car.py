"""MountainCar against Gymnasium's own environment, and its truth against recordings, enumeration and roll-outs."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from minaction.environments import _mountain_car as car
from minaction.errors import InputError
from minaction.tasks import _mountain_car as mountain_car
from minaction.tasks._base import Task
from minaction.tasks._mountain_car import TOLERANCE, MountainCarTask, random_episodes, search


def gymnasium_step(state: np.ndarray, action: int) -> tuple[np.ndarray, bool]:
    """One step of the real environment, in its own precision."""
    environment: Any = ENVIRONMENT
    environment.state = tuple(state.tolist())
    _, _, ended, _, _ = environment.step(action)
    return np.array(environment.state, dtype=np.float64), ended


ENVIRONMENT = gymnasium.make("MountainCar-v0").unwrapped


def anywhere(count: int, seed: int) -> np.ndarray:
    """Recorded states from which the car can still go on."""
    states = random_episodes(60, seed).states
    return np.random.default_rng(seed).choice(states[~car.terminal(states)], count, replace=False).astype(np.float64)


def test_member_follows_the_contract() -> None:
    task = MountainCarTask()
    assert isinstance(task, Task)
    assert task.fresh_data_per_seed
    assert mountain_car.TASKS[task.name] == task


def test_rules_are_those_of_gymnasium() -> None:
    random = np.random.default_rng(0)
    states = random.uniform(car.LOWEST, car.HIGHEST, (2000, 2))
    states[:50, 0] = random.uniform(-1.2, -1.15, 50)  # at the wall
    states[50:100] = random.uniform((0.45, -0.01), (0.55, 0.01), (50, 2))  # on top, rolling on or back
    actions = random.integers(0, 3, len(states))
    expected = [gymnasium_step(state, action) for state, action in zip(states, actions.tolist(), strict=True)]
    after = car.step(states, actions)
    np.testing.assert_allclose(after, [state for state, _ in expected], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(car.terminal(after), [ended for _, ended in expected])
    assert (after[:, 0] == -1.2).any()
    assert car.terminal(after).any()
    everything = np.concatenate([car.step(states, np.full(len(states), action)) for action in range(3)])
    np.testing.assert_array_equal(np.unique(car.after_every_action(states), axis=0), np.unique(everything, axis=0))


def test_recordings_are_episodes_of_gymnasium() -> None:
    data = MountainCarTask().trajectories(3, episodes=25, keep_actions=True)
    assert data.actions is not None
    for k in range(25):
        states, actions = data.episode(k).astype(np.float64), data.actions[data.offsets[k] : data.offsets[k + 1], 0]
        ends = []
        for now, after, action in zip(states[:-1], states[1:], actions.astype(int).tolist(), strict=False):
            expected, ended = gymnasium_step(now, action)
            np.testing.assert_allclose(after, expected, atol=5e-7)
            ends.append(ended)
        assert not any(ends[:-1])
        assert ends[-1] or len(states) == 101


def test_recordings_have_the_promised_size_and_cover_the_box() -> None:
    task = MountainCarTask()
    data = task.trajectories(0)
    assert data.num_episodes == 800
    assert 65_000 < data.num_states < 70_000
    assert data.actions is None
    starts = data.states[data.offsets[:-1]]
    low, high = np.quantile((starts - car.LOWEST) / ((0.5, 0.07) - car.LOWEST), [0.25, 0.75], axis=0)
    np.testing.assert_allclose([low, high], [[0.25, 0.25], [0.75, 0.75]], atol=0.05)


def test_same_seed_same_bytes() -> None:
    task = MountainCarTask()
    assert task.trajectories(5).fingerprint == task.trajectories(5).fingerprint
    assert task.trajectories(5).fingerprint != task.trajectories(6).fingerprint
    with pytest.raises(InputError, match="at least 1"):
        task.trajectories(0, episodes=0)


def test_no_truth_exceeds_a_recorded_gap() -> None:
    data = random_episodes(24, seed=11)
    sources = data.offsets[:-1] + np.arange(24) % 7  # early in every episode, so that gaps of every length follow
    sources = sources[sources + 1 < data.offsets[1:]]
    places = np.arange(data.num_states)
    gap = places - sources[:, None]
    episode = np.repeat(np.arange(24), data.lengths)
    same = episode == episode[sources][:, None]
    states = data.states.astype(np.float64)
    found = search().least_steps(states[sources], states)
    counted = same & (gap > 0)
    assert counted.sum() > 1500
    assert (found[counted] <= gap[counted]).all()
    assert (found[counted] == gap[counted]).mean() > 0.05  # and it is no empty bound


def test_near_truth_equals_trying_out_every_sequence_of_actions() -> None:
    depth = 7
    for source in anywhere(6, seed=2):
        levels = [source[None]]
        for _ in range(depth):
            now = levels[-1][~car.terminal(levels[-1])]
            levels.append(np.concatenate([car.step(now, np.full(len(now), action)) for action in range(3)]))
        targets = np.concatenate([level[:: max(1, len(level) // 15)] for level in levels[1:]])
        there = [(np.abs(level[:, None] - targets) <= TOLERANCE).all(axis=2).any(axis=0) for level in levels[1:]]
        expected = np.argmax(there, axis=0) + 1
        np.testing.assert_array_equal(search().least_steps(source[None], targets)[0], expected)


def test_a_way_in_gymnasium_arrives_in_the_time_promised() -> None:
    sources, targets = anywhere(10, seed=3), anywhere(10, seed=4)
    promised = np.diag(search().least_steps(sources, targets))
    ways = [search().path(source, target) for source, target in zip(sources, targets, strict=True)]
    for source, target, steps, way in zip(sources, targets, promised, ways, strict=True):
        if way is None:
            assert np.isinf(steps)
            continue
        assert len(way) - 1 == steps
        np.testing.assert_array_equal(way[0], source)
        assert (np.abs(way[-1] - target) <= TOLERANCE).all()
        now = source
        for after in way[1:]:
            followed = [gymnasium_step(now, action)[0] for action in range(3)]
            now = followed[int(np.argmin([np.abs(state - after).max() for state in followed]))]
            np.testing.assert_allclose(now, after, atol=1e-11)
    assert np.isfinite(promised).sum() >= 8


def test_finer_cells_change_little() -> None:
    sources, targets = anywhere(8, seed=5), anywhere(200, seed=6)
    coarse = search().least_steps(sources, targets)
    fine = search(search().cell / 2).least_steps(sources, targets)
    np.testing.assert_array_equal(np.isinf(coarse), np.isinf(fine))
    change = fine[np.isfinite(fine)] - coarse[np.isfinite(fine)]
    assert (change == 0).mean() > 0.96
    assert (np.abs(change) > 2).mean() < 0.005
    assert -0.3 < change.mean() <= 0.1


def test_top_can_be_reached_and_not_be_left() -> None:
    below = np.array([[-0.5, 0.0], [0.49, 0.02]])
    top = np.array([[0.511, 0.021]])  # a push ahead from the second
    from_below, from_top = search().least_steps(below, top), search().least_steps(top, below)
    assert from_below[1, 0] == 1
    assert 80 < from_below[0, 0] < 120  # good policies need about a hundred steps from the bottom
    assert np.isinf(from_top).all()


def test_judged_states_are_fixed_and_below_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mountain_car, "_JUDGED_STATES", 6)
    truth, again = mountain_car._truth.__wrapped__(), mountain_car._truth.__wrapped__()
    assert (truth.name, truth.unit) == ("true", "steps")
    assert truth.sources.dtype == np.float32
    assert not car.terminal(truth.sources).any()
    assert (np.diag(truth.distances) == 0).all()
    assert (truth.distances[~np.eye(6, dtype=bool)] >= 1).all()
    np.testing.assert_array_equal(truth.distances, again.distances)


@pytest.mark.slow
def test_truth_of_all_pairs() -> None:
    task = MountainCarTask()
    (truth,) = task.truths()
    assert truth.distances.shape == (200, 200)
    finite = np.isfinite(truth.distances)
    assert 0.9 < finite.mean() < 1
    assert 100 < truth.distances[finite].max() < 200
    assert task.truths()[0] is truth


def test_picture_is_position_by_velocity() -> None:
    layout = MountainCarTask().layout()
    assert (layout.pixels >= 0).all()
    assert (layout.pixels < layout.shape).all()
    assert len(np.unique(layout.pixels, axis=0)) == len(layout.states)
    upper_left = layout.states[(layout.pixels == 0).all(axis=1)][0]
    assert upper_left[0] < -1.17
    assert upper_left[1] > 0.067
    assert layout.states[:, 0].max() < 0.5
