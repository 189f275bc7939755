"""The worlds that the recording as a graph is measured on."""

from __future__ import annotations

import numpy as np
from benchmarks import recorded_distance, recorded_worlds


def test_no_true_distance_of_mountain_car_exceeds_a_recorded_time() -> None:
    data = recorded_worlds.mountain_car(seed=0, steps=80, episodes=3, judged=2).data
    states = data.episode(0)[::20]
    time = 20 * (np.arange(len(states)) - np.arange(len(states))[:, None])
    distances = recorded_worlds.car_distances(states)
    assert len(states) >= 3
    assert (distances <= time)[time > 0].all()


def test_a_case_is_measured() -> None:
    case = next(case for case in recorded_distance.CASES if case.name == "one-way ring")
    (row,) = recorded_distance.measure(case)
    assert row["pearson"] > 0.999
    assert row["lost"] == 0
    assert not row["tuned on"]
