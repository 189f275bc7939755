"""Shaping: what it adds up to, and how much sooner a learner finds the door."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from minaction import get_task
from minaction.environments._key_door import KeyDoorEnvironment
from minaction.errors import InputError
from minaction.uses import ShapedReward

DISCOUNT = 0.97


class ExactDistance:
    """The true distances of KeyDoorGridWorld, looked up."""

    def __init__(self) -> None:
        task = get_task("keydoor-gridworld")
        truth = task.truths()[0]
        self.table, self.number = truth.distances, {row.tobytes(): k for k, row in enumerate(truth.sources)}

    def distance(self, states: Any, goals: Any) -> float:
        return float(self.table[self.number[states.tobytes()], self.number[goals.tobytes()]])


EXACT = ExactDistance()
DOOR = np.array([6 / 12, 9 / 12, 1], dtype=np.float32)


def shaped(**changes: Any) -> ShapedReward:
    return ShapedReward(KeyDoorEnvironment(), EXACT, DOOR, **{"discount": DISCOUNT, **changes})


def discounted_shaping(environment: ShapedReward, actions: list[int]) -> tuple[float, float, Any, bool]:
    """The sum of the shaping, the potential at the start, the last observation, and whether the episode ended."""
    observation, _ = environment.reset(seed=0)
    first, total, ended = environment.potential(observation), 0.0, False
    for step, action in enumerate(actions):
        observation, reward, ended, _, info = environment.step(action)
        assert reward == pytest.approx(info["environment_reward"] + info["shaping"])
        total += DISCOUNT**step * info["shaping"]
    return total, first, observation, ended


def test_shaping_telescopes_while_the_episode_goes_on() -> None:
    environment = shaped(scale=0.5)
    actions = np.random.default_rng(0).integers(0, 4, 200).tolist()
    total, first, last, ended = discounted_shaping(environment, actions)
    assert not ended
    assert first == -0.5 * 23
    assert total == pytest.approx(DISCOUNT**200 * environment.potential(last) - first)


@pytest.mark.parametrize("detour", [[], [1, 0], [3, 2, 1, 0]])
def test_over_an_ended_episode_it_adds_up_to_the_same_whatever_was_done(detour: list[int]) -> None:
    actions = detour + [3] * 10 + [1] * 8 + [2] * 5
    total, first, _, ended = discounted_shaping(shaped(), actions)
    assert ended
    assert total == pytest.approx(-first)


def test_the_potential_is_zero_at_the_end_even_where_a_model_says_otherwise() -> None:
    class Off:
        def distance(self, states: Any, goals: Any) -> float:
            return 5.0 + EXACT.distance(states, goals)

    environment = ShapedReward(KeyDoorEnvironment(), Off(), DOOR, DISCOUNT)
    total, first, _, ended = discounted_shaping(environment, [3] * 10 + [1] * 8 + [2] * 5)
    assert ended
    assert total == pytest.approx(-first)


def steps_of_learning(environment: gymnasium.Env, seed: int, episodes: int = 12) -> int:
    """How many steps tabular Q-learning takes for its first episodes."""
    random, values, total = np.random.default_rng(seed), {}, 0
    for _ in range(episodes):
        observation, _ = environment.reset(seed=seed)
        for _ in range(3000):
            here = values.setdefault(observation.tobytes(), np.zeros(4))
            best = random.choice(np.flatnonzero(here == here.max()))
            action = int(random.integers(4) if random.random() < 0.1 else best)
            observation, reward, ended, _, _ = environment.step(action)
            after = 0.0 if ended else values.setdefault(observation.tobytes(), np.zeros(4)).max()
            here[action] += 0.5 * (float(reward) + DISCOUNT * after - here[action])
            total += 1
            if ended:
                break
    return total


def test_a_learner_needs_fewer_steps() -> None:
    plain = [steps_of_learning(KeyDoorEnvironment(), seed) for seed in range(5)]
    led = [steps_of_learning(shaped(), seed) for seed in range(5)]
    print(f"steps for 12 episodes: plain {plain}, shaped {led}")
    assert max(led) < min(plain)
    assert np.mean(led) < 0.5 * np.mean(plain)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"discount": 0.0}, "discount is 0"),
        ({"discount": 1.5}, "discount is 1.5"),
        ({"scale": -1.0}, "scale of the shaping is -1"),
        ({"goal": [0.0, 0.0]}, r"a recorded observation has \(3,\)"),
    ],
)
def test_bad_input_is_refused(changes: dict, sentence: str) -> None:
    options = {"goal": DOOR, "discount": DISCOUNT, **changes}
    with pytest.raises(InputError, match=sentence):
        ShapedReward(KeyDoorEnvironment(), EXACT, **options)


def test_a_distance_that_is_infinite_is_refused() -> None:
    environment = ShapedReward(KeyDoorEnvironment(), EXACT, np.array([0, 0, 0], np.float32))
    with pytest.raises(InputError, match="it must be finite"):
        environment.reset(options={"state": [5, 5, 1]})


class Camera(gymnasium.Env[np.ndarray, np.int64]):
    """Shows how many steps were taken as so many white pixels."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, (4, 4, 1), np.uint8)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        self.frame = np.zeros((4, 4, 1), np.uint8)
        return self.frame, {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.frame.flat[int((self.frame > 0).sum())] = 255
        return self.frame, 0.0, False, False, {}


def test_images_reach_the_model_as_they_are_recorded() -> None:
    class Pixels:
        def distance(self, states: Any, goals: Any) -> float:
            assert states.shape == goals.shape == (4, 4, 1)
            assert states.dtype == goals.dtype == np.uint8
            return float((states != goals).sum())

    environment = ShapedReward(Camera(), Pixels(), np.full((4, 4, 1), 255), discount=1.0)
    environment.reset()
    assert environment.step(0)[1] == 1.0
    with pytest.raises(InputError, match=r"a recorded observation has \(4, 4, 1\)"):
        ShapedReward(Camera(), Pixels(), np.zeros(16))


def test_acting_before_reset_is_refused() -> None:
    with pytest.raises(InputError, match="call reset first"):
        shaped().step(0)
