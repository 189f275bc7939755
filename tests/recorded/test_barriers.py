"""Walls without thickness: recorded states lie on both sides as near as anywhere, but no move goes through."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

import minaction as ma
from minaction.recorded._barriers import Barriers

SIDE, FASTEST, WALL = 20.0, 0.5, 10.03


def walks(door: tuple[float, float], seed: int = 0, episodes: int = 250, length: int = 80) -> list[np.ndarray]:
    """A box with a wall across, where x is `WALL`, but for a door; who would walk into the wall stays where he is."""
    random = np.random.default_rng(seed)
    at = random.uniform(0, SIDE, (episodes, 2))
    action, seen = random.uniform(-1, 1, (episodes, 2)), [at]
    for _ in range(length):
        action = np.where(random.random((episodes, 1)) < 0.2, random.uniform(-1, 1, (episodes, 2)), action)
        after = np.clip(at + FASTEST * action, 0, SIDE)
        with np.errstate(divide="ignore", invalid="ignore"):
            height = at[:, 1] + (WALL - at[:, 0]) / (after - at)[:, 0] * (after - at)[:, 1]
        crosses = (at[:, 0] < WALL) != (after[:, 0] < WALL)
        at = np.where((crosses & ((height < door[0]) | (height > door[1])))[:, None], at, after)
        seen.append(at)
    return list(np.stack(seen, axis=1).astype(np.float32))


def test_ways_lead_through_the_door() -> None:
    graph = ma.recorded_distance(ma.Trajectories.from_episodes(walks((17.0, 19.0))))
    states = np.random.default_rng(1).uniform(1, SIDE - 1, (80, 2)).astype(np.float32)
    straight = np.abs(states[:, None] - states[None]).max(axis=2) / FASTEST
    door = np.array([[WALL, y] for y in np.linspace(17.1, 18.9, 7)])
    there = np.abs(states[:, None] - door[None]).max(axis=2) / FASTEST
    around = (there[:, None] + there[None]).min(axis=2)
    left = states[:, 0] < WALL
    true = np.where(left[:, None] == left[None], straight, around)
    found = ma.agreement(graph.pairwise(states), true)
    assert found.pearson > 0.995
    assert found.mean_ratio == pytest.approx(1.0, abs=0.05)


def test_a_wall_on_one_floor_bars_nobody_on_another() -> None:
    closed, opened = walks((17.0, 19.0), 0), walks((0.0, SIDE), 1)
    floors = [
        np.column_stack([walk, np.full(len(walk), floor)])
        for floor, some in ((0, closed), (1, opened))
        for walk in some
    ]
    graph = ma.recorded_distance(ma.Trajectories.from_episodes([floor.astype(np.float32) for floor in floors]))
    times = [graph.pairwise([[8.0, 4.0, floor]], [[12.0, 4.0, floor]])[0, 0] for floor in (0.0, 1.0)]
    assert times[0] == pytest.approx(2 * 13 / FASTEST, rel=0.1)
    assert times[1] == pytest.approx(4 / FASTEST, rel=0.1)


def test_discs_bar_what_passes_them_and_nothing_else() -> None:
    disc = Barriers(KDTree([[1.0, 0.0]]), np.array([[1.0, 0.0]]), 0.5)
    start = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.6], [0.0, 0.0], [1.1, -2.0], [0.0, 0.0], [-3.0, -0.4]])
    end = np.array([[2.0, 0.0], [0.0, 0.0], [2.0, 0.6], [0.9, 0.0], [1.1, 2.0], [0.0, 0.0], [5.0, 0.4]])
    assert disc.bar(start, end - start).tolist() == [True, True, False, False, False, False, True]
    assert not Barriers.none(2).bar(start, end - start).any()
