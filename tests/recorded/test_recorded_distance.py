"""What holds for the graph of every recording, and what cannot be made one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.errors import InputError
from minaction.recorded import recorded_distance
from minaction.trajectories import Trajectories

from .worlds import ball_walks, clock, grid_walks, line


@pytest.mark.parametrize("world", ["grid", "ball", "clock"])
def test_landmarks_both_ways_agree_with_pairs(world: str) -> None:
    data = {"grid": grid_walks(6, 10, 40), "ball": ball_walks(20, 60), "clock": clock(10, 40)[0]}[world]
    graph = recorded_distance(data)
    chosen = np.arange(0, len(graph), max(1, len(graph) // 12))
    pairs = graph.pairwise(graph.nodes[chosen])
    np.testing.assert_allclose(graph.from_nodes(chosen)[:, chosen], pairs, atol=1e-6)
    np.testing.assert_allclose(graph.to_nodes(chosen)[:, chosen].T, pairs, atol=1e-6)
    assert (pairs.diagonal() == 0).all()


def test_recorded_times_are_never_exceeded() -> None:
    data = ball_walks(20, 60)
    graph = recorded_distance(data)
    distances = graph.pairwise(data.episode(0))
    gaps = np.arange(61)[None] - np.arange(61)[:, None]
    assert (distances <= gaps + 1e-6)[gaps > 0].all()


def test_coverage_is_counted_in_typical_moves() -> None:
    graph = recorded_distance(grid_walks(5, 60, 100))
    found = graph.nearest_node([[2, 3], [2, 14]])
    np.testing.assert_allclose(found.away, [0, 10])
    np.testing.assert_array_equal(graph.nodes[found.node], [[2, 3], [2, 4]])


def test_few_nodes_of_a_large_recording_do() -> None:
    graph = recorded_distance(ball_walks(100, 100), max_nodes=3000)
    assert len(graph) == 3000
    assert graph.pairwise([[1, 1]], [[9, 5]]).item() == pytest.approx(16, rel=0.1)


def test_a_mapped_recording_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ball_walks(100, 100)
    data.save(tmp_path / "walks.safetensors")
    mapped = Trajectories.load(tmp_path / "walks.safetensors", memory_map=True)
    assert recorded_distance(mapped).pairwise([[1, 1]], [[9, 5]]).item() == pytest.approx(16, rel=0.1)
    monkeypatch.setattr("minaction.recorded._build.MAX_ROWS", 4000)
    some = recorded_distance(mapped)
    assert len(some) <= 4000
    assert some.pairwise([[1, 1]], [[9, 5]]).item() == pytest.approx(16, rel=0.1)


def test_the_same_seed_makes_the_same_graph() -> None:
    data = ball_walks(20, 60)
    first, second = recorded_distance(data, max_nodes=500, seed=3), recorded_distance(data, max_nodes=500, seed=3)
    np.testing.assert_array_equal(first.graph.toarray(), second.graph.toarray())


# ---------------------------------------------------------------- what cannot be used


def test_what_cannot_be_used_is_refused_in_words() -> None:
    data = grid_walks(5, 20, 50)
    graph = recorded_distance(data)
    with pytest.raises(InputError, match="have 3 numbers and the recorded ones 2"):
        graph.pairwise([[0, 0, 0]])
    with pytest.raises(InputError, match="the goals hold NaN"):
        graph.pairwise([[0, 0]], [[np.nan, 0]])
    with pytest.raises(InputError, match="There is no node 99"):
        graph.from_nodes([0, 99])
    with pytest.raises(InputError, match="integer indices"):
        graph.to_nodes([0.5])
    with pytest.raises(InputError, match="max_nodes"):
        recorded_distance(data, max_nodes=1)
    with pytest.raises(InputError, match="one row of finite numbers per state"):
        recorded_distance(data, embedding=lambda states: states[:, 0])
    with pytest.raises(InputError, match="No state ever changes"):
        recorded_distance(line([1, 1, 1]))


def test_two_states_are_enough() -> None:
    graph = recorded_distance(Trajectories.from_episodes([np.array([[0.0], [1.0]], np.float32)]))
    np.testing.assert_array_equal(graph.pairwise([[0.0], [1.0]]), [[0, 1], [np.inf, 0]])


def test_nothing_that_learns_is_loaded() -> None:
    code = "import minaction.recorded, sys; print('jax' in sys.modules, 'equinox' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]


def test_the_fastest_pace_is_found_among_steps_of_every_length_and_direction() -> None:
    """Steps drawn from a disc: the way straight ahead takes its length, although hardly any step goes that far."""
    random, places = np.random.default_rng(0), []
    for _ in range(40):
        here, walk = random.uniform(0, 12, 2), []
        for _ in range(250):
            walk.append(here)
            angle, length = random.uniform(0, 2 * np.pi), np.sqrt(random.random())
            here = np.clip(here + length * np.array([np.cos(angle), np.sin(angle)]), 0, 12)
        places.append(np.array(walk, np.float32))
    found = ma.recorded_distance(Trajectories.from_episodes(places))
    ends = random.uniform(1, 11, (40, 2)).astype(np.float32)
    true = np.linalg.norm(ends[:, None] - ends[None], axis=2)
    far = true > 3
    assert np.mean(found.pairwise(ends)[far] / true[far]) == pytest.approx(1, abs=0.04)


@pytest.mark.parametrize("program", [sys.executable, "/bin/false"])
def test_both_ways_are_the_same_from_a_process_of_its_own(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    walks = [np.cumsum(random.normal(size=(60, 2)) + 0.2, axis=0) for _ in range(8)]
    graph = recorded_distance(Trajectories.from_episodes([walk.astype(np.float32) for walk in walks]))
    sources, targets = np.arange(0, len(graph), 37), np.arange(0, len(graph), 11)
    one_process = graph.both_ways(sources, targets)
    np.testing.assert_array_equal(one_process[0], graph.from_nodes(sources, meet=True)[:, targets])
    np.testing.assert_array_equal(one_process[1], graph.to_nodes(sources, meet=True)[:, targets])
    assert not np.array_equal(*one_process)
    monkeypatch.setattr("minaction.recorded._paths._WORTH_A_PROCESS", 0)
    monkeypatch.setattr("minaction.recorded._paths.core_count", lambda: 2)
    monkeypatch.setattr(sys, "executable", program)  # one that fails is not missed
    np.testing.assert_array_equal(graph.both_ways(sources, targets), one_process)


def test_nodes_are_drawn_evenly_where_that_is_asked_for() -> None:
    """Of 60 walks through a busy corridor and one through another, a small sample drawn by visits misses the second."""
    random = np.random.default_rng(0)
    walks = [np.cumsum(random.uniform(-0.1, 0.1, (200, 2)), axis=0) for _ in range(60)]
    lonely = np.stack([np.linspace(20, 40, 200), np.full(200, 20.0)], axis=1) + random.normal(scale=0.02, size=(200, 2))
    data = Trajectories.from_episodes([walk.astype(np.float32) for walk in [*walks, lonely]])
    by_visits, even = (recorded_distance(data, max_nodes=500, even=evenly) for evenly in (False, True))
    there = [int((graph.nodes[:, 0] > 15).sum()) for graph in (by_visits, even)]
    assert len(even) == 500
    assert there[0] < 25
    assert there[1] > 4 * there[0]
