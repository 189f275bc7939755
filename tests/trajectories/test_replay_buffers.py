"""Replay buffers, filled by the libraries they come from."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import minaction as ma
from minaction.trajectories import as_trajectories


class Counting(gymnasium.Env):
    """Observes (episode, step); an episode has as many steps as its number, and ends or is cut off in turns."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)
    episode = 2

    def reset(self, *, seed=None, options=None) -> Any:
        super().reset(seed=seed)
        self.episode, self.steps = self.episode + 1, 0
        return np.array([self.episode, 0], np.float32), {}

    def step(self, action) -> Any:
        self.steps += 1
        over, cut = self.steps == self.episode, self.episode % 2 == 0
        return np.array([self.episode, self.steps], np.float32), 0.0, over and not cut, over and cut, {}


class Choosing(Counting):
    action_space = gymnasium.spaces.Discrete(2)  # type: ignore[assignment]
    observation_space = gymnasium.spaces.Discrete(20)  # type: ignore[assignment]

    def reset(self, *, seed=None, options=None) -> Any:
        super().reset(seed=seed)
        return 0, {}

    def step(self, action) -> Any:
        return self.steps + 1, *super().step(action)[1:]


def expected(episodes: dict[int, int], first: int = 0) -> list[np.ndarray]:
    """Episode -> how many of its steps were taken; the first begins at step `first`."""
    begins = dict.fromkeys(episodes, 0) | {next(iter(episodes)): first}
    return [np.array([(e, k) for k in range(begins[e], last + 1)]) for e, last in episodes.items()]


def assert_holds(data: ma.Trajectories, episodes: list[np.ndarray]) -> None:
    assert data.lengths.tolist() == [len(one) for one in episodes]
    np.testing.assert_array_equal(data.states, np.concatenate(episodes))


@pytest.fixture
def sb3():
    return pytest.importorskip("stable_baselines3")


def agent(sb3, env, *, size: int = 1000, count: int = 1, **options):
    from stable_baselines3.common.vec_env import DummyVecEnv

    return sb3.SAC("MlpPolicy", DummyVecEnv([env] * count), buffer_size=size, learning_starts=1000, **options)


def test_last_observations_of_episodes_are_there(sb3):
    model = agent(sb3, Counting)
    model.learn(3 + 4 + 5 + 2)
    data = as_trajectories(model.replay_buffer)
    assert_holds(data, expected({3: 3, 4: 4, 5: 5, 6: 2}))
    assert data.actions is not None
    np.testing.assert_array_equal(data.actions[:3], model.replay_buffer.actions[:3, 0])


def test_a_full_ring_begins_with_the_oldest(sb3):
    model = agent(sb3, Counting, size=10)
    model.learn(3 + 4 + 5 + 2)
    assert model.replay_buffer.full
    assert_holds(as_trajectories(model.replay_buffer), expected({4: 4, 5: 5, 6: 2}, first=1))


def test_several_environments_one_after_the_other(sb3):
    model = agent(sb3, Counting, count=2)
    model.learn(2 * 5)
    assert_holds(as_trajectories(model.replay_buffer), 2 * expected({3: 3, 4: 2}))


def test_a_ring_that_saves_memory_lacks_the_last_observation(sb3):
    options = {"optimize_memory_usage": True, "replay_buffer_kwargs": {"handle_timeout_termination": False}}
    model = agent(sb3, Counting, **options)
    model.learn(3 + 4 + 2)
    assert_holds(as_trajectories(model.replay_buffer), expected({3: 2, 4: 3, 5: 1}))


def test_choices_are_one_hot(sb3):
    from stable_baselines3.common.vec_env import DummyVecEnv

    model = sb3.DQN("MlpPolicy", DummyVecEnv([Choosing]), buffer_size=100, learning_starts=1000)
    model.learn(8)
    data = as_trajectories(model.replay_buffer)
    assert data.states.argmax(axis=1).tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1]
    assert data.state_shape == (20,)


def test_a_rollout_is_read_before_it_is_learned_from(sb3):
    from stable_baselines3.common.callbacks import BaseCallback

    class Read(BaseCallback):
        data: ma.Trajectories | None = None

        def _on_step(self) -> bool:
            return True

        def _on_rollout_end(self) -> None:
            self.data = as_trajectories(self.model.rollout_buffer)  # type: ignore[attr-defined]

    model, read = sb3.PPO("MlpPolicy", Counting(), n_steps=9, batch_size=9, n_epochs=1), Read()
    model.learn(9, callback=read)
    assert read.data is not None
    assert_holds(read.data, expected({3: 2, 4: 3, 5: 1}))
    with pytest.raises(ma.InputError, match="shuffled"):
        as_trajectories(model.rollout_buffer)


def test_an_empty_buffer_is_refused(sb3):
    with pytest.raises(ma.InputError, match="empty"):
        ma.fit(agent(sb3, Counting).replay_buffer, steps=1, progress=False)


def test_d3rlpy():
    dataset = pytest.importorskip("d3rlpy.dataset")  # pins an older Gymnasium, and is therefore not among the extras
    states, actions = np.random.default_rng(0).normal(size=(2, 30, 2)).astype(np.float32)
    ends, cuts = np.isin(np.arange(30), [9, 24]), np.isin(np.arange(30), [29])
    buffer = dataset.MDPDataset(states, actions, np.zeros(30), ends.astype(float), cuts.astype(float))
    data = as_trajectories(buffer)
    assert data.lengths.tolist() == [10, 15, 5]
    np.testing.assert_array_equal(data.states, states)
    np.testing.assert_array_equal(data.actions, actions)
