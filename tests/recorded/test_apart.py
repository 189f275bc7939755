"""States that lie apart from all others: they are joined to what is near, not through walls."""

from __future__ import annotations

import numpy as np

import minaction as ma


def two_rooms_with_falls(seed: int) -> ma.Trajectories:
    """Walks in two rooms that do not connect; in a third of them something falls over for three steps, and gets up."""
    random, walks = np.random.default_rng(seed), []
    for number in range(200):
        low = np.array([1.14 * (number % 2), 0.0, -0.1])
        high = low + np.array([1.0, 1.0, 0.2])
        walk = [random.uniform(low, high)]
        for _ in range(99):
            walk.append(np.clip(walk[-1] + 0.08 * random.uniform(-1, 1, 3), low, high))
        states = np.array(walk, np.float32)
        if number % 6 < 2:
            states[50:53, 2] += 2.0
        walks.append(states)
    return ma.Trajectories.from_episodes(walks)


def test_fallen_states_are_no_way_through_a_wall():
    places = np.array([[0.9, 0.5, 0.0], [0.5, 0.5, 0.0], [1.24, 0.5, 0.0]], np.float32)
    for seed in (0, 1):
        found = ma.recorded_distance(two_rooms_with_falls(seed)).pairwise(places, places)
        assert np.isinf(found[:2, 2]).all()
        assert np.isinf(found[2, :2]).all()
        assert 4 < found[0, 1] < 8
