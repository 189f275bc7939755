"""Ways on a graph of recorded states."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from minaction.agents._roadmap import TRODDEN, Roadmap
from minaction.runtimes import _roadmap as runtime


def ring(count: int = 8) -> Roadmap:
    """States 0, 1, ..., each leading to the next, and the last to the first."""
    rows = np.arange(count)
    graph = csr_array((np.ones(count), (rows, (rows + 1) % count)), shape=(count, count))
    return Roadmap(rows[:, None].astype(np.float32), graph, np.array([True]), np.array([False]), np.ones(1), 1.0, True)


def test_the_way_follows_the_direction_of_the_edges() -> None:
    way = ring().way(np.array([5.0]), np.array([3.0]), lookahead=2.0)
    assert way.remaining == 6.0
    assert way.subgoal.tolist() == [7.0]
    assert way.off_road == way.goal_off_road == 0.0


def test_the_goal_itself_comes_last() -> None:
    assert ring().way(np.array([2.0]), np.array([3.2]), lookahead=2.0).subgoal.tolist() == [3.2]


def test_where_no_edge_leads_the_way_is_infinite() -> None:
    parts = ring()
    graph = parts.graph.tolil()
    graph[7, 0] = 0.0
    graph = csr_array(graph)
    graph.eliminate_zeros()
    one_way = Roadmap(parts.states, graph, parts.counts, parts.must_agree, parts.unit, 1.0, True)
    assert np.isinf(one_way.way(np.array([7.0]), np.array([0.0]), 2.0).remaining)
    assert one_way.way(np.array([0.0]), np.array([7.0]), 2.0).remaining == 7.0


def test_a_state_is_as_far_off_as_its_typical_moves_say() -> None:
    scaled = ring()
    scaled = Roadmap(scaled.states, scaled.graph, scaled.counts, scaled.must_agree, np.array([0.5]), 1.0, True)
    assert scaled.way(np.array([0.0]), np.array([9.0]), 2.0).goal_off_road == pytest.approx(4.0)


def test_a_value_that_must_agree_and_was_never_recorded_is_infinitely_far() -> None:
    states = np.array([[0.0, 0.0], [1.0, 0.0]], np.float32)
    graph = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    keyed = Roadmap(states, graph, np.array([True, False]), np.array([False, True]), np.ones(1), 1.0, True)
    assert np.isinf(keyed.way(states[0], np.array([1.0, 1.0]), 2.0).goal_off_road)


def test_of_two_ways_the_trodden_one_is_taken_if_it_is_little_longer() -> None:
    """Along y = 0, where hardly anybody was, it is 10 to the end; around by y = 9, where most were, 11."""
    states = np.array([[0, 0], [5, 0], [10, 0], [0, 9], [10, 9]], np.float32)
    edges = {(0, 1): 5.0, (1, 2): 5.0, (0, 3): 0.5, (3, 4): 10.0, (4, 2): 0.5}
    graph = csr_array((np.array(list(edges.values())), tuple(np.array(list(edges)).T)), shape=(5, 5))
    shortest = Roadmap(states, graph, np.ones(2, bool), np.zeros(2, bool), np.ones(2), 1.0, False)
    recorded = np.repeat(states, [100, 1, 100, 100, 100], axis=0)
    assert shortest.way(states[0], states[2], 4.0).subgoal.tolist() == [5, 0]
    trodden = shortest.on_trodden_ways(recorded)
    assert trodden.way(states[0], states[2], 4.0).subgoal.tolist() == [10, 9]
    np.testing.assert_allclose(trodden.graph[0, 1], 5 * 100**TRODDEN, rtol=1e-6)
    np.testing.assert_allclose(trodden.on_trodden_ways(recorded, -TRODDEN).graph.todense(), graph.todense(), rtol=1e-6)


def test_edges_can_cost_what_a_distance_says() -> None:
    measured = ring().measured(lambda first, second: 3.0 * np.abs(first - second)[:, 0])
    assert measured.way(np.array([5.0]), np.array([3.0]), 2.0).remaining == pytest.approx(
        6.0
    )  # straight back, where all are near


def test_a_node_beside_the_goal_that_nothing_leads_to_does_no_harm() -> None:
    whole = ring()
    states = np.append(whole.states, [[3.1]], axis=0).astype(np.float32)
    edges = whole.graph.tocoo()
    graph = csr_array((edges.data, (edges.row, edges.col)), shape=(9, 9))
    lonely = Roadmap(states, graph, whole.counts, whole.must_agree, whole.unit, 1.0, True)
    assert lonely.way(np.array([0.0]), np.array([3.1]), 1.0).remaining == 3.0


def test_between_states_of_a_sample_a_goal_is_entered_a_few_moves_off_if_need_be() -> None:
    count = 101
    line = np.linspace(0.0, 10.0, count, dtype=np.float32)[:, None]
    rows = np.arange(count - 20)  # nothing leads to the last two units
    graph = csr_array((np.full(len(rows), 0.1), (rows, rows + 1)), shape=(count, count))
    sample, grid = (
        Roadmap(line, graph, np.array([True]), np.array([False]), np.ones(1), 1.0, repeats) for repeats in (False, True)
    )
    assert np.isfinite(sample.way(np.array([0.0]), np.array([10.0]), 1.0).remaining)
    assert np.isinf(grid.way(np.array([0.0]), np.array([10.0]), 1.0).remaining)


def test_a_thin_sample_of_a_large_world_counts_as_recorded_around_its_states() -> None:
    places = np.arange(0.0, 60.0, 3.0, dtype=np.float32)[:, None]  # three moves apart
    rows = np.arange(len(places) - 1)
    graph = csr_array((np.full(len(rows), 3.0), (rows, rows + 1)), shape=(len(places), len(places)))
    thin = Roadmap(places, graph, np.array([True]), np.array([False]), np.ones(1), 1.0, False)
    way = thin.way(np.array([1.4]), np.array([50.0]), 6.0)
    assert thin.holds(way.off_road)
    assert thin.holds(way.goal_off_road)


def test_edges_that_take_no_time_do_not_lead_in_circles() -> None:
    costs = np.array([0.0, 0.0, 1.0, 1.0, 1.0])  # 0 and 1 are the same place
    graph = csr_array((costs, ([0, 1, 1, 2, 3], [1, 0, 2, 3, 4])), shape=(5, 5))
    places = np.array([[0.0], [0.0], [1.0], [2.0], [3.0]], np.float32)
    way = Roadmap(places, graph, np.array([True]), np.array([False]), np.ones(1), 1.0, True).way(
        np.array([0.0]), np.array([3.0]), 2.0
    )
    assert (way.remaining, way.subgoal.tolist()) == (3.0, [2.0])


def test_plain_python_finds_the_times_that_scipy_finds() -> None:
    random = np.random.default_rng(0)
    count = 300
    start, end = random.integers(0, count, (2, 1500))
    graph = csr_array((random.random(1500).astype(np.float32), (start, end)), shape=(count, count))
    graph.sum_duplicates()
    nodes = [random.normal(size=(count, 2)), graph, np.ones(2, bool), np.zeros(2, bool), np.ones(2), 1.0, False]
    with_scipy, plain = Roadmap(*nodes), runtime.Roadmap(*nodes)  # type: ignore[arg-type]
    for goal in range(0, count, 50):
        goals = np.array([goal, goal + 1])
        assert with_scipy._shortest(goals).tolist() == plain._shortest(goals).tolist()


def test_a_badly_joined_node_does_not_send_a_state_to_and_fro() -> None:
    """Nodes on a line towards the goal at 10; but from the one at 2 edges only lead back to 0, and a long way round."""
    places = np.arange(11.0)
    before, after = np.array([1, *range(3, 10), 2, 0]), np.array([2, *range(4, 11), 0, 10])
    cost = np.array([*[1.0] * 9, 20.0])
    graph = csr_array((cost, (before, after)), shape=(11, 11))
    line = (places[:, None].astype(np.float32), graph, np.array([True]), np.array([False]), np.ones(1), 1.0, False)
    goal = np.array([10.0], np.float32)

    def walked(roadmap: Roadmap) -> list[float]:
        at = [2.1]
        for _ in range(5):
            subgoal = float(roadmap.way(np.array(at[-1:], np.float32), goal, 1.0).subgoal[0])
            at.append(at[-1] + np.sign(subgoal - at[-1]))
        return at

    assert walked(Roadmap(*line, straight_time=1.0))[-1] == pytest.approx(7.1)
    assert min(walked(Roadmap(*line))) < 2  # by the nearest node alone


def beside_a_wall() -> Roadmap:
    """A square of 6 x 6 with a wall in it, from below up to 4, and nodes .2 apart, joined where they are near."""
    places = np.stack(np.meshgrid(np.arange(0, 6.01, 0.2), np.arange(0, 6.01, 0.2)), axis=-1).reshape(-1, 2)
    places = places[~((np.abs(places[:, 0] - 3) < 0.9) & (places[:, 1] < 4))]
    way = np.linalg.norm(places[:, None] - places, axis=2)
    graph = csr_array(np.where(way < 0.5, way, 0.0))
    both = np.array([True, True])
    return Roadmap(places.astype(np.float32), graph, both, ~both, np.ones(2), 1.0, False, straight_time=1.0)


def test_no_way_leads_through_a_wall() -> None:
    roadmap = beside_a_wall()
    goal = np.array([4.1, 0.1], np.float32)
    way = roadmap.way(np.array([1.95, 1.0], np.float32), goal, 1.5)
    assert way.remaining == pytest.approx(3 + 1.8 + 3.9, rel=0.1)
    assert way.subgoal[0] < 2.2
    assert way.subgoal[1] > 2


def test_a_subgoal_is_in_sight() -> None:
    at_the_end = beside_a_wall().way(np.array([1.9, 3.6], np.float32), np.array([4.1, 0.1], np.float32), 3.0)
    assert at_the_end.subgoal[1] > 3.7  # and not behind the wall


def test_any_state_around_is_one_that_an_edge_leads_to() -> None:
    roadmap = beside_a_wall()
    here = np.array([1.05, 1.0], np.float32)
    found = np.array([roadmap.around(here, number) for number in range(1, 40)])
    assert (np.linalg.norm(found - here, axis=1) < 0.6).all()
    assert len(np.unique(found, axis=0)) > 8
    np.testing.assert_array_equal(found[3], roadmap.around(here, 4))


def test_a_way_is_looked_along_in_little_memory_where_a_recording_mostly_stood_still() -> None:
    steps = np.tile([1e-9, 1e-9, 1e-9, 1.0], 250)
    places = np.cumsum(steps)[:, None]
    rows = np.arange(len(places) - 1)
    graph = csr_array((np.ones(len(rows)), (rows, rows + 1)), shape=(len(places), len(places)))
    one = np.array([True])
    roadmap = Roadmap(places, graph, one, ~one, np.array([1e-9]), 1.0, False, straight_time=1e-3)
    assert roadmap.way(places[0], places[-1], 300.0).subgoal[0] < 1.1  # the next gap is as wide as a wall
