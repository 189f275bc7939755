"""`minaction plan` on a run folder, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minaction.commands._options import Plan
from minaction.commands._plan import plan, plan_with
from minaction.errors import InputError
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.planning import untrained
from minaction.training import Run, RunConfig

MAZE = "ogbench-pointmaze-medium-stitch"


def make_run(folder: Path, data: str) -> Path:
    run = Run.create(folder / "run", RunConfig(data, "maddist", {}, 1, (0,), 1))
    untrained(OGBENCH_LAYOUTS["medium"]).save(run.model_path(0))
    return run.path


@pytest.mark.usefixtures("shared_tables")
def test_a_table_numbers_and_a_picture_are_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path, MAZE)
    assert plan(Plan(run, tasks=(3,), episodes=2, distance="truth")) == 0
    assert "1.000" in capsys.readouterr().out
    found = json.loads((run / "planning-truth.json").read_text())
    assert found["0"]["total"]["successes"] == 2
    assert (run / "planning-truth.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("shared_tables")
def test_a_goal_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path, MAZE)
    assert plan(Plan(run, goal=(0.0, 0.0), episodes=1, candidates=10)) == 0
    assert "own" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"candidates": 0}, "candidates is 0"),
        ({"goal": (8.0, 0.0)}, "lies in a wall"),
        ({"goal": (8.0,)}, "two numbers, x and y, not 1"),
        ({"distance": "best"}, "no distance 'best'"),
        ({"tasks": (9,)}, "9 is not one of them"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, changes: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        plan(Plan(make_run(tmp_path, MAZE), **changes))


def test_a_model_of_other_observations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="29"):
        plan(Plan(make_run(tmp_path, "ogbench-antmaze-medium-explore")))


def test_the_ants_planner_holds_no_actions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--repeat is for the ball"):
        plan(Plan(make_run(tmp_path, "ogbench-antmaze-medium-explore"), repeat=5))


@pytest.mark.usefixtures("shared_tables")
def test_a_suites_model_plans_once(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "maddist" / "seed-3", RunConfig(MAZE, "maddist", {}, 1, (3,), 1))
    untrained(OGBENCH_LAYOUTS["medium"]).save(run.model_path(3))
    plan_with(run, episodes=1)
    path = run.path / "planning-learned.json"
    found = json.loads(path.read_text())["3"]
    assert [pair["task"] for pair in found["tasks"]] == [1, 2, 3, 4, 5]
    written = path.stat().st_mtime_ns
    plan_with(run, episodes=1)
    assert path.stat().st_mtime_ns == written
    path.write_text('{"3": {"tasks": []}}')  # damaged
    plan_with(run, episodes=1)
    assert json.loads(path.read_text())["3"] == found


@pytest.mark.parametrize("data", ["cliffwalking", "my_log.npz", "ogbench-antmaze-teleport-explore"])
def test_data_without_a_simulator_is_refused(tmp_path: Path, data: str) -> None:
    with pytest.raises(InputError, match=f"no simulator to plan in for {data}; .*ogbench-pointmaze-medium-stitch"):
        plan(Plan(make_run(tmp_path, data)))
