"""The ant's tasks: data, truths, what they say about their data, and the person's own OGBench files."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from minaction.commands._data import data as data_command
from minaction.commands._options import Data
from minaction.mazes._layouts import ANT_LAYOUTS
from minaction.mazes._teleport import LAYOUT, directed_cell_distances
from minaction.mazes._truth import cell_distances
from minaction.tasks import TASKS as REGISTRY
from minaction.tasks import Task, get_task, read
from minaction.tasks._ant_mazes import TASKS, AntTask, standing_at, walking_speed
from minaction.trajectories import Trajectories

EXPLORE = "ogbench-antmaze-medium-explore"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person without OGBench's files and with an empty cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def short(name: str, length: int = 30) -> AntTask:
    task = TASKS[name]
    assert isinstance(task, AntTask)
    return replace(task, recipe=replace(task.recipe, length=length))


def test_the_tasks_of_the_paper_and_ogbenchs_larger_mazes_are_there() -> None:
    assert list(TASKS) == [
        *(f"ogbench-antmaze-medium-{behaviour}" for behaviour in ("navigate", "stitch", "explore")),
        *(f"ogbench-antmaze-large-{behaviour}" for behaviour in ("navigate", "stitch", "explore")),
        *(f"ogbench-antmaze-giant-{behaviour}" for behaviour in ("navigate", "stitch")),
        "ogbench-antmaze-teleport-explore",
        "ogbench-antmaze-teleport-curated",
    ]
    for name, task in TASKS.items():
        assert get_task(name) is task
        assert isinstance(task, Task)
        assert len(task.summary) < 90
        assert task.default_episodes == (500 if name == "ogbench-antmaze-giant-navigate" else 1000)


@pytest.mark.parametrize("maze", ["large", "giant"])
def test_truths_of_the_larger_mazes(maze: str) -> None:
    cells, steps = TASKS[f"ogbench-antmaze-{maze}-stitch"].truths()
    layout = ANT_LAYOUTS[maze]
    np.testing.assert_array_equal(cells.distances, cell_distances(layout))
    neighbours = cells.distances == 1
    np.testing.assert_allclose(steps.distances[neighbours], layout.cell_size / walking_speed())
    np.testing.assert_array_equal(np.isfinite(steps.distances), np.isfinite(cells.distances))


def test_truths_of_the_medium_maze() -> None:
    cells, steps = TASKS[EXPLORE].truths()
    assert [(truth.name, truth.unit) for truth in (cells, steps)] == [("cells", "cells"), ("steps", "steps")]
    layout = ANT_LAYOUTS["medium"]
    np.testing.assert_array_equal(cells.distances, cell_distances(layout))
    np.testing.assert_array_equal(cells.sources, standing_at(layout.centres))
    np.testing.assert_allclose(cells.sources[:, 2:], np.tile([0.75, 1, *[0] * 25], (26, 1)))
    # In a straight corridor the way is the distance between the centres.
    index = layout.cell_index
    assert steps.distances[index[4, 1], index[5, 1]] == pytest.approx(4 / walking_speed())
    assert 0.1 < walking_speed() < 0.4
    assert np.isfinite(steps.distances).all()


@pytest.mark.parametrize("name", ["ogbench-antmaze-teleport-explore", "ogbench-antmaze-teleport-curated"])
def test_truths_of_the_teleport_maze_are_directed(name: str) -> None:
    cells, steps = TASKS[name].truths()
    np.testing.assert_array_equal(cells.distances, directed_cell_distances())
    assert np.isinf(cells.distances).sum() == 44
    assert steps.distances.shape == (43, 43)  # nobody is observed in a black hole
    assert np.isinf(steps.distances).sum() == 42
    both = np.isfinite(steps.distances) & np.isfinite(steps.distances.T)
    assert (np.abs(steps.distances - steps.distances.T)[both] > 20).sum() > 100


def test_pictures_show_the_ant_standing() -> None:
    layout = TASKS["ogbench-antmaze-teleport-explore"].layout()
    assert layout is not None
    assert layout.shape == (72, 96)
    assert layout.states.shape[1] == 29
    assert (layout.states[:, 2] == 0.75).all()
    assert LAYOUT.is_free(layout.states[:, :2].astype(np.float64)).all()


def test_truths_and_pictures_load_no_simulator() -> None:
    code = """
import sys
from minaction.tasks._ant_mazes import TASKS
for task in TASKS.values():
    task.truths()
    task.layout()
