"""`ma.validate` on distances whose excess, single steps and verdicts are known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
import pytest

import minaction as ma
from minaction._files import read_json, write_json


class Line:
    """A distance in place of a model: `scale` times the difference of the first numbers, plus `more`."""

    def __init__(self, scale: float = 1.0, more: float = 0.0, shape: tuple[int, ...] = (1,)) -> None:
        self.scale, self.more, self.state_shape = scale, more, shape

    def distance(self, states: np.ndarray, goals: np.ndarray) -> np.ndarray:
        apart = np.abs(goals[..., 0] - states[..., 0])
        return self.scale * apart + self.more * (apart > 0)


def _validate(model: Line, held_out: ma.Trajectories, training: ma.Trajectories | None = None) -> ma.Health:
    return ma.validate(cast(Any, model), held_out, training)


def _straight(count: int, start: float = 0.0, length: int = 11) -> ma.Trajectories:
    return ma.Trajectories.from_episodes([start + np.arange(length, dtype=float)] * count)


def test_a_right_distance_has_no_excess_and_nothing_to_complain_of() -> None:
    health = _validate(Line(), _straight(3), _straight(5))
    assert (health.episodes, health.excess, health.single_step, health.recorded_share) == (3, 0.0, 1.0, 1.0)
    assert health.novel_pairs == 0
    assert health.novel_excess is None
    assert health.fine
    assert list(health.excess_by_gap) == ["1", "2 to 9", "10 to 99"]


def test_states_are_the_same_in_another_type() -> None:
    held_out = ma.Trajectories.from_episodes([np.arange(11, dtype=np.float32)] * 3)
    health = _validate(Line(), held_out, _straight(5))
    assert (health.recorded_share, health.novel_pairs) == (1.0, 0)


def test_excess_is_what_is_too_long_over_the_time_it_took() -> None:
    health = _validate(Line(scale=1.25), _straight(3), _straight(3))
    assert health.excess == pytest.approx(0.25)
    assert health.excess_by_gap["2 to 9"] == pytest.approx(0.25)
    assert health.single_step == pytest.approx(1.25)


def test_only_pairs_that_training_does_not_bound_are_novel() -> None:
    training = ma.Trajectories.from_episodes([np.arange(6.0)] * 4)  # knows 0 to 5
    held_out = _straight(4)  # goes on to 10
    health = _validate(Line(scale=2.0), held_out, training)
    assert health.novel_pairs is not None
    assert health.novel_pairs > 0
    assert health.novel_excess == pytest.approx(1.0)
    assert health.recorded_share == pytest.approx(6 / 11)
    slower = ma.Trajectories.from_episodes([np.repeat(np.arange(11.0), 2)] * 2)  # two steps for each
    assert _validate(Line(), _straight(4), slower).novel_pairs == 0  # a state that stays does not take longer
    detour = ma.Trajectories.from_episodes([[0.0, 7.0, 1.0, 8.0, 2.0]] * 3)
    short = ma.Trajectories.from_episodes([[0.0, 1.0, 2.0]] * 3)
    found = _validate(Line(), short, detour)  # all pairs are known there, none of them as quick
    assert found.novel_pairs == 3 * 3  # in each of three episodes


def test_without_training_data_nothing_is_called_novel() -> None:
    health = _validate(Line(), _straight(3))
    assert (health.novel_pairs, health.novel_excess, health.recorded_share) == (None, None, None)


def test_times_are_what_distances_are_compared_with() -> None:
    held_out = ma.Trajectories.from_episodes([np.arange(11.0)] * 3, times=[4.0 * np.arange(11)] * 3)
    health = _validate(Line(scale=4.0), held_out, held_out)
    assert (health.excess, health.single_step) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("model", "held_out", "training", "said"),
    [
        (Line(scale=0.31), _straight(3), _straight(3), "undertrained: recorded single steps measure 0.31 where they"),
        (Line(scale=2.0), _straight(3, 100.0), _straight(3), "they measure 100% more"),
        (Line(), _straight(3, 100.0), _straight(3), "recordings hardly overlap: 0% of the held-out states"),
        (Line(scale=0.0, more=1.0), _straight(3), _straight(3), "flat: random pairs measure 1.0 times a single step"),
    ],
)
def test_what_is_wrong_is_said(model: Line, held_out: ma.Trajectories, training: ma.Trajectories, said: str) -> None:
    health = _validate(model, held_out, training)
    assert not health.fine
    assert any(said in sentence for sentence in health.verdict)


def test_continuous_states_overlap_where_they_are_near() -> None:
    random = np.random.default_rng(0)

    def walks(count: int, start: float) -> ma.Trajectories:
        return ma.Trajectories.from_episodes([start + np.cumsum(random.normal(size=60)) for _ in range(count)])

    training = walks(40, 0.0)
    near, far = (_validate(Line(), walks(10, start), training) for start in (0.0, 1e4))
    assert near.recorded_share is not None
    assert near.recorded_share > 0.8
    assert far.recorded_share == 0.0
    assert near.novel_pairs == near.pairs


def test_a_distance_is_compared_with_the_shortest_paths_of_the_recording() -> None:
    random = np.random.default_rng(0)
    walks = [np.clip(np.cumsum(random.choice([-1.0, 1.0], 40)) + 15, 0, 30) for _ in range(40)]
    training, held_out = (ma.Trajectories.from_episodes(some) for some in (walks[:30], walks[30:]))
    right, long = (_validate(Line(scale=scale), held_out, training) for scale in (1.0, 1.4))
    assert right.agreement == pytest.approx(1.0)
    assert right.path_ratio == pytest.approx(1.0)
    assert long.agreement == pytest.approx(1.0)
    assert long.path_ratio == pytest.approx(1.4)

    class Scrambled(Line):
        def distance(self, states: np.ndarray, goals: np.ndarray) -> np.ndarray:
            apart = super().distance(states, goals)
            return np.where(apart > 1, 2.0 + np.sin(37.0 * apart), apart)  # single steps are right, and nothing else

    wrong = _validate(Scrambled(), held_out, training)
    assert wrong.agreement is not None
    assert wrong.agreement < 0.5
    assert any("disagree" in sentence for sentence in wrong.verdict)
    assert _validate(Line(), held_out).agreement is None  # without training data there is no graph


def test_steps_of_different_lengths_are_no_sign_of_too_little_training() -> None:
    random = np.random.default_rng(0)
    walks = [np.clip(15 + np.cumsum(random.uniform(-1, 1, 60)), 0, 30) for _ in range(60)]
    health = _validate(Line(), ma.Trajectories.from_episodes(walks[50:]), ma.Trajectories.from_episodes(walks[:50]))
    assert health.single_step == pytest.approx(0.5, abs=0.05)
    assert health.fine, health.verdict


def test_an_undertrained_default_model_is_told_from_a_trained_one(line_walks: ma.Trajectories) -> None:
    small = ma.PathDist(encoder=ma.MLP(hidden=(64,), latent=32), landmarks=10)
    poor, good = (ma.fit(line_walks, small, steps=steps, held_out=0.1, progress=False).health for steps in (1, 300))
    assert poor is not None
    assert good is not None
    assert not poor.fine
    assert good.fine, good.verdict


def test_states_of_another_world_are_refused() -> None:
    with pytest.raises(ma.InputError, match="world that it was trained on"):
        _validate(Line(shape=(2,)), _straight(3))


def test_it_is_json_and_back(tmp_path: Path) -> None:
    health = _validate(Line(scale=0.31), _straight(3), _straight(3))
    write_json(tmp_path / "health.json", health)
    assert msgspec.json.encode(read_json(tmp_path / "health.json", ma.Health)) == msgspec.json.encode(health)
