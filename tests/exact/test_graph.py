"""Shortest paths against Floyd-Warshall, and as the solution of the linear programme of equation (1)."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_array

from minaction.errors import InputError
from minaction.exact._graph import minimum_action_distance


def floyd_warshall(num_nodes: int, edges: np.ndarray, costs: np.ndarray) -> np.ndarray:
    distance = np.full((num_nodes, num_nodes), np.inf)
    np.fill_diagonal(distance, 0.0)
    for (tail, head), cost in zip(edges.tolist(), costs.tolist(), strict=True):
        distance[tail, head] = min(distance[tail, head], cost)
    for k in range(num_nodes):
        distance = np.minimum(distance, distance[:, k, None] + distance[k])
    return distance


def random_graph(seed: int, num_nodes: int, *, connected: bool, unit: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """A sparse random graph with parallel edges and loops; a cycle through all nodes connects it strongly."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, num_nodes, (num_nodes, 2))
    if connected:
        cycle = rng.permutation(num_nodes)
        edges = np.concatenate([edges, np.stack([cycle, np.roll(cycle, -1)], axis=1)])
    costs = np.ones(len(edges)) if unit else rng.uniform(0.2, 5.0, len(edges))
    return edges, costs


class Programme:
    """Equation (1): a variable d(s, s') for each s != s', a row for each step and each triangle."""

    def __init__(self, num_nodes: int, edges: np.ndarray, costs: np.ndarray) -> None:
        self.pairs = list(itertools.permutations(range(num_nodes), 2))
        index = {pair: k for k, pair in enumerate(self.pairs)}
        rows: list[dict[int, float]] = []
        self.limits: list[float] = []
        for (tail, head), cost in zip(edges.tolist(), costs.tolist(), strict=True):
            if tail != head:
                rows.append({index[tail, head]: 1.0})
                self.limits.append(cost)
        for a, b, c in itertools.permutations(range(num_nodes), 3):
            rows.append({index[a, c]: 1.0, index[a, b]: -1.0, index[b, c]: -1.0})
            self.limits.append(0.0)
        for a, b in itertools.combinations(range(num_nodes), 2):  # the triangle from a over b back to a
            rows.append({index[a, b]: -1.0, index[b, a]: -1.0})
            self.limits.append(0.0)
        entries = [(row, column, value) for row, terms in enumerate(rows) for column, value in terms.items()]
        row, column, value = (np.array(part) for part in zip(*entries, strict=True))
        self.matrix = coo_array((value, (row, column)), shape=(len(rows), len(self.pairs))).tocsr()
        self.num_nodes = num_nodes

    def maximise(self, weights: np.ndarray, bounds: tuple[float | None, float | None]) -> np.ndarray:
        solution = linprog(-weights, A_ub=self.matrix, b_ub=self.limits, bounds=bounds, method="highs")
        assert solution.status == 0, solution.message
        distance = np.zeros((self.num_nodes, self.num_nodes))
        for (source, target), value in zip(self.pairs, solution.x, strict=True):
            distance[source, target] = value
        return distance

    def largest_sum(self, cap: float | None = None) -> np.ndarray:
        return self.maximise(np.ones(len(self.pairs)), (None, cap))


