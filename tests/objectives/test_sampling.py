"""Samplers: their distribution against exact enumeration, and that no pair leaves its episode."""

from __future__ import annotations

from collections import Counter, defaultdict

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from minaction.objectives._sampling import (
    EpisodeTable,
    any_states,
    below,
    first_steps,
    trajectory_pairs,
    transitions,
    transitions_with_goals,
)
from minaction.trajectories._dataset import Trajectories

LENGTHS = [4, 1, 3, 6, 1]


def recorded(lengths: list[int], times: bool = False, seed: int = 0) -> Trajectories:
    generator = np.random.default_rng(seed)
    episodes = [generator.normal(size=(length, 2)) for length in lengths]
    stamps = [np.cumsum(generator.uniform(0.1, 3.0, length)) + 1e6 for length in lengths]
    return Trajectories.from_episodes(episodes, times=stamps if times else None)


def table_of(data: Trajectories) -> EpisodeTable:
    return jax.tree.map(jnp.asarray, EpisodeTable.of(data))


def assert_distributed(found: Counter, expected: dict) -> None:
    assert set(found) <= set(expected)
    total = sum(found.values())
    assert sum(expected.values()) == pytest.approx(1.0)
    outcomes = list(expected)
    counts = [found[outcome] for outcome in outcomes]
    assert chisquare(counts, [total * expected[outcome] for outcome in outcomes]).pvalue > 1e-3


def pair_probabilities(data: Trajectories, horizon: int | None) -> dict[tuple[int, int], float]:
    usable = [k for k in range(data.num_episodes) if data.lengths[k] >= 2]
    probabilities = {}
    for k in usable:
        start, end = int(data.offsets[k]), int(data.offsets[k + 1])
        for i in range(start, end - 1):
            later = range(i + 1, end if horizon is None else min(end, i + horizon + 1))
            for j in later:
                probabilities[i, j] = 1 / len(usable) / (end - 1 - start) / len(later)
    return probabilities


@pytest.mark.parametrize("horizon", [None, 1, 2, 100])
def test_trajectory_pairs_are_drawn_episode_first_then_i_then_j(horizon: int | None) -> None:
    data = recorded(LENGTHS)
    pairs = trajectory_pairs(jax.random.key(1), table_of(data), 20_000, horizon)
    found = Counter(zip(np.asarray(pairs.first).tolist(), np.asarray(pairs.second).tolist(), strict=True))
    assert_distributed(found, pair_probabilities(data, horizon))


def test_any_states_are_uniform_over_all_states_those_of_single_state_episodes_included() -> None:
    data = recorded(LENGTHS)
    found = Counter(np.asarray(any_states(jax.random.key(2), table_of(data), 20_000)).tolist())
    assert_distributed(found, dict.fromkeys(range(data.num_states), 1 / data.num_states))


def test_goals_are_geometrically_ahead_or_uniform() -> None:
    data, discount, future_fraction = recorded(LENGTHS), 0.7, 0.625
    steps, goals = transitions_with_goals(
        jax.random.key(3), table_of(data), 40_000, discount=discount, future_fraction=future_fraction
    )
    expected: defaultdict[tuple[int, int], float] = defaultdict(float)
    for (i, following), probability in pair_probabilities(data, horizon=1).items():
        last = int(data.offsets[np.searchsorted(data.offsets, i, side="right")]) - 1
        for goal in range(data.num_states):
            expected[i, goal] += probability * (1 - future_fraction) / data.num_states
        for goal in range(following, last):
            ahead = goal - i
            expected[i, goal] += probability * future_fraction * (1 - discount) * discount ** (ahead - 1)
        expected[i, last] += probability * future_fraction * discount ** (last - i - 1)
    found = Counter(zip(np.asarray(steps.first).tolist(), np.asarray(goals).tolist(), strict=True))
    assert_distributed(found, expected)
    np.testing.assert_array_equal(steps.second, steps.first + 1)


