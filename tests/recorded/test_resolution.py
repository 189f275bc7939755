"""Which inputs count, where everybody goes the same way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

import minaction as ma
from minaction.recorded import _resolution
from minaction.recorded._nearness import slowness
from minaction.tasks import Source

from .worlds import ball_walks


def test_noise_is_faster_than_what_takes_time_and_a_constant_is_not_slow() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=2001))
    states = np.stack([walk, rng.normal(size=2001), np.ones(2001)], axis=1)
    slow, noise, constant = slowness(states[:-1], states[1:], None)
    assert slow > 10
    assert noise < 1
    assert constant == 0


def test_a_place_that_all_leave_is_not_forgotten_before_a_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    """All go from y to -y, so that y says nothing about what it was; x hardly changes, and a quiver says nothing."""
    rng = np.random.default_rng(1)
    along = np.linspace(1, -1, 41)

    def episode() -> np.ndarray:
        x = rng.normal() + np.cumsum(0.05 * rng.normal(size=41))
        return np.stack([x, rng.normal() * along, rng.normal(size=41)], axis=1)

    tried: dict[int, set[tuple[int, ...]]] = {}

    def attempt(data, steps, lasting, *rest):
        tried.setdefault(steps, set()).add(tuple(np.flatnonzero(lasting).tolist()))
        return 1.0, None

    monkeypatch.setattr(_resolution, "_try", attempt)
    data = ma.Trajectories.from_episodes([episode() for _ in range(200)])
    _resolution.choose_resolution(data, False, None, rng)
    assert tried[1] == {(0, 1)}


def _beside(data: ma.Trajectories, what: str) -> np.ndarray:
    """What is recorded beside a place (n, 2): what follows from it, can change at once, or does not matter."""
    states, rng = data.states.astype(np.float64), np.random.default_rng(0)
    unit = np.median(np.abs(np.diff(states, axis=0)), axis=0)
    before = np.roll(states, 1, axis=0)
    before[data.offsets[:-1]] = states[data.offsets[:-1]]
    velocity = (states - before) / unit
    return {
        "its velocity": velocity,
        "its heading": np.arctan2(velocity[:, 1:], velocity[:, :1]),
        "its speed": np.linalg.norm(velocity, axis=1, keepdims=True),
        "the frame before": before,
        "the same in millimetres": 1000 * states,
        "a poor sensor of the same": states + 0.5 * unit * rng.normal(size=states.shape),
        "a temperature": np.convolve(rng.normal(size=len(states) + 49), np.ones(50) / 50, "valid")[:, None],
    }[what]


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("its velocity", marks=pytest.mark.slow),
        "its heading",
        pytest.param("its speed", marks=pytest.mark.slow),
        pytest.param("the frame before", marks=pytest.mark.slow),
        "the same in millimetres",
        "a poor sensor of the same",
        pytest.param("a temperature", marks=pytest.mark.slow),
    ],
)
def test_the_place_counts_and_not_what_is_recorded_beside_it(what: str) -> None:
    # With all that is remembered over a while, one number of the place was dropped, and distances were .66 to .72.
    source = Source("parts-2", (7,))
    data, truth = source.data(7), source.truths(7)[0]
    wide = np.concatenate([data.states, _beside(data, what)], axis=1).astype(np.float32)
    graph = ma.recorded_distance(ma.Trajectories.from_flat(wide, data.offsets))
    unit = np.median(np.abs(np.diff(data.states, axis=0)), axis=0)
    nearest = KDTree(data.states / unit).query(truth.sources / unit)[1]
    found, asked = graph.pairwise(wide[nearest]), np.isfinite(truth.distances)
    assert graph.counts.sum() == 2
    assert np.corrcoef(found[asked], truth.distances[asked])[0, 1] > 0.99


@pytest.mark.parametrize(("values", "apart"), [(100, False), (3, True)])
def test_what_an_episode_was_for_keeps_nothing_apart_and_what_many_share_does(values: int, apart: bool) -> None:
    """Beside a ball's place a goal of its own for each of 100 episodes; or one of three maps."""
    data = ball_walks(100, 60)
    label = np.repeat(np.arange(100) % values, data.lengths)[:, None]
    graph = ma.recorded_distance(
        ma.Trajectories.from_flat(np.concatenate([data.states, label], axis=1).astype(np.float32), data.offsets)
    )
    here, there = np.array([[[2, 2, 0]], [[8, 8, 1]]], np.float32)
    found = float(graph.pairwise(here, there)[0, 0])
    assert np.isinf(found) if apart else found == pytest.approx(12, rel=0.1)
