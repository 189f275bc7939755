"""The recording as a graph against breadth-first search, norms and hand-made answers."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.errors import InputError
from minaction.recorded import recorded_distance
from minaction.trajectories import Trajectories

# ---------------------------------------------------------------- small worlds whose distances can be written down

MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))
Cell = tuple[int, int]


def grid_walks(
    size: int, episodes: int, steps: int, seed: int = 0, allowed: Callable[[Cell, Cell], bool] = lambda a, b: True
) -> Trajectories:
    """Random walks on a square grid, from anywhere; a step that is not `allowed` does not happen."""
    random = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        cell = (int(random.integers(size)), int(random.integers(size)))
        walk = [cell]
        for _ in range(steps):
            dx, dy = MOVES[random.integers(4)]
            following = (cell[0] + dx, cell[1] + dy)
            if all(0 <= c < size for c in following) and allowed(cell, following):
                cell = following
            walk.append(cell)
        walks.append(np.array(walk, np.float32))
    return Trajectories.from_episodes(walks)


def grid_distances(
    cells: np.ndarray, size: int, allowed: Callable[[Cell, Cell], bool] = lambda a, b: True
) -> np.ndarray:
    """The true distances between cells by breadth-first search in plain Python."""
    listed = [(int(x), int(y)) for x, y in cells]
    distances = np.full((len(listed), len(listed)), np.inf)
    for row, source in enumerate(listed):
        found, queue = {source: 0}, deque([source])
        while queue:
            cell = queue.popleft()
            for dx, dy in MOVES:
                following = (cell[0] + dx, cell[1] + dy)
                inside = all(0 <= c < size for c in following)
                if inside and following not in found and allowed(cell, following):
                    found[following] = found[cell] + 1
                    queue.append(following)
        distances[row] = [found.get(cell, np.inf) for cell in listed]
    return distances


def ball_walks(
    episodes: int, steps: int, seed: int = 0, blocked: Callable[[np.ndarray, np.ndarray], bool] = lambda a, b: False
) -> Trajectories:
    """A ball in a box of 10 x 10 that moves by up to 0.5 in x and in y; a `blocked` step does not happen."""
    random = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        place = random.uniform(0, 10, 2)
        walk = [place]
        for _ in range(steps):
            following = place + np.clip(random.normal(0, 0.5, 2), -0.5, 0.5)
            if (following >= 0).all() and (following <= 10).all() and not blocked(place, following):
                place = following
            walk.append(place)
        walks.append(np.array(walk, np.float32))
    return Trajectories.from_episodes(walks)


def clock(episodes: int, steps: int, seed: int = 0) -> tuple[Trajectories, Callable[[np.ndarray], np.ndarray]]:
    """A hand that turns once in 60 seconds, seen every 1 to 2 of them; and what it looks like at given seconds."""

    def seen(seconds: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi * seconds / 60
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)

    random = np.random.default_rng(seed)
    times = [random.uniform(0, 60) + np.cumsum(random.uniform(1, 2, steps)) for _ in range(episodes)]
    return Trajectories.from_episodes([seen(seconds) for seconds in times], times=times), seen


def line(places: list[float], times: list[float] | None = None) -> Trajectories:
    states = np.array(places, np.float32)[:, None]
    return Trajectories.from_episodes([states] * 3, times=None if times is None else [np.array(times)] * 3)


# ---------------------------------------------------------------- states that repeat


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


# ---------------------------------------------------------------- states that do not


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


# ---------------------------------------------------------------- what holds for every graph


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
    with pytest.raises(InputError, match="whole-numbered"):
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
