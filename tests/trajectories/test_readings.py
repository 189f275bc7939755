"""Pauses and failed readings: what is found, what is set right, and what is left alone because it may be real."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction._coverage import Coverage
from minaction.encoders import input_statistics
from minaction.trajectories import at_rest, failed_readings, repaired, states_repeat

SPIKES = np.array([7, 250, 251 + 400, 1203])


def drive(seed: int = 0, episodes: int = 5, steps: int = 400) -> ma.Trajectories:
    """Something that drives smoothly through the plane, in metres and millimetres."""
    random = np.random.default_rng(seed)
    heading = np.cumsum(0.3 * random.normal(size=(episodes, steps)), axis=1)
    ways = np.stack([np.cos(heading), 1000 * np.sin(heading)], axis=2)
    return ma.Trajectories.from_episodes(list(np.cumsum(0.1 * ways, axis=1)))


def with_states(data: ma.Trajectories, states: np.ndarray) -> ma.Trajectories:
    return ma.Trajectories.from_flat(states, data.offsets)


def test_spikes_are_found_where_they_are_and_nowhere_else():
    data = drive()
    assert failed_readings(data) == {}
    assert repaired(data) is data
    states = np.array(data.states)
    states[SPIKES, 0] += 40.0
    found = failed_readings(with_states(data, states))
    assert list(found) == [0]
    assert found[0].tolist() == SPIKES.tolist()


@pytest.mark.parametrize("length", [1, 2, 3])
def test_failed_readings_become_what_lies_between_their_neighbours(length):
    data = drive()
    states, failed = np.array(data.states), (SPIKES[:, None] + np.arange(length)).ravel()
    states[failed] = np.stack([50.0 + 10 * np.arange(len(failed)), np.full(len(failed), -9000.0)], axis=1)
    mended = repaired(with_states(data, states)).states
    assert (np.abs(mended[failed] - data.states[failed]) < [0.3, 300.0]).all()
    others = np.setdiff1d(np.arange(data.num_states), failed)
    np.testing.assert_array_equal(mended[others], data.states[others])


def pulses(data: ma.Trajectories, states: np.ndarray) -> np.ndarray:
    pressed = np.zeros(len(states))
    pressed[SPIKES] = 1.0
    return np.column_stack([states, pressed])


def teleports(data: ma.Trajectories, states: np.ndarray) -> np.ndarray:
    states[600:] += 300.0
    return states


def first_rows(data: ma.Trajectories, states: np.ndarray) -> np.ndarray:
    states[data.offsets[:-1]] += 300.0
    return states


def often(data: ma.Trajectories, states: np.ndarray) -> np.ndarray:
    states[3::8] += 300.0
    return states


@pytest.mark.parametrize("change", [pulses, teleports, first_rows, often])
def test_what_may_be_real_is_left_alone(change):
    data = drive()
    assert failed_readings(with_states(data, change(data, np.array(data.states)))) == {}


def test_finitely_many_states_may_jump():
    random = np.random.default_rng(0)
    ladder = [np.array([[0.0], [1.0], [2.0]])[random.integers(0, 3, 60)] for _ in range(20)]
    ladder[3][[10, 11, 12], 0] = 0.0, 90.0, 0.0
    assert failed_readings(ma.Trajectories.from_episodes(ladder)) == {}


def standing(data: ma.Trajectories, noise: float, rows: int = 30) -> ma.Trajectories:
    """The same drive, with long stands after every third step."""
    times = np.where(np.arange(data.num_states) % 3 == 0, rows, 1)
    index = np.repeat(np.arange(data.num_states), times)
    offsets = np.concatenate([[0], np.cumsum(times)])[data.offsets]
    jitter = noise * np.array([0.1, 100.0]) * np.random.default_rng(1).normal(size=(len(index), 2))
    return ma.Trajectories.from_flat(data.states[index] + jitter, offsets)


def test_a_robot_that_stands_still_moves_in_a_continuum():
    data = standing(drive(episodes=8), 0.0)
    assert 2 * len(data.distinct) < data.num_states
    assert not states_repeat(data.states, data.offsets)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_pauses_do_not_change_what_a_typical_step_is(noise):
    data = drive()
    paused = standing(data, noise)
    change = np.diff(paused.states.astype(np.float64), axis=0)
    assert at_rest(change).mean() == pytest.approx(np.mean(np.abs(change[:, 0]) < 0.02), abs=0.1)
    assert not at_rest(np.diff(data.states.astype(np.float64), axis=0)).any()
    moving, standing_still = (input_statistics(one.states, one.offsets).stride for one in (data, paused))
    np.testing.assert_allclose(standing_still, moving, rtol=0.1)
    units = [Coverage.of(one).unit for one in (data, paused)]
    np.testing.assert_allclose(units[1], units[0], rtol=0.1)
