"""Ground that slows a robot down, and currents that carry it along: what nobody did fast is not taken for fast."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import minaction as ma

SIDE, FASTEST = 20.0, 0.5
Field = Callable[[np.ndarray], np.ndarray]


def everywhere(_: np.ndarray) -> np.ndarray:
    return np.ones(len(_))


def mud(at: np.ndarray) -> np.ndarray:
    return np.where(at[:, 0] > 10, 0.3, 1.0)


def still(at: np.ndarray) -> np.ndarray:
    return np.zeros_like(at)


def river(at: np.ndarray) -> np.ndarray:
    """It flows towards growing y where x is between 7 and 13."""
    return np.stack([np.zeros(len(at)), np.where(np.abs(at[:, 0] - 10) < 3, 0.4, 0.0)], axis=1)


def walks(pace: Field, current: Field, seed: int = 0, episodes: int = 250, length: int = 60) -> ma.Trajectories:
    random = np.random.default_rng(seed)
    at = random.uniform(0, SIDE, (episodes, 2))
    action, seen = random.uniform(-1, 1, (episodes, 2)), [at]
    for _ in range(length):
        action = np.where(random.random((episodes, 1)) < 0.2, random.uniform(-1, 1, (episodes, 2)), action)
        at = np.clip(at + FASTEST * action * pace(at)[:, None] + current(at), 0, SIDE)
        seen.append(at)
    return ma.Trajectories.from_episodes(list(np.stack(seen, axis=1).astype(np.float32)))


@pytest.fixture(scope="module")
def muddy() -> ma.RecordedDistance:
    return ma.recorded_distance(walks(mud, still))


@pytest.mark.parametrize(
    ("start", "goal", "time"),
    [
        ((2.0, 3.0), (2.0, 15.0), 12 / 0.5),
        ((18.0, 3.0), (18.0, 15.0), 12 / 0.15),
        ((4.0, 10.0), (16.0, 10.0), 6 / 0.5 + 6 / 0.15),
        ((12.0, 2.0), (12.0, 18.0), 2 * 2 / 0.15 + 12 / 0.5),  # out of the mud, along it and in again
    ],
    ids=["beside the mud", "in the mud", "into the mud", "around rather than through"],
)
def test_mud_takes_as_long_as_it_took(
    muddy: ma.RecordedDistance, start: tuple[float, float], goal: tuple[float, float], time: float
) -> None:
    assert muddy.pairwise([start], [goal])[0, 0] == pytest.approx(time, rel=0.1)


def test_a_river_carries_one_way() -> None:
    graph = ma.recorded_distance(walks(everywhere, river))
    source, mouth = [[10.0, 2.0]], [[10.0, 18.0]]
    assert graph.pairwise(source, mouth)[0, 0] == pytest.approx(16 / 0.9, rel=0.15)
    # Against it, a path leaves the river, goes along it, and enters it again, at full pace in x and y at once.
    assert graph.pairwise(mouth, source)[0, 0] == pytest.approx((16 - 2 * 3) / 0.5 + 2 * 3 / 0.5, rel=0.3)


def check_even(graph: ma.RecordedDistance) -> None:
    states = np.random.default_rng(1).uniform(1, SIDE - 1, (60, 2)).astype(np.float32)
    true = np.abs(states[:, None] - states[None]).max(axis=2) / FASTEST
    found = ma.agreement(graph.pairwise(states), true)
    assert found.pearson > 0.995
    assert found.mean_ratio == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
def test_firm_ground_is_even() -> None:
    check_even(ma.recorded_distance(walks(everywhere, still)))


def test_waiting_does_not_make_the_ground_slow() -> None:
    """Those who stay somewhere most of the time are passed by others, who tell how fast one can be there."""
    data, random = walks(everywhere, still), np.random.default_rng(3)
    episodes = []
    for states in np.split(data.states, data.offsets[1:-1]):
        stay = states[-1] + 0.05 * random.uniform(-1, 1, (60, 2)).astype(np.float32)
        episodes.append(np.concatenate([states, np.clip(stay, 0, SIDE)]))
    check_even(ma.recorded_distance(ma.Trajectories.from_episodes(episodes)))
