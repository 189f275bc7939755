"""Which inputs count, where everybody goes the same way."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction.recorded import _resolution
from minaction.recorded._nearness import slowness


def test_noise_is_as_fast_as_can_be_and_a_constant_is_not_slow() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=2001))
    states = np.stack([walk, rng.normal(size=2001), np.ones(2001)], axis=1)
    slow, noise, constant = slowness(states[:-1], states[1:], None)
    assert slow > 10
    assert noise == pytest.approx(1, abs=0.1)
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
