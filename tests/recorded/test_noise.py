"""Noise of measurement: told from motion, and kept out of the pace."""

from __future__ import annotations

import numpy as np
import pytest

from minaction.recorded import recorded_distance
from minaction.recorded._noise import noisy_inputs
from minaction.trajectories import Trajectories

from .worlds import ball_walks

_SPEED = 0.3


def patrols(noise: float, lost: float = 0.0, episodes: int = 100, rows: int = 80, seed: int = 7) -> Trajectories:
    """A robot that drives straight from one point of a square to the next, measured with noise; rows may be lost."""
    random = np.random.default_rng(seed)
    walks, times = [], []
    for _ in range(episodes):
        place, aim = random.uniform(0, 10, (2, 2))
        walk = []
        for _ in range(rows):
            walk.append(place)
            if np.linalg.norm(aim - place) < _SPEED:
                aim = random.uniform(0, 10, 2)
            place = place + _SPEED * (aim - place) / np.linalg.norm(aim - place)
        kept = np.flatnonzero(random.random(rows) >= lost)
        walks.append((np.array(walk) + random.normal(0, noise, (rows, 2)))[kept])
        times.append(kept.astype(float))
    return Trajectories.from_episodes(walks, times if lost else None)


def _ratio(data: Trajectories) -> float:
    places = np.random.default_rng(1).uniform(1, 9, (40, 2))
    true = np.linalg.norm(places[:, None] - places, axis=2) / _SPEED
    return float(recorded_distance(data).pairwise(places).sum() / true.sum())


def _noisy(data: Trajectories) -> list[bool]:
    return noisy_inputs(data, recorded_distance(data)._built.nearness).tolist()


@pytest.mark.parametrize("lost", [0.0, 0.3])
def test_noise_of_measurement_hardly_shortens_distances(lost: float) -> None:
    data = patrols(0.01, lost)
    assert _noisy(data) == [True, True]
    assert _ratio(data) == pytest.approx(0.98, abs=0.02)  # .92 and .91 by the pace of single steps


@pytest.mark.slow
def test_motion_without_noise_and_erratic_motion_are_not_taken_for_noise() -> None:
    exact, erratic = patrols(0.0), ball_walks(100, 100)
    assert _noisy(exact) == _noisy(erratic) == [False, False]
    assert _ratio(exact) == pytest.approx(1, abs=0.01)
    shaken = Trajectories.from_flat(
        erratic.states + np.random.default_rng(0).normal(0, 0.01, erratic.states.shape), erratic.offsets
    )
    assert _noisy(shaken) == [False, False]


def test_each_input_is_judged_by_itself() -> None:
    exact, noisy = patrols(0.0), patrols(0.01)
    data = Trajectories.from_flat(np.column_stack([exact.states[:, 0], noisy.states[:, 1]]), exact.offsets)
    assert _noisy(data) == [False, True]


def test_episodes_shorter_than_the_steps_of_a_pace_count_as_they_are() -> None:
    data = patrols(0.01, episodes=300, rows=30)
    short = patrols(0.01, episodes=300, rows=3, seed=8)
    assert _ratio(data + short) == pytest.approx(0.97, abs=0.03)
    assert _noisy(short) == [False, False]


@pytest.mark.filterwarnings("error")
def test_too_few_rows_to_tell_are_no_noise() -> None:
    """One stretch of five rows, whose early third difference is zero and whose late one is not."""
    data = Trajectories.from_episodes([np.array([[0.0, 0], [1, 1], [2, 2], [3, 3], [4, 9]])])
    assert not any(_noisy(data))
