"""The graph of states that never repeat, against norms and hand-made answers."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction.recorded import recorded_distance
from minaction.trajectories import Trajectories

from .worlds import ball_walks, clock


def test_a_ball_that_goes_every_way_is_measured_by_the_norm_of_its_steps() -> None:
    graph = recorded_distance(ball_walks(100, 100))
    assert graph.free
    assert not graph.repeats
    random = np.random.default_rng(1)
    sources, goals = random.uniform(1, 9, (20, 2)), random.uniform(1, 9, (30, 2))
    expected = np.abs(sources[:, None] - goals).max(axis=2) / 0.5
    far = expected > 3
    found = graph.pairwise(sources, goals)
    np.testing.assert_allclose(found[far], expected[far], rtol=0.12)
    assert (found / expected)[far].mean() == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(found[~far], expected[~far], atol=0.5)


def test_a_ball_goes_around_a_wall() -> None:
    def blocked(a: np.ndarray, b: np.ndarray) -> bool:
        ways = a + np.linspace(0, 1, 5)[:, None] * (b - a)
        return bool(((np.abs(ways[:, 0] - 5) < 0.4) & (ways[:, 1] < 7)).any())

    data = ball_walks(150, 100, blocked=blocked)
    found = recorded_distance(data).pairwise([[3, 1]], [[7, 1], [3, 5]])
    assert found[0, 0] == pytest.approx(6 / 0.5 + 6 / 0.5 + 0.8 / 0.5, rel=0.08)  # up, across the end, down
    assert found[0, 1] == pytest.approx(4 / 0.5, rel=0.08)


def test_no_state_enters_the_graph_through_a_wall() -> None:
    def blocked(a: np.ndarray, b: np.ndarray) -> bool:
        ways = a + np.linspace(0, 1, 5)[:, None] * (b - a)
        return bool(((np.abs(ways[:, 0] - 5) < 0.8) & (ways[:, 1] < 7)).any())

    # So few walks that some of the nodes nearest to a state beside the wall lie behind it.
    graph = recorded_distance(ball_walks(25, 100, seed=3, blocked=blocked))
    heights = np.linspace(0.5, 4, 15)
    left, right = (np.stack([np.full(15, x), heights], axis=1).astype(np.float32) for x in (4.1, 5.9))
    around = (14 - heights[:, None] - heights) / 0.5
    assert (graph.pairwise(left, right) > 0.9 * around).all()


def test_noise_does_not_count() -> None:
    data = ball_walks(100, 100)
    random = np.random.default_rng(2)
    noisy = np.column_stack([data.states, random.normal(0, 3, (data.num_states, 2))]).astype(np.float32)
    graph = recorded_distance(Trajectories.from_flat(noisy, data.offsets))
    np.testing.assert_array_equal(graph.counts, [True, True, False, False])
    found = graph.pairwise([[2, 2, 5, 5]], [[8, 6, -5, 0]]).item()
    assert found == pytest.approx(12, rel=0.08)


def test_inputs_that_are_soon_forgotten_do_not_count_where_there_are_many() -> None:
    data = ball_walks(100, 200)
    random = np.random.default_rng(2)
    joints = random.normal(0, 1, (data.num_states, 12))
    for row in range(1, len(joints)):
        joints[row] = 0.8 * joints[row - 1] + 0.6 * joints[row]  # half forgotten after three steps
    states = np.column_stack([data.states, joints]).astype(np.float32)
    graph = recorded_distance(Trajectories.from_flat(states, data.offsets))
    np.testing.assert_array_equal(np.flatnonzero(graph.counts), [0, 1])
    found = graph.pairwise([[2, 2, *np.zeros(12)]], [[8, 6, *np.ones(12)]]).item()
    assert found == pytest.approx(12, rel=0.15)


def test_a_clock_runs_one_way_round() -> None:
    data, seen = clock(60, 60)
    graph = recorded_distance(data)
    assert not graph.free
    now, later = np.array([3.0, 30.0, 50.0]), np.array([20.0, 47.0, 10.0])
    elapsed = (later[None] - now[:, None]) % 60
    np.testing.assert_allclose(graph.pairwise(seen(now), seen(later)), elapsed, atol=2.5)


def test_time_as_a_state_is_never_turned_back() -> None:
    data = ball_walks(40, 60)
    hours = np.concatenate([np.arange(61) for _ in range(40)])
    graph = recorded_distance(Trajectories.from_flat(np.column_stack([data.states, hours]), data.offsets))
    assert graph.counts.all()
    assert not graph.free
    back = graph.pairwise(data_at(graph, hour=40), data_at(graph, hour=20))
    assert np.isinf(back).all()


def data_at(graph: ma.RecordedDistance, hour: int) -> np.ndarray:
    return graph.nodes[graph.nodes[:, 2] == hour][:10]


def test_an_embedding_says_what_is_near() -> None:
    data = ball_walks(60, 100)
    mixed = (data.states @ np.array([[1.0, 1], [1, -1]])).astype(np.float32)
    graph = recorded_distance(
        Trajectories.from_flat(mixed, data.offsets),
        embedding=lambda states: states @ np.array([[0.5, 0.5], [0.5, -0.5]]),
    )
    assert graph.pairwise([[4, 0]], [[14, 2]]).item() == pytest.approx(12, rel=0.1)  # (2, 2) to (8, 6)


def test_states_of_many_numbers_are_joined_though_all_but_those_of_the_same_walk_are_far() -> None:
    """Straight ways to random places in six dimensions, at one unit a step: the truth is the Euclidean distance."""
    random, size = np.random.default_rng(0), 6
    place, goal = random.random((2, 60, size)) * 25
    walks = [place]
    for _ in range(250):
        way = goal - place
        away = np.linalg.norm(way, axis=1, keepdims=True)
        place = place + way / np.maximum(away, 1) + random.normal(0, 0.05, place.shape)
        goal = np.where(away < 2, random.random(goal.shape) * 25, goal)
        walks.append(place)
    data = Trajectories.from_episodes(list(np.stack(walks, axis=1).astype(np.float32)))
    asked = random.random((100, size)).astype(np.float32) * 25
    true = np.linalg.norm(asked[:, None] - asked, axis=-1)
    assert ma.agreement(recorded_distance(data).pairwise(asked, asked), true).pearson > 0.9


def test_a_grid_of_its_own_in_every_episode_is_no_world_of_finitely_many_states() -> None:
    """Episodes begin anywhere and move by whole steps: no other episode's states are ever met, only passed closely."""
    random, moves, size = np.random.default_rng(0), np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]), 10
    episodes = []
    for _ in range(60):
        walk = [random.uniform(0, size, 2).round(3)]
        while len(walk) < 100:
            after = (walk[-1] + random.choice(moves)).round(3)
            walk.append(after if (after == after.clip(0, size)).all() else walk[-1])
        episodes.append(np.array(walk, np.float32))
    data = Trajectories.from_episodes(episodes)
    assert 2 * len(data.distinct) < data.num_states, "but states repeat"
    graph = recorded_distance(data)
    chosen = np.arange(0, len(graph), len(graph) // 100)
    apart = np.abs(graph.nodes[chosen][:, None] - graph.nodes[chosen]).sum(-1)
    found, far = graph.from_nodes(chosen)[:, chosen], apart > 3
    np.testing.assert_allclose(np.quantile(found[far] / apart[far], [0.01, 0.5, 0.99]), 1, atol=0.1)


def test_a_robot_that_drives_where_it_heads_is_not_free() -> None:
    """It drives for a while, stops, turns: states that are near move alike or not at all, and none moves backwards."""
    random, episodes = np.random.default_rng(0), []
    for _ in range(150):
        place, heading, walk = random.uniform(0, 1, 2), random.uniform(-np.pi, np.pi), []
        while len(walk) < 300:
            turn = random.choice([0.0, 0.0, 0.3, -0.3])
            for _ in range(random.integers(1, 8)):
                walk.append([*place, np.cos(heading), np.sin(heading)])
                ahead = place + 0.05 * (turn == 0) * np.array([np.cos(heading), np.sin(heading)])
                place = ahead if (ahead == ahead.clip(0, 1)).all() else place
                heading += turn
        episodes.append(np.array(walk, np.float32))
    graph = recorded_distance(Trajectories.from_episodes(episodes))
    assert not graph.free
    east = np.array([1.0, 0.0])
    ahead, behind = graph.pairwise([[0.5, 0.5, *east]], [[0.8, 0.5, *east], [0.2, 0.5, *east]])[0]
    assert ahead == pytest.approx(6, abs=2)
    assert behind > 20, "it turns around, drives, and turns around again: 10.5 + 6 + 10.5"


def test_truth_values_are_measured_as_zeros_and_ones() -> None:
    """Walks that flip one of many bits in every step."""
    random = np.random.default_rng(0)
    flips = np.eye(24, dtype=int)[random.integers(0, 24, (40, 49))]
    bits = np.concatenate([np.zeros((40, 1, 24), int), flips], axis=1).cumsum(axis=1) % 2 == 1
    found, expected = (
        recorded_distance(Trajectories.from_episodes(list(bits.astype(kind)))).pairwise(bits[0], bits[1])
        for kind in (bool, np.uint8)
    )
    np.testing.assert_array_equal(found, expected)


def test_joints_that_turn_one_beside_the_other_are_as_slow_as_the_slower() -> None:
    """Two joints, each seen as a cosine and a sine: hulls in random directions alone made their ways 6% too short."""
    random = np.random.default_rng(0)
    turns = np.clip(random.uniform(-1.3, 1.3, (300, 100, 2)), -1, 1) * 0.15
    angles = random.uniform(-np.pi, np.pi, (300, 1, 2)) + np.repeat(turns[:, ::5], 5, axis=1).cumsum(axis=1)
    seen = np.concatenate([np.cos(angles), np.sin(angles)], axis=2).astype(np.float32)
    asked = random.uniform(-np.pi, np.pi, (60, 2))
    between = np.abs((asked[:, None] - asked + np.pi) % (2 * np.pi) - np.pi).max(axis=2) / 0.15
    graph = recorded_distance(Trajectories.from_episodes(list(seen)))
    found = graph.pairwise(np.concatenate([np.cos(asked), np.sin(asked)], axis=1).astype(np.float32))
    assert found.sum() / between.sum() == pytest.approx(1, abs=0.03)


def test_states_of_any_shape_are_measured_and_learned_as_rows_of_numbers() -> None:
    """Two robots' places as a table of 2 x 2 numbers; pixels are told to need an embedding."""
    random = np.random.default_rng(0)
    walks = [random.uniform(-1, 1, (40, 2, 2)).cumsum(axis=0).astype(np.float32) for _ in range(30)]
    found = recorded_distance(walks).pairwise(walks[0], walks[1])
    rows = [walk.reshape(40, 4) for walk in walks]
    np.testing.assert_array_equal(found, recorded_distance(rows).pairwise(rows[0], rows[1]))
    model = ma.fit(walks, steps=2, progress=False)
    assert model.state_shape == (2, 2)
    assert model.pairwise(walks[0], walks[1]).shape == (40, 40)
    with pytest.raises(ma.InputError, match="embedding"):
        recorded_distance([np.zeros((5, 32, 32, 3), np.uint8)])