assert not {"mujoco", "ogbench", "jax"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_facts_count_cells_and_flipped_ants() -> None:
    centres = ANT_LAYOUTS["medium"].centres
    upright, flipped = standing_at(centres[:2]), standing_at(centres[2:4])
    flipped[:, 3:5] = [0, 1]
    episodes = [upright, flipped, np.concatenate([flipped, upright]), upright]
    task = TASKS[EXPLORE]
    assert isinstance(task, AntTask)
    facts = task.facts(Trajectories.from_episodes(episodes))
    assert facts["cells visited"] == "4 of 26"
    assert facts["flipped ants"] == "2 episodes, 1 of them to the end"


@pytest.mark.parametrize("name", list(TASKS))
def test_same_seed_same_bytes(name: str) -> None:
    pytest.importorskip("ogbench")
    task = short(name)
    first, again, other = (task.trajectories(seed, episodes=2, keep_actions=True) for seed in (0, 0, 1))
    assert first.states.tobytes() == again.states.tobytes() != other.states.tobytes()
    assert first.actions is not None
    assert first.actions.shape == (60, 8)
    assert "MuJoCo" in task.facts(first)["made by"]


def test_data_of_another_mujoco_is_made_anew_and_said_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("ogbench")
    monkeypatch.setitem(REGISTRY._members(), EXPLORE, short(EXPLORE))
    with caplog.at_level(logging.WARNING):
        first = read(EXPLORE, episodes=2)
        assert read(EXPLORE, episodes=2).states.tobytes() == first.states.tobytes()
        assert not caplog.records
        monkeypatch.setattr("minaction.tasks._ant_mazes.mujoco_version", lambda: "9.9.9")
        read(EXPLORE, episodes=2)
    (record,) = caplog.records
    assert "MuJoCo 9.9.9" in record.getMessage()
    assert EXPLORE in record.getMessage()
    import mujoco

    assert f"MuJoCo {mujoco.__version__}" in record.getMessage()


def test_making_data_reports_flipped_ants_and_drawing_it_shows_the_maze(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("ogbench")
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(REGISTRY._members(), EXPLORE, short(EXPLORE))
    assert data_command(Data("make", EXPLORE, episodes=2)) == 0
    shown = capsys.readouterr().out
    for fact in ("cells visited", "flipped ants", "MuJoCo"):
        assert fact in shown
    assert data_command(Data("draw", EXPLORE, str(tmp_path / "explore.png"), episodes=2)) == 0
    assert (tmp_path / "explore.png").stat().st_size > 5000


def write_as_ogbench_does(path: Path, episodes: list[np.ndarray]) -> None:
    """Observations, actions and terminals in one row each; an episode's last row is its terminal one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    terminals = [np.arange(len(episode)) == len(episode) - 1 for episode in episodes]
    observations = np.concatenate(episodes).astype(np.float32)
    np.savez_compressed(
        path,
        observations=observations,
        actions=np.zeros((len(observations), 8), dtype=np.float32),
        terminals=np.concatenate(terminals).astype(np.float32),
        qpos=observations[:, :15],
        qvel=observations[:, 15:],
    )


def test_a_persons_own_ogbench_file_is_used(home: Path) -> None:
    random = np.random.default_rng(0)
    episodes = [random.normal(size=(501, 29)) for _ in range(3)]
    path = home / ".ogbench" / "data" / "antmaze-medium-explore-v0.npz"
    write_as_ogbench_does(path, episodes)
    direct = read(path)
    assert (direct.num_episodes, direct.state_shape) == (3, (29,))
    data = read(EXPLORE, episodes=2, keep_actions=True)
    np.testing.assert_array_equal(data.states, np.concatenate(episodes[:2]).astype(np.float32))
    assert data.actions is not None
    task = TASKS[EXPLORE]
    assert isinstance(task, AntTask)
    assert "antmaze-medium-explore-v0.npz" in task.facts(data)["made by"]
    path.unlink()
    assert "MuJoCo" in str(task.recipe_version)


def test_a_persons_own_teleport_file_is_curated(home: Path) -> None:
    white, black = LAYOUT.centre(np.array([(1, 7), (6, 10)])), LAYOUT.centre(np.array([(5, 1)]))
    wrong, right = (np.concatenate([standing_at(black), standing_at(white[k : k + 1])]) for k in (0, 1))
    path = home / ".ogbench" / "data" / "antmaze-teleport-explore-v0.npz"
    write_as_ogbench_does(path, [wrong, right, right])
    data = read("ogbench-antmaze-teleport-curated", episodes=2)
    np.testing.assert_array_equal(data.states, np.concatenate([right, right]))
    deterministic = TASKS["ogbench-antmaze-teleport-explore"]
    assert isinstance(deterministic, AntTask)
    assert deterministic.published_file is None
