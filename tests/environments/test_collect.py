"""Rolling real Gymnasium environments out."""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np
import pytest

from minaction.environments import collect, recorded_shape
from minaction.errors import InputError


class Counting(gymnasium.Env[dict[str, Any], np.int64]):
    """Counts its steps up to `length`, or for ever, and observes a dictionary."""

    def __init__(self, length: int | None = 5) -> None:
        self.length = length
        self.observation_space = gymnasium.spaces.Dict(
            {"level": gymnasium.spaces.Discrete(3), "place": gymnasium.spaces.Box(-1, 1e7, (2,), np.float32)}
        )
        self.action_space = gymnasium.spaces.Discrete(2)
        self.count = 0
        self.place = np.zeros(2, np.float32)
        self.closed = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        self.count += 1
        return self._observation(), 0.0, self.count == self.length, False, {}

    def close(self) -> None:
        self.closed = True

    def _observation(self) -> dict[str, Any]:
        self.place[:] = self.count, -1  # the same array every time: what is recorded must be a copy
        return {"level": self.count % 3, "place": self.place}


def test_cart_pole_is_recorded_as_it_happened() -> None:
    data = collect("CartPole-v1", 6, seed=3, keep_actions=True)
    assert data.num_episodes == 6
    assert data.state_shape == (4,)
    assert data.actions is not None
    assert data.actions.shape == (data.num_states, 2)
    environment = gymnasium.make("CartPole-v1").unwrapped
    for k in range(6):
        episode = data.episode(k)
        chosen = data.actions[data.offsets[k] : data.offsets[k + 1]]
        assert (chosen[-1] == 0).all()
        environment.reset(seed=0)
        environment.state = np.array(episode[0], dtype=np.float64)  # type: ignore[attr-defined]
        ended = False
        for now, action in enumerate(chosen[:-1].argmax(axis=1)):
            assert not ended
            observation, _, ended, _, _ = environment.step(int(action))
            np.testing.assert_allclose(observation, episode[now + 1], atol=1e-5)
        assert ended  # so the terminal observation is the last one


def test_discrete_observations_become_one_hot() -> None:
    data = collect("FrozenLake-v1", 20, seed=0)
    assert data.state_shape == (16,)
    np.testing.assert_array_equal(data.states.sum(axis=1), 1)
    assert set(np.unique(data.states)) == {0, 1}
    assert all(data.episode(k)[0, 0] == 1 for k in range(20))
    holes_and_goal = [5, 7, 11, 12, 15]
    for k in range(20):
        cells = data.episode(k).argmax(axis=1)
        assert cells[-1] in holes_and_goal
        assert not np.isin(cells[:-1], holes_and_goal).any()


def test_dictionaries_are_flattened_and_copied_and_actions_dropped() -> None:
    environment = Counting()
    data = collect(environment, 2)
    expected = [[*np.eye(3)[i % 3], i, -1] for i in range(6)]
    np.testing.assert_array_equal(data.states, expected * 2)
    assert data.offsets.tolist() == [0, 6, 12]
    assert data.actions is None
    assert not environment.closed  # it is the caller's


class Camera(gymnasium.Env[np.ndarray, np.int64]):
    """Shows the same array every time, with the count of its steps in one corner."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, (6, 4, 3), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.frame = np.zeros((6, 4, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.frame[0, 0, 0] = 0
        return self.frame, {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.frame[0, 0, 0] += 1
        return self.frame, 0.0, self.frame[0, 0, 0] == 4, False, {}


def test_images_keep_their_shape_and_type() -> None:
    data = collect(Camera(), 2)
    assert data.state_shape == recorded_shape(Camera().observation_space) == (6, 4, 3)
    assert data.states.dtype == np.uint8
    assert data.states[:, 0, 0, 0].tolist() == [0, 1, 2, 3, 4] * 2


def test_the_same_seed_gives_the_same_bytes() -> None:
    def states(seed: int) -> bytes:
        return collect("CartPole-v1", 4, seed=seed, keep_actions=True).states.tobytes()

    assert states(1) == states(1)
    assert states(1) != states(2)
    used = gymnasium.make("CartPole-v1")
    collect(used, 3, seed=9)  # what happened to an environment before must not matter
    assert collect(used, 4, seed=1).states.tobytes() == states(1)


def test_episodes_of_one_call_differ() -> None:
    data = collect("CartPole-v1", 5, seed=0)
    assert len({data.episode(k)[0].tobytes() for k in range(5)}) == 5


def test_a_policy_decides_and_sees_what_the_environment_gives() -> None:
    seen = []

    def right(observation: Any) -> int:
        seen.append(observation)
        return 1

    data = collect("CartPole-v1", 2, policy=right, keep_actions=True, seed=0)
    assert data.actions is not None
    recorded = np.concatenate([data.episode(k)[:-1] for k in range(2)])
    np.testing.assert_array_equal(np.array(seen), recorded)
    assert (np.delete(data.actions, data.offsets[1:] - 1, axis=0) == [0, 1]).all()


def test_continuous_actions_are_kept_as_they_are() -> None:
    data = collect("Pendulum-v1", 2, policy=lambda _: np.array([0.5], np.float32), max_steps=7, keep_actions=True)
    assert data.lengths.tolist() == [8, 8]
    assert data.actions is not None
    assert data.actions.ravel().tolist() == ([0.5] * 7 + [0.0]) * 2


def test_max_steps_cuts_and_progress_counts() -> None:
    calls: list[tuple[int, int]] = []
    data = collect(Counting(None), 3, max_steps=4, progress=lambda done, of: calls.append((done, of)))
    assert data.lengths.tolist() == [5, 5, 5]
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_our_own_environments_are_known_by_id() -> None:
    assert collect("minaction/CliffWalking-v0", 2, max_steps=3).state_shape == (2,)


def test_bad_input_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="CartPoole"):
        collect("CartPoole-v1", 1)
    with pytest.raises(InputError, match="0 episodes"):
        collect("CartPole-v1", 0)
    with pytest.raises(InputError, match="seed -1"):
        collect("CartPole-v1", 1, seed=-1)
    with pytest.raises(InputError, match="max_steps"):
        collect("CartPole-v1", 1, max_steps=0)
    with pytest.raises(InputError, match="int is no Gymnasium environment"):
        collect(3, 1)  # type: ignore[arg-type]
    endless = Counting(None)
    endless.observation_space = gymnasium.spaces.Sequence(gymnasium.spaces.Discrete(2))  # type: ignore[assignment]
    with pytest.raises(InputError, match="fixed size"):
        collect(endless, 1, max_steps=2)


def test_an_episode_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("minaction.environments._collect")
    monkeypatch.setattr(module, "_ENDLESS_STEPS", 1000)
    with pytest.raises(InputError, match="has not ended after 1000 steps; give max_steps"):
        collect(Counting(None), 1)
