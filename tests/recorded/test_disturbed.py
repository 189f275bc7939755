"""Recordings as robots write them, with pauses and failed readings, tell the same distances as without."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import minaction as ma
from minaction.tasks import Source

Change = Callable[[ma.Trajectories, np.random.Generator], ma.Trajectories]


def pauses(share: float, rows: int, noise: float) -> Change:
    """A `share` of the states lasts for `rows` rows, with noise in fractions of a typical step."""

    def change(data: ma.Trajectories, random: np.random.Generator) -> ma.Trajectories:
        times = np.where(random.random(data.num_states) < share, rows, 1)
        index = np.repeat(np.arange(data.num_states), times)
        jitter = noise * typical_step(data) * random.normal(size=(len(index), 2))
        offsets = np.concatenate([[0], np.cumsum(times)])[data.offsets]
        states = data.states[index] + np.where(times[index, None] > 1, jitter, 0)
        return ma.Trajectories.from_flat(states.astype(np.float32), offsets)

    return change


def spikes(share: float) -> Change:
    """In a `share` of the rows a reading of anywhere, up to hundreds of steps away."""

    def change(data: ma.Trajectories, random: np.random.Generator) -> ma.Trajectories:
        states = np.array(data.states)
        wrong = np.flatnonzero(random.random(len(states)) < share)
        wrong = np.setdiff1d(wrong, np.concatenate([data.offsets[:-1], data.offsets[1:] - 1]))
        states[wrong] += 100 * typical_step(data) * random.normal(size=(len(wrong), 2))
        return ma.Trajectories.from_flat(states, data.offsets)

    return change


def typical_step(data: ma.Trajectories) -> np.ndarray:
    return np.median(np.abs(np.diff(data.states, axis=0)), axis=0)


@pytest.fixture(scope="module")
def world() -> Source:
    return Source("parts-2", (5,))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(pauses(0.1, 10, 0), id="short pauses", marks=pytest.mark.slow),
        pytest.param(pauses(0.5, 50, 0), id="long pauses", marks=pytest.mark.slow),
        pytest.param(pauses(0.1, 30, 0.05), id="noisy pauses", marks=pytest.mark.slow),
        pytest.param(pauses(0.5, 50, 0.02), id="long noisy pauses"),
        pytest.param(spikes(0.001), id="few spikes", marks=pytest.mark.slow),
        pytest.param(spikes(0.01), id="spikes"),
    ],
)
def test_distances_are_those_of_the_undisturbed_recording(world, change):
    # Without what is done about them: .999, .84, .99, .77, .87 and .86, at worst 22 times too long.
    truth = world.truths(5)[0]
    graph = ma.recorded_distance(change(world.data(5), np.random.default_rng(0)))
    found = graph.pairwise(truth.sources, truth.targets)
    asked = np.isfinite(truth.distances) & (truth.distances > 0)
    assert np.isfinite(found[asked]).all()
    assert np.corrcoef(found[asked], truth.distances[asked])[0, 1] > 0.99
    assert np.mean(found[asked] / truth.distances[asked]) == pytest.approx(1.0, abs=0.06)


def test_the_time_of_a_pause_is_no_part_of_a_way():
    walk = np.concatenate([np.arange(20.0), np.full(100, 19.0), np.arange(20.0, 40.0)])[:, None]
    ways, random = np.concatenate([walk[::-1], walk]), np.random.default_rng(0)
    data = ma.Trajectories.from_episodes([ways + 0.01 * random.normal(size=ways.shape) for _ in range(8)])
    assert ma.recorded_distance(data).pairwise([[0.0]], [[39.0]])[0, 0] == pytest.approx(39, abs=1)


def test_lost_rows_make_no_way_through_a_wall(world):
    # With joins as long as a move over lost rows, which pass through the wall, it is .905; now .986.
    data, random, truth = world.data(5), np.random.default_rng(0), world.truths(5)[0]
    kept = random.random(data.num_states) < 0.4
    kept[data.offsets[:-1]] = kept[data.offsets[1:] - 1] = True
    offsets = np.concatenate([[0], np.cumsum(kept)])[data.offsets]
    thinned = ma.Trajectories.from_flat(data.states[kept], offsets, times=np.flatnonzero(kept).astype(float))
    found = ma.recorded_distance(thinned).pairwise(truth.sources, truth.targets)
    asked = np.isfinite(truth.distances)
    assert np.corrcoef(found[asked], truth.distances[asked])[0, 1] > 0.95
