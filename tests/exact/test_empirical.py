"""The observed distance against a walk over the recorded transitions in plain Python."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from minaction.exact._empirical import observed_distance, observed_transitions
from minaction.trajectories import Trajectories


def walk(data: Trajectories, source: tuple[float, ...]) -> dict[tuple[float, ...], float]:
    """Least elapsed time from `source` to every state, by a search over dictionaries of tuples."""
    after: dict[tuple[float, ...], list[tuple[float, tuple[float, ...]]]] = {}
    for k in range(data.num_episodes):
        start, end = int(data.offsets[k]), int(data.offsets[k + 1])
        for row in range(start, end - 1):
            elapsed = 1.0 if data.times is None else float(data.times[row + 1] - data.times[row])
            after.setdefault(tuple(data.states[row].tolist()), []).append(
                (elapsed, tuple(data.states[row + 1].tolist()))
            )
    found: dict[tuple[float, ...], float] = {}
    queue = [(0.0, source)]
    while queue:
        cost, state = heapq.heappop(queue)
        if state not in found:
            found[state] = cost
            for elapsed, following in after.get(state, []):
                heapq.heappush(queue, (cost + elapsed, following))
    return found


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_a_search_over_the_recorded_transitions(seed: int, timed: bool) -> None:
    rng = np.random.default_rng(seed)
    episodes = [rng.integers(0, 4, (int(length), 2)) for length in rng.integers(1, 7, 8)]
    episodes.append(rng.integers(0, 4, (3, 2)))
    times = [np.cumsum(rng.uniform(0.1, 3.0, len(episode))) for episode in episodes] if timed else None
    data = Trajectories.from_episodes(episodes, times=times)
    states, distances = observed_distance(data)
    rows = [tuple(row) for row in states.tolist()]
    assert set(rows) == {tuple(row) for row in data.states.tolist()}
    assert len(set(rows)) == len(rows)
    for source, row in zip(rows, distances, strict=True):
        found = walk(data, source)
        np.testing.assert_allclose(row, [found.get(target, np.inf) for target in rows], rtol=1e-12)
    assert np.isinf(distances).any()


def test_episodes_are_joined_where_they_share_a_state_and_never_end_to_end() -> None:
    data = Trajectories.from_episodes([[0, 1, 2], [5, 1, 7]])
    states, distances = observed_distance(data)
    place = {int(state): k for k, state in enumerate(states[:, 0])}
    assert distances[place[0], place[7]] == 2  # 0 -> 1 of the first episode, 1 -> 7 of the second
    assert np.isinf(distances[place[2], place[5]])  # one episode's end does not lead to the next one's start


def test_a_transition_seen_several_times_counts_with_its_shortest_duration() -> None:
    data = Trajectories.from_episodes([[0, 1, 0, 1]], times=[[0.0, 5.0, 6.0, 8.5]])
    _, distances = observed_distance(data)
    np.testing.assert_array_equal(distances, [[0.0, 2.5], [1.0, 0.0]])


def test_staying_where_one_is_is_no_transition() -> None:
    states, edges, durations = observed_transitions(Trajectories.from_episodes([[3, 3, 4, 4]]))
    np.testing.assert_array_equal(states[:, 0], [3, 4])
    np.testing.assert_array_equal(edges, [[0, 1]])
    np.testing.assert_array_equal(durations, [1.0])