def test_geometric_offsets_over_a_long_episode_have_the_mean_of_the_discount() -> None:
    data = recorded([5000])
    steps, goals = transitions_with_goals(jax.random.key(4), table_of(data), 20_000, discount=0.99, future_fraction=1.0)
    early = np.asarray(steps.first) < 3000  # far enough from the end that clipping has probability 2e-9
    ahead = np.asarray(goals - steps.first)[early]
    assert ahead.min() == 1
    standard_error = np.sqrt(0.99) / 0.01 / np.sqrt(len(ahead))
    assert abs(ahead.mean() - 100.0) < 4 * standard_error


def test_goals_that_last_are_few_to_a_transition_and_include_the_end_of_its_episode() -> None:
    table = table_of(recorded([50, 3, 30], times=False))
    ends = np.repeat([49, 52, 82], [50, 3, 30])

    def drawn(seed: int, fraction: float) -> set[tuple[int, int]]:
        steps, goals = transitions_with_goals(
            jax.random.key(seed), table, 20_000, discount=0.9, future_fraction=fraction, of_each=8
        )
        return set(zip(np.asarray(steps.first).tolist(), np.asarray(goals).tolist(), strict=True))

    mixed = drawn(0, 0.5)
    assert mixed == drawn(1, 0.5)  # other draws, the same goals
    for first in {first for first, _ in mixed}:
        goals = {goal for start, goal in mixed if start == first}
        assert 1 <= len(goals) <= 9
        assert ends[first] in goals
    assert any(goal <= first or goal > ends[first] for first, goal in mixed)  # half of them are anywhere
    assert all(first < goal <= ends[first] for first, goal in drawn(0, 1.0))


@pytest.mark.parametrize("bound", [1, 2, 3, 37, 65_535, 65_536, 65_537, 1_000_003, 2**31 - 1])
def test_below_scales_random_words_exactly(bound: int) -> None:
    words = np.random.default_rng(0).integers(0, 2**32, size=2000, dtype=np.uint32)
    words[:4] = [0, 1, 2**16, 2**32 - 1]
    expected = [int(word) * bound >> 32 for word in words]
    np.testing.assert_array_equal(below(jnp.asarray(words), jnp.asarray(bound)), expected)


@settings(max_examples=10, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=8).filter(lambda items: max(items) > 1),
    horizon=st.one_of(st.none(), st.integers(1, 12)),
    times=st.booleans(),
)
def test_no_pair_crosses_the_end_of_an_episode(lengths: list[int], horizon: int | None, times: bool) -> None:
    data = recorded(lengths, times)
    table = table_of(data)
    episode = np.repeat(np.arange(len(lengths)), lengths)
    clock = np.arange(data.num_states) if data.times is None else data.times
    pairs = trajectory_pairs(jax.random.key(5), table, 256, horizon)
    steps = transitions(jax.random.key(6), table, 256)
    goal_steps, _ = transitions_with_goals(jax.random.key(7), table, 256, discount=0.9, future_fraction=0.5)
    for drawn, limit in ((pairs, horizon), (steps, 1), (goal_steps, 1)):
        first, second = np.asarray(drawn.first), np.asarray(drawn.second)
        assert first.min() >= 0
        assert second.max() < data.num_states
        assert (second > first).all()
        assert (episode[first] == episode[second]).all()
        assert limit is None or (second - first <= limit).all()
        np.testing.assert_allclose(drawn.elapsed, clock[second] - clock[first], rtol=1e-4)


@pytest.mark.parametrize("times", [False, True])
def test_first_steps_are_the_transitions_with_which_pairs_begin(times: bool) -> None:
    data = recorded(LENGTHS, times)
    table = table_of(data)
    pairs = trajectory_pairs(jax.random.key(8), table, 128, 5)
    following, step_time = first_steps(table, pairs)
    np.testing.assert_array_equal(following, pairs.first + 1)
    single = np.asarray(following == pairs.second)
    assert single.any()
    np.testing.assert_array_equal(np.asarray(step_time)[single], np.asarray(pairs.elapsed)[single])
    assert (np.asarray(step_time)[~single] < np.asarray(pairs.elapsed)[~single]).all()
