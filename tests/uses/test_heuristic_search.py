"""A* against Dijkstra, with heuristics that say nothing, little, everything and too much."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from minaction.environments import KeyDoorGridWorld, TransitionGraph, transition_graph
from minaction.errors import InputError
from minaction.exact._graph import minimum_action_distance
from minaction.uses import a_star, admissibility

GRAPH = transition_graph(KeyDoorGridWorld(), np.array([[1, 1, 0]]))
TRUE = minimum_action_distance(len(GRAPH.states), GRAPH.edges)
START = int(np.flatnonzero((GRAPH.states == [1, 1, 0]).all(axis=1))[0])
DOOR = int(np.flatnonzero((GRAPH.states == [6, 9, 1]).all(axis=1))[0])


def assert_a_walk(path: tuple[int, ...], cost: float) -> None:
    edges = {tuple(edge) for edge in GRAPH.edges.tolist()}
    assert all(pair in edges for pair in itertools.pairwise(path))
    assert len(path) == cost + 1


def test_every_admissible_heuristic_finds_the_cheapest_walk_and_better_ones_look_at_less() -> None:
    manhattan = np.abs(GRAPH.states[:, :2] - GRAPH.states[DOOR, :2]).sum(axis=1)
    expanded = []
    for heuristic in (None, lambda nodes: manhattan[nodes], lambda nodes: TRUE[nodes, DOOR]):
        found = a_star(GRAPH, START, DOOR, heuristic)
        assert found.cost == TRUE[START, DOOR] == 23
        assert_a_walk(found.path, found.cost)
        assert (found.path[0], found.path[-1]) == (START, DOOR)
        expanded.append(found.expanded)
    assert expanded[0] > expanded[1] > expanded[2] == 24


def test_costs_equal_dijkstras_between_random_nodes() -> None:
    random = np.random.default_rng(0)
    for start, goal in random.integers(len(GRAPH.states), size=(60, 2)):
        found = a_star(GRAPH, int(start), int(goal))
        assert found.cost == TRUE[start, goal]
        assert (found.path == ()) == np.isinf(found.cost)


@pytest.mark.parametrize("seed", range(10))
def test_an_exaggerating_heuristic_costs_at_most_what_it_exaggerates(seed: int) -> None:
    too_much = np.random.default_rng(seed).uniform(0, 6, len(GRAPH.states))
    found = a_star(GRAPH, START, DOOR, lambda nodes: TRUE[nodes, DOOR] + too_much[nodes])
    assert_a_walk(found.path, found.cost)
    assert 23 <= found.cost <= 23 + 6


def test_admissibility_counts_by_hand() -> None:
    true = np.array([[0.0, 2.0, np.inf], [1.0, 0.0, 4.0]])
    said = np.array([[9.0, 2.0, 50.0], [0.5, 0.0, 7.0]])
    found = admissibility(said, true)
    assert (found.pairs, found.share, found.worst_overestimate) == (3, pytest.approx(2 / 3), 3.0)
    assert found.worst_ratio == pytest.approx(7 / 4)


def test_bad_input_is_refused() -> None:
    graph = TransitionGraph(np.zeros((2, 1)), np.array([[0, 1]]))
    with pytest.raises(InputError, match="The goal is node 2, but the graph has nodes 0 to 1"):
        a_star(graph, 0, 2)
    with pytest.raises(InputError, match="one number for each of 2 nodes"):
        a_star(graph, 0, 1, lambda nodes: np.full(2, np.nan))
    with pytest.raises(InputError, match="shape"):
        admissibility(np.zeros(2), np.zeros(3))
    with pytest.raises(InputError, match="nothing to compare"):
        admissibility(np.zeros((1, 1)), np.zeros((1, 1)))
