"""Numbers that go round, such as angles: their ends meet, and passing them is no failed reading."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import minaction as ma
from minaction.trajectories import failed_readings, periods, repaired

TURN = 2 * np.pi
STEP = 0.15


def walks(seed: int = 0, episodes: int = 300, length: int = 60, size: int = 2, low: float = -1.0) -> np.ndarray:
    """Angles (episodes, length + 1, size) that turn by up to `STEP` each, and go on past a full turn."""
    random = np.random.default_rng(seed)
    at = random.uniform(0, TURN, (episodes, size))
    action, seen = random.uniform(low, 1, (episodes, size)), [at]
    for _ in range(length):
        action = np.where(random.random((episodes, 1)) < 0.2, random.uniform(low, 1, (episodes, size)), action)
        at = at + STEP * action
        seen.append(at)
    return np.stack(seen, axis=1)


def recorded(states: np.ndarray) -> ma.Trajectories:
    return ma.Trajectories.from_episodes(list(states.astype(np.float32)))


def from_minus_half(angles: np.ndarray) -> np.ndarray:
    return np.mod(angles + np.pi, TURN) - np.pi


@pytest.mark.parametrize(
    ("change", "period"),
    [
        (lambda angles: np.mod(angles, TURN), TURN),
        (from_minus_half, TURN),
        (lambda angles: np.degrees(np.mod(angles, TURN)), 360.0),
        (lambda angles: 20 * np.mod(angles, TURN) / TURN, 20.0),
        (lambda angles: angles, np.inf),
        (lambda angles: np.clip(angles, 1, TURN - 1), np.inf),
        (lambda angles: np.sin(angles), np.inf),
    ],
    ids=["radians", "radians around 0", "degrees", "a world that goes round", "goes on", "has ends", "a sine"],
)
@pytest.mark.parametrize("low", [-1.0, 0.1], ids=["both ways", "one way"])
def test_what_goes_round_is_told(change: Callable[[np.ndarray], np.ndarray], period: float, low: float) -> None:
    assert periods(recorded(change(walks(low=low)))) == pytest.approx([period, period], rel=1e-3)


def test_falls_and_leaps_do_not_go_round() -> None:
    """Back to the start from anywhere; or from one end to the other in one step, but never the other way."""
    random = np.random.default_rng(3)
    heights = np.clip(np.cumsum(random.uniform(-0.5, 0.6, (200, 80, 1)), axis=1), 0, 10)
    falls = np.where(random.random(heights.shape) < 0.05, 0.0, heights)
    assert periods(recorded(falls)) == [np.inf]
    at, seen = random.uniform(0, 10, (300, 1)), []
    for _ in range(80):
        at = np.abs(at + random.uniform(-0.5, 0.5, at.shape))
        at = np.where(at > 10, 0.0, at)
        seen.append(at)
    assert periods(recorded(np.stack(seen, axis=1))) == [np.inf]


@pytest.mark.parametrize("wrapped", [from_minus_half, lambda angles: np.degrees(np.mod(angles, TURN))])
def test_shortest_ways_pass_the_end(wrapped: Callable[[np.ndarray], np.ndarray]) -> None:
    graph = ma.recorded_distance(recorded(wrapped(walks())))
    angles = np.random.default_rng(1).uniform(0, TURN, (60, 2))
    apart = np.abs(angles[:, None] - angles[None])
    true = np.minimum(apart, TURN - apart).max(axis=2) / STEP
    found = ma.agreement(graph.pairwise(wrapped(angles).astype(np.float32)), true)
    assert found.pearson > 0.97
    assert found.mean_ratio == pytest.approx(1.0, abs=0.08)


def test_one_way_round_it_is_far_to_what_lies_behind() -> None:
    graph = ma.recorded_distance(recorded(np.mod(walks(size=1, low=0.2), TURN)))
    there, back = graph.pairwise([[6.0]], [[0.3]])[0, 0], graph.pairwise([[0.3]], [[6.0]])[0, 0]
    assert there == pytest.approx((TURN - 5.7) / STEP, abs=2.5)
    assert back == pytest.approx(5.7 / STEP, rel=0.15)


def test_passing_the_end_is_no_failed_reading_and_a_spike_is_one() -> None:
    clean = from_minus_half(walks())
    assert failed_readings(recorded(clean)) == {}
    spiked, random = clean.copy(), np.random.default_rng(2)
    episode, row = random.permutation(300)[:40], random.integers(5, 55, 40)
    spiked[episode, row, 0] = from_minus_half(spiked[episode, row, 0] + random.uniform(1.5, 4.5, 40))
    mended = repaired(recorded(spiked)).states.reshape(clean.shape)
    assert np.abs(mended).max() <= np.pi + 1e-3
    assert np.abs(from_minus_half(mended - clean))[episode, row, 0].max() < 2 * STEP