@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_linear_programme_has_the_shortest_paths_as_its_solution(seed: int, unit: bool) -> None:
    num_nodes = 3 + seed
    edges, costs = random_graph(seed, num_nodes, connected=True, unit=unit)
    exact = minimum_action_distance(num_nodes, edges, None if unit else costs)
    assert np.isfinite(exact).all()
    np.testing.assert_allclose(Programme(num_nodes, edges, costs).largest_sum(), exact, atol=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_with_unreachable_pairs_the_capped_programme_gives_paths_and_the_cap(seed: int) -> None:
    num_nodes, cap = 9, 50.0
    edges, costs = random_graph(seed, num_nodes, connected=False)
    exact = minimum_action_distance(num_nodes, edges)
    assert np.isinf(exact).any()
    solution = Programme(num_nodes, edges, costs).largest_sum(cap)
    np.testing.assert_allclose(solution, np.minimum(exact, cap), atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_every_vertex_of_the_feasible_distances_lies_below(seed: int) -> None:
    num_nodes = 7
    edges, costs = random_graph(seed, num_nodes, connected=True, unit=seed % 2 == 0)
    exact = minimum_action_distance(num_nodes, edges, costs)
    programme = Programme(num_nodes, edges, costs)
    rng = np.random.default_rng(seed)
    vertices = [programme.maximise(rng.normal(size=len(programme.pairs)), (0, None)) for _ in range(5)]
    for feasible in [*vertices, np.mean(vertices, axis=0)]:
        assert (feasible <= exact + 1e-7).all()
    assert any((vertex < exact - 0.1).any() for vertex in vertices)  # else nothing was put to the test


@pytest.mark.parametrize("seed", range(8))
def test_every_feasible_embedding_distance_lies_below(seed: int) -> None:
    # The largest of relu(f(s) - f(s')) over any features f is a quasimetric; scaled until no step is too long
    # it is feasible, also on graphs too large for the programme.
    num_nodes = 40
    edges, costs = random_graph(seed, num_nodes, connected=seed % 2 == 0, unit=False)
    edges, costs = edges[edges[:, 0] != edges[:, 1]], costs[edges[:, 0] != edges[:, 1]]
    features = np.random.default_rng(seed).normal(size=(num_nodes, 6))
    distance = np.maximum(features[:, None] - features[None], 0.0).max(axis=-1)
    distance /= (distance[edges[:, 0], edges[:, 1]] / costs).max()
    assert (distance <= minimum_action_distance(num_nodes, edges, costs) + 1e-12).all()


@given(
    num_nodes=st.integers(1, 12),
    pairs=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=40),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=150, deadline=None)
def test_it_agrees_with_floyd_warshall(num_nodes: int, pairs: list[tuple[int, int]], seed: int) -> None:
    edges = np.array(pairs, dtype=np.int64).reshape(-1, 2) % num_nodes
    costs = np.random.default_rng(seed).uniform(0.01, 9.0, len(edges))
    expected = floyd_warshall(num_nodes, edges, costs)
    np.testing.assert_allclose(minimum_action_distance(num_nodes, edges, costs), expected, rtol=1e-12)
    expected = floyd_warshall(num_nodes, edges, np.ones(len(edges)))
    np.testing.assert_array_equal(minimum_action_distance(num_nodes, edges), expected)


def test_a_one_way_street_is_infinite_backwards_and_parallel_edges_keep_the_least_cost() -> None:
    edges = np.array([[0, 1], [1, 2], [0, 1], [2, 2]])
    exact = minimum_action_distance(3, edges, np.array([3.0, 1.5, 2.0, 7.0]))
    np.testing.assert_array_equal(exact, [[0, 2, 3.5], [np.inf, 0, 1.5], [np.inf, np.inf, 0]])


@pytest.mark.parametrize(
    ("num_nodes", "edges", "costs", "sentence"),
    [
        (0, [[0, 0]], None, "at least one node"),
        (3, [[0, 1], [1, 3]], None, r"Edge 1 is \(1, 3\), but the nodes are 0 to 2"),
        (3, [[0, 1], [-1, 2]], None, "Edge 1"),
        (3, [0, 1, 2], None, r"shape \(m, 2\)"),
        (3, [[0.0, 1.0]], None, "integer array"),
        (3, [[0, 1]], [1.0, 2.0], "one cost per edge"),
        (3, [[0, 1], [1, 2]], [1.0, 0.0], "Edge 1 costs 0"),
        (3, [[0, 1], [1, 2]], [1.0, -2.0], "Edge 1 costs -2"),
        (3, [[0, 1], [1, 2]], [np.nan, 1.0], "Edge 0 costs nan"),
        (3, [[0, 1], [1, 2]], [np.inf, 1.0], "Edge 0 costs inf"),
    ],
)
def test_a_graph_that_makes_no_sense_is_refused(num_nodes: int, edges: list, costs: list | None, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        minimum_action_distance(num_nodes, np.array(edges), None if costs is None else np.array(costs))


def test_nothing_that_learns_is_imported() -> None:
    check = (
        "import sys, minaction.exact._graph, minaction.exact._empirical; "
        "sys.exit(bool({'jax', 'equinox', 'optax'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
