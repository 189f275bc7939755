"""The maze tasks: what they promise, what they need, and what they give."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from minaction.mazes._layouts import OGBENCH_LAYOUTS, POINT_MAZE_LAYOUTS
from minaction.tasks import Task
from minaction.tasks._mazes import TASKS, InertialBallTask, OgbenchBallTask

OGBENCH_NAMES = [f"ogbench-pointmaze-{m}-{b}" for m in ("medium", "large", "giant") for b in ("navigate", "stitch")]


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


def test_every_maze_of_the_paper_is_there() -> None:
    assert list(TASKS) == ["pointmaze-umaze", "pointmaze-medium", *OGBENCH_NAMES]
    for name, task in TASKS.items():
        assert isinstance(task, Task)
        assert task.name == name
        assert len(task.summary) < 90
        assert task.fresh_data_per_seed is False


@pytest.mark.parametrize(
    ("name", "length", "default_episodes"),
    [
        ("ogbench-pointmaze-medium-navigate", 1001, 1000),
        ("ogbench-pointmaze-large-navigate", 1001, 1000),
        ("ogbench-pointmaze-giant-navigate", 2001, 500),
        ("ogbench-pointmaze-giant-stitch", 201, 1000),
    ],
)
def test_data_of_ogbench_tasks(name: str, length: int, default_episodes: int) -> None:
    pytest.importorskip("ogbench")
    task = TASKS[name]
    assert isinstance(task, OgbenchBallTask)
    data = task.trajectories(0, episodes=2, keep_actions=True)
    assert data.lengths.tolist() == [length, length]
    assert data.state_shape == (2,)
    assert task.default_episodes == default_episodes
    # Where no wall is near, a recorded action explains the recorded move.
    assert data.actions is not None
    moves = np.diff(data.episode(0), axis=0)
    clear = task.maze.clearance(data.episode(0)[1:].astype(np.float64)) > 0.75
    assert clear.mean() > 0.5
    assert np.abs(moves - 0.2 * data.actions[: length - 1])[clear].max() < 1e-5


def test_default_data_is_made_without_asking_for_anything() -> None:
    pytest.importorskip("ogbench")
    seen: list[tuple[int, int]] = []
    task = TASKS["ogbench-pointmaze-giant-stitch"]
    assert isinstance(task, OgbenchBallTask)
    data = task.trajectories(0, progress=lambda done, total: seen.append((done, total)))
    assert (data.num_episodes, data.num_states) == (1000, 201_000)
    assert data.actions is None
    assert seen[-1] == (1000, 1000)
    cells = task.maze.cell_index[tuple(task.maze.cell_of(data.states.astype(np.float64)).T)]
    assert np.bincount(cells, minlength=86).min() > 0


@pytest.mark.parametrize("name", OGBENCH_NAMES[::2])
def test_truths_of_ogbench_tasks(name: str) -> None:
    layout = OGBENCH_LAYOUTS[name.split("-")[2]]
    steps, cells, anywhere = TASKS[name].truths()
    count = len(layout.free_cells)
    assert [(t.name, t.unit) for t in (steps, cells, anywhere)] == [
        ("steps", "steps"),
        ("cells", "cells"),
        ("steps-anywhere", "steps"),
    ]
    assert np.array_equal(steps.sources, layout.centres)
    assert steps.sources.dtype == np.float32
    assert steps.distances.shape == cells.distances.shape == (count, count)
    assert anywhere.sources.shape == (200, 2)
    assert layout.is_free(anywhere.sources.astype(np.float64)).mean() > 0.99
    assert np.isfinite(anywhere.distances).all()
    off_diagonal = ~np.eye(count, dtype=bool)
    assert 0.97 < np.corrcoef(steps.distances[off_diagonal], cells.distances[off_diagonal])[0, 1] < 0.995


def test_navigate_and_stitch_are_judged_at_the_same_places_every_time() -> None:
    one, two = (TASKS[f"ogbench-pointmaze-medium-{way}"].truths() for way in ("navigate", "stitch"))
    for first, second in zip(one, two, strict=True):
        assert np.array_equal(first.sources, second.sources)
        assert np.array_equal(first.distances, second.distances)


@pytest.mark.parametrize("name", ["umaze", "medium"])
def test_truths_of_the_ball_with_inertia(name: str) -> None:
    layout, task = POINT_MAZE_LAYOUTS[name], TASKS[f"pointmaze-{name}"]
    assert isinstance(task, InertialBallTask)
    steps, cells, anywhere = task.truths()
    assert np.array_equal(steps.sources[:, :2], layout.centres)
    assert (steps.sources[:, 2:] == 0).all()
    assert steps.distances.shape == cells.distances.shape == (len(layout.centres),) * 2
    assert anywhere.sources.shape == (200, 4)
    assert np.isfinite(anywhere.distances).all()
    assert anywhere.distances.max() > steps.distances.max()
    assert cells.distances.max() == {"umaze": 6, "medium": 11}[name]


def test_data_of_the_ball_with_inertia() -> None:
    pytest.importorskip("gymnasium_robotics")
    task = TASKS["pointmaze-umaze"]
    assert isinstance(task, InertialBallTask)
    data = task.trajectories(0, episodes=3)
    assert data.lengths.tolist() == [301] * 3
    assert data.state_shape == (4,)
    assert np.abs(np.diff(data.episode(0)[:, :2], axis=0) - 0.01 * data.episode(0)[1:, 2:]).max() < 1e-5


@pytest.mark.parametrize("name", list(TASKS))
def test_the_picture_shows_the_free_space(name: str) -> None:
    task = TASKS[name]
    assert isinstance(task, InertialBallTask | OgbenchBallTask)
    picture = task.layout()
    maze = task.maze
    assert picture.shape == (8 * maze.walls.shape[0], 8 * maze.walls.shape[1])
    assert np.array_equal(maze.cell_of(picture.states[:, :2].astype(np.float64)), picture.pixels // 8)
    assert len(np.unique(picture.pixels, axis=0)) == len(picture.pixels)
    assert set(map(tuple, picture.pixels // 8)) == set(map(tuple, maze.free_cells))
    assert (picture.states[:, 2:] == 0).all()


def test_truths_and_pictures_load_no_simulator() -> None:
    code = """
import sys
from minaction.tasks._mazes import TASKS
for name in ("pointmaze-umaze", "ogbench-pointmaze-medium-stitch"):
    TASKS[name].truths()
    TASKS[name].layout()
loaded = {"mujoco", "ogbench", "gymnasium_robotics", "gymnasium", "jax"} & set(sys.modules)
print(sorted(loaded))
"""
    result = run_python(code)
    assert result.stdout.strip() == "[]", result.stderr


@pytest.mark.parametrize(
    ("name", "package"),
    [("pointmaze-umaze", "gymnasium_robotics"), ("ogbench-pointmaze-medium-stitch", "ogbench")],
)
def test_a_missing_simulator_is_named_with_its_extra(name: str, package: str) -> None:
    code = f"""
import sys
sys.modules[{package!r}] = None
from minaction.errors import MissingExtra
from minaction.tasks._mazes import TASKS
try:
    TASKS[{name!r}].trajectories(0)
except MissingExtra as error:
    print(error)
"""
    result = run_python(code)
    assert "minaction[mazes]" in result.stdout, result.stderr
