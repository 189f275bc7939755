"""Synthetic worlds: their exact truths against searches that know only the rules, and against what is recorded."""

from __future__ import annotations

from collections import deque
from typing import TypeVar

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.exact._empirical import observed_distance, observed_transitions
from minaction.exact._rooms import Room
from minaction.tasks._base import Task
from minaction.tasks._parts import TASKS as PARTS
from minaction.tasks._parts import PartsTask
from minaction.tasks._synthetic import TASKS as OTHERS
from minaction.tasks._synthetic import OneWayTask, SparseGridTask
from minaction.trajectories import Trajectories

TASKS: dict[str, Task] = {**PARTS, **OTHERS}
T = TypeVar("T")


def of_kind(kind: type[T], name: str) -> T:
    task = TASKS[name]
    assert isinstance(task, kind)
    return task


def rows_in(states: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The row of `known` that each of `states` is."""
    place = {row.tobytes(): k for k, row in enumerate(known)}
    return np.array([place[row.tobytes()] for row in states])


def plan_points(task: PartsTask, data: Trajectories) -> np.ndarray:
    """Recorded states back in the plan of a room: the episode tells the part, its bits how it is turned."""
    part = np.repeat(np.arange(data.num_episodes) % task.parts, data.lengths)
    pitch = task.room.side + task.spacing
    points = task.view.places(data.states) - np.stack([part % 4, part // 4], axis=1) * pitch
    points[part & 4 > 0] = points[part & 4 > 0][:, ::-1]
    points[part & 1 > 0, 0] = task.room.side - points[part & 1 > 0, 0]
    points[part & 2 > 0, 1] = task.room.side - points[part & 2 > 0, 1]
    return points


# ---------------------------------------------------------------- all of them


@pytest.mark.parametrize("name", TASKS)
def test_members_follow_the_contract(name: str) -> None:
    task = TASKS[name]
    assert isinstance(task, Task)
    assert task.name == name
    assert task.fresh_data_per_seed
    assert "\n" not in task.summary
    assert hash(task) == hash(TASKS[name])
    data = task.trajectories(0)
    (truth,) = task.truths()
    assert data.num_episodes == task.default_episodes
    assert data.state_shape == task.state_shape == truth.sources.shape[1:]
    assert data.states.dtype == truth.sources.dtype == np.float32
    assert truth.distances.dtype == np.float64
    assert (np.diag(truth.distances) == 0).all()
    through = (truth.distances[:, :, None] + truth.distances[None])[:40]
    assert (truth.distances[:40] <= through.min(axis=1) + 1e-9).all()


@pytest.mark.parametrize("name", TASKS)
def test_same_seed_same_bytes(name: str) -> None:
    task = TASKS[name]
    assert task.trajectories(5).fingerprint == task.trajectories(5).fingerprint
    assert task.trajectories(5).fingerprint != task.trajectories(6).fingerprint
    assert task.trajectories(5, episodes=3).num_episodes == 3
    assert task.trajectories(5).actions is None
    assert task.trajectories(5, keep_actions=True).actions is not None
    one, other = task.truths()[0], task.truths()[0]
    np.testing.assert_array_equal(one.distances, other.distances)
    np.testing.assert_array_equal(one.sources, other.sources)
    with pytest.raises(InputError, match="at least 1"):
        task.trajectories(0, episodes=0)


@pytest.mark.parametrize("name", TASKS)
def test_columns_differ_in_size_and_lie_off_zero(name: str) -> None:
    states = TASKS[name].trajectories(0).states
    spread, middle = states.std(axis=0), states.mean(axis=0)
    assert spread[1] > 100 * spread[0]
    assert middle[0] > 100 * spread[0]


@pytest.mark.parametrize("name", TASKS)
def test_no_truth_exceeds_a_recorded_gap(name: str) -> None:
    task = TASKS[name]
    data = task.trajectories(2, episodes=24)
    points = plan_points(task, data) if isinstance(task, PartsTask) else np.empty(0)
    (truth,) = task.truths()
    for k in range(data.num_episodes):
        span = slice(data.offsets[k], data.offsets[k + 1])
        clock = np.arange(data.lengths[k]) if data.times is None else data.times[span]
        gaps = clock - clock[:, None]
        if isinstance(task, PartsTask):
            least, slack = task.room.shortest_paths(points[span]), 2e-3  # float32 is coarse so far from zero
        else:
            rows = rows_in(data.states[span], truth.sources)
            least, slack = truth.distances[np.ix_(rows, rows)], 1e-9
        later = gaps > 0
        assert (least[later] <= gaps[later] + slack).all()


@pytest.mark.parametrize("name", TASKS)
def test_pixels_are_distinct_and_inside(name: str) -> None:
    layout = TASKS[name].layout()
    assert layout is not None
    assert (layout.pixels >= 0).all()
    assert (layout.pixels < layout.shape).all()
    assert len(np.unique(layout.pixels, axis=0)) == len(layout.pixels) == len(layout.states)


# ---------------------------------------------------------------- parts that do not connect


def test_shortest_paths_equal_a_search_over_a_fine_lattice() -> None:
    room, per_unit = Room(), 2
    count = int(room.side) * per_unit + 1

    def walled(x: float, y: float) -> bool:  # only inside: a wall's border may be walked on
        x, y = x / per_unit, y / per_unit
        return any(x0 < x < x1 and y0 < y < y1 for x0, y0, x1, y1 in room.walls)

    free = np.array([(x, y) for x in range(count) for y in range(count) if not walled(x, y)])
    points = np.random.default_rng(0).choice(free, 30, replace=False)
    expected = np.empty((len(points), len(points)))
    for k, point in enumerate(points.tolist()):
        steps = {tuple(point): 0}
        waiting = deque([tuple(point)])
        while waiting:
            x, y = waiting.popleft()
            for dx, dy in [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
                to = (x + dx, y + dy)
                blocked = walled(*to) or walled(x + dx / 2, y + dy / 2)  # a diagonal could cut a corner
                if min(to) >= 0 and max(to) < count and not blocked and to not in steps:
                    steps[to] = steps[x, y] + 1
                    waiting.append(to)
        expected[k] = [steps[tuple(other)] / per_unit for other in points.tolist()]
    np.testing.assert_allclose(room.shortest_paths(points / per_unit), expected, atol=1e-9)


def test_sight_equals_looking_at_many_points_on_the_way() -> None:
    room, random = Room(), np.random.default_rng(1)
    starts, ends = random.uniform(0, room.side, (2, 500, 2))
    free = room.is_free(starts) & room.is_free(ends)
    starts, ends = starts[free], ends[free]
    share = np.linspace(0, 1, 4001)[:, None, None]
    np.testing.assert_array_equal(room.sees(starts, ends), room.is_free(starts + share * (ends - starts)).all(axis=0))


@pytest.mark.parametrize("parts", [2, 4, 8])
def test_only_what_is_in_one_room_is_reachable(parts: int) -> None:
    task = of_kind(PartsTask, f"parts-{parts}")
    (truth,) = task.truths()
    assert truth.unit == "steps"
    pitch = task.room.side + task.spacing
    room = np.floor((task.view.places(truth.sources) + task.spacing / 2) / pitch)
    assert len(np.unique(room, axis=0)) == parts
    same = (room[:, None] == room[None]).all(axis=2)
    np.testing.assert_array_equal(np.isfinite(truth.distances), same)
    assert same.mean() == pytest.approx(1 / parts)
    straight = np.abs(task.view.places(truth.sources)[:, None] - task.view.places(truth.sources)).max(axis=2)
    assert (truth.distances[same] >= straight[same] - 2e-3).all()
    assert (truth.distances[same] > straight[same] + 1).mean() > 0.2  # walls matter


@pytest.mark.parametrize("parts", [2, 4, 8])
def test_recordings_stay_free_and_fill_every_room(parts: int) -> None:
    task = of_kind(PartsTask, f"parts-{parts}")
    data = task.trajectories(0)
    points = plan_points(task, data)
    low, high = points - 1e-3, points + 1e-3  # float32 may put a state a hair into a wall
    assert (task.room.is_free(np.clip(points, 0, 20)) | task.room.is_free(low) | task.room.is_free(high)).all()
    same = np.ones(data.num_states - 1, dtype=bool)
    same[data.offsets[1:-1] - 1] = False
    assert np.abs(np.diff(points, axis=0))[same].max() <= 1 + 2e-3
    part = np.repeat(np.arange(data.num_episodes) % parts, data.lengths)
    squares = np.unique(np.column_stack([part, np.floor(np.clip(points, 0, 19.99))]), axis=0)
    layout = task.layout()
    assert len(squares) > 0.95 * len(layout.states)


def test_rooms_are_drawn_as_they_are_turned() -> None:
    task = of_kind(PartsTask, "parts-8")
    layout = task.layout()
    drawn = np.zeros(layout.shape, dtype=bool)
    drawn[tuple(layout.pixels.T)] = True
    rooms = [drawn[21 * (k // 4) :][:20, 21 * (k % 4) :][:, :20] for k in range(8)]
    assert len({room.tobytes() for room in rooms}) == 4  # the plan looks the same when turned by half
    assert drawn.sum() == sum(room.sum() for room in rooms)


# ---------------------------------------------------------------- one way


@pytest.mark.parametrize("name", ["one-way-ring", "one-way-line"])
def test_one_way_truth_equals_relaxing_every_step_until_nothing_changes(name: str) -> None:
    task = of_kind(OneWayTask, name)
    (truth,) = task.truths()
    reached, durations = task.steps
    least = np.where(np.eye(task.num_places, dtype=bool), 0.0, np.inf)
    for _ in range(task.num_places):
        for place in range(task.num_places):
            for to, duration in zip(reached[place], durations[place], strict=True):
                least[:, to] = np.minimum(least[:, to], least[:, place] + duration)
    np.testing.assert_allclose(truth.distances, least)
    assert truth.unit == "time"


@pytest.mark.parametrize("name", ["one-way-ring", "one-way-line"])
def test_enough_recordings_show_the_one_way_truth(name: str) -> None:
    task = of_kind(OneWayTask, name)
    data = task.trajectories(0, episodes=3000)
    (truth,) = task.truths()
    states, observed = observed_distance(data)
    rows = rows_in(states, truth.sources)
    assert len(states) == task.num_places
    np.testing.assert_allclose(observed, truth.distances[np.ix_(rows, rows)], rtol=1e-9)
    _, _, durations = observed_transitions(task.trajectories(0))
    assert durations.max() > 5 * durations.min()


def test_nothing_leads_back_on_the_line_and_everything_round_the_ring() -> None:
    line, ring = (TASKS[name].truths()[0] for name in ("one-way-line", "one-way-ring"))
    np.testing.assert_array_equal(np.isfinite(line.distances), np.triu(np.ones((60, 60), dtype=bool)))
    assert np.isfinite(ring.distances).all()
    there = ring.distances[np.arange(60), (np.arange(60) + 1) % 60]
    back = ring.distances[(np.arange(60) + 1) % 60, np.arange(60)]
    assert (back > 10 * there).all()


def test_episodes_on_the_line_end_at_its_end() -> None:
    task = of_kind(OneWayTask, "one-way-line")
    data = task.trajectories(0)
    rows = rows_in(data.states, task.truths()[0].sources)
    for k in range(data.num_episodes):
        passed = rows[data.offsets[k] : data.offsets[k + 1]]
        assert len(passed) >= 2
        assert set(np.diff(passed).tolist()) <= {1, 2}
        assert passed[-1] == 59 or len(passed) == task.episode_steps + 1


# ---------------------------------------------------------------- sparse grid


def test_grid_truth_equals_a_search_over_its_cells() -> None:
    task = of_kind(SparseGridTask, "sparse-grid")
    (truth,) = task.truths()
    places = [tuple(place) for place in np.rint(task.view.places(truth.sources)).astype(int).tolist()]
    assert set(places) == {(x, y) for x in range(20) for y in range(20) if x != 10 or y >= 15}
    for source in (0, 100, 200, 384):
        steps = {places[source]: 0}
        waiting = deque([places[source]])
        while waiting:
            x, y = waiting.popleft()
            for to in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if to in set(places) and to not in steps:
                    steps[to] = steps[x, y] + 1
                    waiting.append(to)
        np.testing.assert_array_equal(truth.distances[source], [steps[place] for place in places])


def test_half_of_the_grids_steps_are_missing() -> None:
    task = of_kind(SparseGridTask, "sparse-grid")
    true_steps = int((task.truths()[0].distances == 1).sum())
    for seed in range(5):
        _, edges, _ = observed_transitions(task.trajectories(seed))
        assert 0.4 < len(np.unique(edges, axis=0)) / true_steps < 0.6
