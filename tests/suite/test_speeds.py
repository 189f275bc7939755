"""What a suite trains next, and how long it says that will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from minaction.errors import MissingExtra
from minaction.suite import Batch, Speeds, SuiteFolder, _schedule, cost
from minaction.suite._grids import Method, trial
from minaction.training import Results, RunConfig

SMALL = {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8, "constraint_batch_size": 8}


def run(data: str = "cliffwalking", label: str = "a", steps: int = 10) -> RunConfig:
    return trial(data, Method(label, "maddist", SMALL), 0, steps, episodes=3)


def batch(*configs: RunConfig) -> Batch:
    return Batch(configs, frozenset({0}))


@pytest.fixture
def speeds(tmp_path: Path) -> Speeds:
    return Speeds(SuiteFolder(tmp_path / "suite"), [])


def test_the_longest_comes_first(speeds: Speeds) -> None:
    waiting = [batch(run(label=label)) for label in ("short", "long", "middle")]
    for label, speed in (("short", 100.0), ("long", 1.0), ("middle", 10.0)):
        speeds.learn(run(label=label), speed)
    assert [speeds.longest_first(waiting[k:]).configs[0].method for k in (0, 2)] == ["long", "middle"]
    assert speeds.longest_first([batch(run(label="short", steps=10_000)), waiting[1]]).configs[0].method == "short"


def test_what_was_never_tried_comes_before_all_in_the_order_given(speeds: Speeds) -> None:
    speeds.learn(run("cliffwalking", "known"), 1e-3)
    waiting = [batch(run("cliffwalking", "known")), batch(run("keydoor-gridworld", "a")), batch(run("x", "b"))]
    assert speeds.longest_first(waiting) is waiting[1]
    assert speeds.longest_first([waiting[0], waiting[2], waiting[1]]) is waiting[2]


def test_an_unknown_kind_takes_as_long_as_its_method_and_its_task_elsewhere(speeds: Speeds) -> None:
    assert speeds.seconds(run()) is None
    speeds.learn(run("keydoor-gridworld", "a"), 5.0)
    assert speeds.seconds(run("cliffwalking", "a")) == pytest.approx(2.0)
    speeds.learn(run("cliffwalking", "b"), 2.5)
    assert speeds.seconds(run("cliffwalking", "a")) == pytest.approx(3.0)
    speeds.learn(run("cliffwalking", "a"), 10.0)
    assert speeds.seconds(run("cliffwalking", "a", steps=30)) == pytest.approx(3.0)
    speeds.learn(run("cliffwalking", "a"), None)  # it was finished without a step, after a kill
    assert speeds.seconds(run("cliffwalking", "a", steps=30)) == pytest.approx(3.0)


def test_speeds_are_read_from_finished_runs(tmp_path: Path) -> None:
    folder, config = SuiteFolder(tmp_path / "suite"), run()
    with folder.opened("mine"):
        folder.prepare(config).finish(Results([], 4.0, 2.0, "cpu", "0"))
        folder.prepare(run(label="unfinished"))
    known = Speeds(folder, [config, run(label="unfinished"), run(label="absent")])
    found = cost(known, batch(config))
    assert (found.seconds, found.source) == (5.0, "finished runs")


def test_what_is_not_known_is_tried_out_and_nothing_is_written(speeds: Speeds, tmp_path: Path) -> None:
    found = cost(speeds, batch(run(steps=100_000)))
    assert found.source == "a short trial"
    assert found.seconds is not None
    assert found.seconds > 1
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_trained_here_says_why(speeds: Speeds, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(batch: Batch) -> float:
        raise MissingExtra("A maze", "mazes")

    monkeypatch.setattr(_schedule, "_trial", missing)
    found = cost(speeds, batch(run()))
    assert found.seconds is None
    assert "minaction[mazes]" in found.source
