"""The graph of states that repeat, against breadth-first search and hand-made answers."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction.recorded import recorded_distance
from minaction.trajectories import Trajectories

from .worlds import Cell, grid_distances, grid_walks, line


def test_a_fully_recorded_grid_has_its_true_distances() -> None:
    data = grid_walks(5, episodes=60, steps=100)
    graph = recorded_distance(data)
    assert graph.repeats
    assert graph.free
    assert len(graph) == 25
    np.testing.assert_array_equal(graph.pairwise(graph.nodes), grid_distances(graph.nodes, 5))


def test_steps_that_nobody_took_are_borrowed() -> None:
    data = grid_walks(9, episodes=8, steps=60, seed=1)
    _, observed = ma.observed_distance(data)
    true = grid_distances(data.distinct.states, 9)
    found = recorded_distance(data).pairwise(data.distinct.states)
    assert (observed != true).mean() > 0.2  # the recording misses many steps
    assert (found != true).mean() < 0.03
    assert np.abs(found - true).max() <= 2


def test_a_wall_between_cells_often_visited_is_not_crossed() -> None:
    def allowed(a: Cell, b: Cell) -> bool:
        return {a[0], b[0]} != {2, 3} or a[1] == 6  # a wall without thickness, open in the last row

    data = grid_walks(7, episodes=100, steps=100, allowed=allowed)
    graph = recorded_distance(data)
    np.testing.assert_array_equal(graph.pairwise(graph.nodes), grid_distances(graph.nodes, 7, allowed))


def test_no_cell_of_a_long_wall_is_crossed_however_seldom_it_was_visited() -> None:
    def allowed(a: Cell, b: Cell) -> bool:
        return {a[0], b[0]} != {9, 10} or a[1] == 2

    data = grid_walks(20, episodes=100, steps=200, seed=7, allowed=allowed)  # some cells have a dozen visits
    graph = recorded_distance(data)
    np.testing.assert_array_equal(graph.pairwise(graph.nodes), grid_distances(graph.nodes, 20, allowed))


def boards_after(board: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The boards of a sliding puzzle of 2 x 3 that one move leads to; 0 is the blank."""
    blank = board.index(0)
    beside = [place for place in (blank - 3, blank + 3) if 0 <= place < 6]
    beside += [place for place in (blank - 1, blank + 1) if place // 3 == blank // 3]
    following = []
    for place in beside:
        swapped = list(board)
        swapped[blank], swapped[place] = swapped[place], swapped[blank]
        following.append(tuple(swapped))
    return following


def test_moves_that_neighbours_seldom_share_are_not_lent() -> None:
    """Boards of a puzzle that lie side by side as numbers have other moves."""
    random = np.random.default_rng(0)
    walks = []
    for _ in range(100):
        walk = [tuple(int(tile) for tile in random.permutation(6))]
        for _ in range(200):
            following = boards_after(walk[-1])
            walk.append(following[random.integers(len(following))])
        walks.append(np.array(walk, np.float32))
    graph = recorded_distance(Trajectories.from_episodes(walks))
    boards = [tuple(int(tile) for tile in node) for node in graph.nodes]
    wrong = [
        (boards[a], boards[b])
        for a, b in zip(*graph.graph.nonzero(), strict=True)
        if boards[b] not in boards_after(boards[a])
    ]
    assert not wrong


def test_a_gap_is_bridged_where_nobody_had_the_chance_and_is_a_wall_where_many_had() -> None:
    rows = [[(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 1), (2, 1)], [(0, 0), (0, 1)], [(2, 1), (2, 0)]]
    rows += [[(4, 0), (5, 0)], [(4, 1), (5, 1)], [(5, 0), (5, 1)], [(4, 1), (4, 0)]]  # column 3 was never visited
    once = [np.array(row, np.float32) for row in rows]
    back = [episode[::-1].copy() for episode in once]
    seldom = recorded_distance(Trajectories.from_episodes(once + back))
    often = recorded_distance(Trajectories.from_episodes((once + back) * 100))
    assert seldom.pairwise([[2, 0]], [[4, 0]]).item() == pytest.approx(2)
    assert np.isinf(often.pairwise([[2, 0]], [[4, 0]])).item()


def test_a_key_that_is_never_lost_and_steps_lent_across_it() -> None:
    walks = grid_walks(5, episodes=60, steps=60)
    states = []
    for k in range(walks.num_episodes):
        cells = walks.episode(k)
        key = np.cumsum((cells == (4, 4)).all(axis=1)) > 0
        states.append(np.column_stack([cells, key]).astype(np.float32))
    graph = recorded_distance(Trajectories.from_episodes(states))
    np.testing.assert_array_equal(graph.must_agree, [False, False, True])
    assert graph.pairwise([[0, 0, 0]], [[0, 0, 1]]).item() == 16  # to the key and back
    assert np.isinf(graph.pairwise([[0, 0, 1]], [[0, 0, 0]])).item()
    assert not graph.reachable([[0, 0, 1]], [[0, 0, 0]]).item()
    assert np.isinf(graph.nearest_node([[0, 0, 7]]).away).item()  # a value that was never recorded


def test_parts_that_do_not_connect_stay_apart() -> None:
    walks = grid_walks(4, episodes=60, steps=60)
    moved = [walks.episode(k) + np.array([50 * (k % 3), 0], np.float32) for k in range(walks.num_episodes)]
    graph = recorded_distance(Trajectories.from_episodes(moved))
    part = graph.nodes[:, 0] // 50
    distances = graph.pairwise(graph.nodes)
    np.testing.assert_array_equal(np.isfinite(distances), part[:, None] == part)
    np.testing.assert_array_equal(graph.parts[:, None] == graph.parts, part[:, None] == part)
    assert distances[np.isfinite(distances)].max() == 6


def test_where_episodes_end_and_none_goes_on_nothing_is_borrowed() -> None:
    data = grid_walks(5, episodes=100, steps=100)
    ended = []
    for k in range(data.num_episodes):
        cells = data.episode(k)
        at_goal = np.flatnonzero((cells == (2, 2)).all(axis=1))
        ended.append(cells[: at_goal[0] + 1] if len(at_goal) else cells)
    graph = recorded_distance(Trajectories.from_episodes([cells for cells in ended if len(cells) > 1]))
    assert np.isinf(graph.pairwise([[2, 2]], [[0, 0], [4, 4]])).all()
    assert graph.pairwise([[1, 2]], [[3, 2]]).item() == 4  # around it


def test_a_one_way_line_costs_its_recorded_times() -> None:
    graph = recorded_distance(line([0, 1, 2, 3], times=[0, 0.5, 3, 4]))
    expected = [[0, 0.5, 3, 4], [np.inf, 0, 2.5, 3.5], [np.inf, np.inf, 0, 1], [np.inf, np.inf, np.inf, 0]]
    np.testing.assert_allclose(graph.pairwise([[0], [1], [2], [3]]), expected)
