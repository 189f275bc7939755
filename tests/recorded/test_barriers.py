"""Walls without thickness: recorded states lie on both sides as near as anywhere, but no move goes through."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

import minaction as ma
from minaction.recorded._barriers import Barriers

SIDE, FASTEST, WALL = 20.0, 0.5, 10.03


def walks(
    door: tuple[float, float], seed: int = 0, episodes: int = 250, length: int = 80, one_way: bool = False
) -> list[np.ndarray]:
    """A box with a wall across, where x is `WALL`, but for a door; who would walk into the wall stays where he is.

    If it is `one_way`, the wall is a step that anybody can go down, to the right.
    """
    random = np.random.default_rng(seed)
    at = random.uniform(0, SIDE, (episodes, 2))
    action, seen = random.uniform(-1, 1, (episodes, 2)), [at]
    for _ in range(length):
        action = np.where(random.random((episodes, 1)) < 0.2, random.uniform(-1, 1, (episodes, 2)), action)
        after = np.clip(at + FASTEST * action, 0, SIDE)
        with np.errstate(divide="ignore", invalid="ignore"):
            height = at[:, 1] + (WALL - at[:, 0]) / (after - at)[:, 0] * (after - at)[:, 1]
        left, leads_left = at[:, 0] < WALL, after[:, 0] < WALL
        crosses = leads_left & ~left if one_way else leads_left != left
        at = np.where((crosses & ((height < door[0]) | (height > door[1])))[:, None], at, after)
        seen.append(at)
    return list(np.stack(seen, axis=1).astype(np.float32))


def test_ways_lead_through_the_door() -> None:
    graph = ma.recorded_distance(ma.Trajectories.from_episodes(walks((17.0, 19.0))))
    states = np.random.default_rng(1).uniform(1, SIDE - 1, (80, 2)).astype(np.float32)
    true = _times(states, (17.1, 18.9))
    found = ma.agreement(graph.pairwise(states), true)
    assert found.pearson > 0.995
    assert found.mean_ratio == pytest.approx(1.0, abs=0.05)


def test_a_step_that_can_be_gone_down_alone_is_climbed_by_nobody() -> None:
    graph = ma.recorded_distance(ma.Trajectories.from_episodes(walks((16.0, 20.0), episodes=400, one_way=True)))
    states = np.random.default_rng(1).uniform(1, SIDE - 1, (80, 2)).astype(np.float32)
    states = states[np.abs(states[:, 0] - WALL) > 0.5]
    true = _times(states, (16.1, 19.9))
    down = (states[:, :1] < WALL) & (states[:, 0] > WALL)
    true = np.where(down, np.abs(states[:, None] - states[None]).max(axis=2) / FASTEST, true)
    found = graph.pairwise(states)
    assert ma.agreement(found, true).pearson > 0.99
    assert found[down].mean() == pytest.approx(true[down].mean(), rel=0.05)
    assert found[down.T].mean() == pytest.approx(true[down.T].mean(), rel=0.05)


def test_experts_who_pass_a_door_have_no_ledge_in_it() -> None:
    """They drive straight to a few goals, most of them past the door's sides rather than into them."""
    random = np.random.default_rng(0)
    goals, walks = random.uniform(1, SIDE - 1, (30, 2)), []
    for _ in range(300):
        at, goal, pace = random.uniform(1, SIDE - 1, 2), goals[random.integers(30)], FASTEST * random.uniform(0.4, 1)
        walk = [at]
        while len(walk) < 100 and np.abs(goal - at).max() > 0.3:
            through = np.array([WALL, random.uniform(15.5, 18.5)])
            way = (goal if (at[0] < WALL) == (goal[0] < WALL) else through) - at
            step = pace * way / np.abs(way).max() if np.abs(way).max() > pace else way * 1.01
            after = at + step + random.normal(0, 0.05, 2)
            height = at[1] + (WALL - at[0]) / (after[0] - at[0]) * (after[1] - at[1])
            if (at[0] < WALL) == (after[0] < WALL) or 15 < height < 19:
                at = after
            walk.append(at)
        walks.append(np.array(walk, np.float32))
    ground = ma.recorded_distance(ma.Trajectories.from_episodes(walks))._built.ground
    assert ground is not None
    assert not any(barriers.tree.n for barriers in ground.barriers if barriers.one_way)


def _times(states: np.ndarray, door: tuple[float, float]) -> np.ndarray:
    """Of the ways between states on either side through the door, and straight ones on the same side."""
    straight = np.abs(states[:, None] - states[None]).max(axis=2) / FASTEST
    passes = np.array([[WALL, y] for y in np.linspace(*door, 7)])
    there = np.abs(states[:, None] - passes[None]).max(axis=2) / FASTEST
    left = states[:, 0] < WALL
    return np.where(left[:, None] == left[None], straight, (there[:, None] + there[None]).min(axis=2))


@pytest.mark.slow
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
    assert [barred.tolist() for barred in disc.bar(start, end - start)] == 2 * [
        [True, True, False, False, False, False, True]
    ]
    down = Barriers(disc.tree, disc.normals, disc.radius, one_way=True)
    assert [barred.nonzero()[0].tolist() for barred in down.bar(start, end - start)] == [[0, 6], [1]]
    assert not any(barred.any() for barred in Barriers.none(2).bar(start, end - start))
