"""Groups side by side in one program: which go together, and that a store cannot tell."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction.cli import Suite
from minaction.commands._suite import suite
from minaction.suite._bundles import Bundle, bundled, sensible_lanes
from minaction.suite._cells import Cell, Group, Method
from minaction.suite._local import Local
from minaction.suite._store import Store
from minaction.suite._work import Event, Job, train_together

SMALL = Method("small", "maddist", {"stages": [8, 4], "batch_size": 8, "constraint_batch_size": 8})
MEDIUM, LARGE, GIANT = (f"ogbench-pointmaze-{size}-stitch" for size in ("medium", "large", "giant"))


def group(task: str = MEDIUM, seeds: int = 2, **changes: Any) -> Group:
    cell = Cell(task, SMALL, 0, 20, episodes=3)
    return Group(tuple(replace(cell, seed=seed, **changes) for seed in range(seeds)))


def nowhere_yet(group: Group) -> int:
    return 0


def names(bundles: list[Bundle]) -> list[list[str]]:
    return [[member.task for member in bundle] for bundle in bundles]


def test_bundles_hold_what_fits_in_the_order_of_the_groups() -> None:
    groups = [group(MEDIUM), group("pointmaze-umaze"), group(LARGE), group(GIANT, seeds=1), group("pointmaze-medium")]
    assert names(bundled(groups, 4, nowhere_yet)) == [
        [MEDIUM, LARGE],
        ["pointmaze-umaze", "pointmaze-medium"],
        [GIANT],
    ]
    assert names(bundled(groups, 5, nowhere_yet))[0] == [MEDIUM, LARGE, GIANT]
    assert bundled(groups, 1, nowhere_yet) == [(member,) for member in groups], "the seeds of a group stay together"
    assert sensible_lanes("cpu") == 1
    assert sensible_lanes("gpu") == 20


@pytest.mark.parametrize(
    "other",
    [
        group(LARGE, steps=30),
        group(LARGE, episodes=4),
        group(LARGE, method=replace(SMALL, objective="qrl")),
        group(LARGE, method=replace(SMALL, settings={**SMALL.settings, "batch_size": 16})),
        group("pointmaze-umaze"),
        group("cliffwalking"),
    ],
)
def test_groups_that_do_not_go_together(other: Group) -> None:
    assert len(bundled([group(), other], 20, nowhere_yet)) == 2


def test_worlds_with_data_of_their_own_stay_alone() -> None:
    wide = replace(SMALL, label="same settings, other label")
    assert len(bundled([group("cliffwalking"), group("cliffwalking", method=wide)], 20, nowhere_yet)) == 2
    assert len(bundled([group(MEDIUM), group(MEDIUM, method=wide)], 20, nowhere_yet)) == 1


def test_only_groups_at_the_same_step_go_together() -> None:
    groups = [group(MEDIUM), group(LARGE), group(GIANT)]
    assert names(bundled(groups, 20, lambda one: 0 if one.task == LARGE else 10)) == [[MEDIUM, GIANT], [LARGE]]


def test_a_store_knows_where_a_group_stands(tmp_path: Path) -> None:
    store, one = Store(tmp_path / "store"), group("cliffwalking", steps=400)
    with store.opened("mine"):
        assert store.step(one) == 0
        job = Job(one.name, store.prepare(one), one.config)

        def interrupt(event: Event) -> None:
            if event.step == 220:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            train_together([job], interrupt)
        assert store.step(one) == 200, "that is where its last checkpoint stands"
        assert store.step(replace(one, cells=one.cells[:1])) == 0, "it would be trained anew"
        train_together([job], lambda event: None)
        assert store.step(one) == 400


def test_one_without_data_is_no_harm_to_the_others(tmp_path: Path) -> None:
    jobs = []
    for one in (group(MEDIUM), group("missing.npz"), group(LARGE, seeds=1)):
        folder = tmp_path / one.task
        folder.mkdir()
        jobs.append(Job(one.name, folder, one.config))
    events: list[Event] = []
    train_together(jobs, events.append)
    ended = {event.group: event for event in events if event.is_end}
    assert [ended[job.name].kind for job in jobs] == ["finished", "failed", "finished"]
    assert "missing.npz" in ended[jobs[1].name].text
    assert list(jobs[1].folder.iterdir()) == [], "nothing was trained, and the folder counts for nothing"
    assert {event.group for event in events if event.kind == "step"} == {jobs[0].name, jobs[2].name}


def test_a_program_that_fails_does_so_for_all_it_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*arguments: Any, **options: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("minaction.training._session.Trainer", too_large)
    jobs = []
    for one in (group(MEDIUM), group(LARGE)):
        (tmp_path / one.task).mkdir()
        jobs.append(Job(one.name, tmp_path / one.task, one.config))
    events: list[Event] = []
    train_together(jobs, events.append)
    assert [(event.group, event.text) for event in events if event.kind == "failed"] == [
        (job.name, "MemoryError: no room") for job in jobs
    ]


def test_runs_that_a_kill_left_at_different_steps_are_trained_apart(tmp_path: Path) -> None:
    jobs = []
    for one in (group(MEDIUM, seeds=1, steps=400), group(LARGE, seeds=1, steps=400)):
        (tmp_path / one.task).mkdir()
        jobs.append(Job(one.name, tmp_path / one.task, one.config))

    def interrupt(event: Event) -> None:
        if event.step > 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_together(jobs[:1], interrupt)
    events: list[Event] = []
    train_together(jobs, events.append)
    told = [(event.group, event.step) for event in events if event.kind == "step"]
    first, second = ([step for name, step in told if name == job.name] for job in jobs)
    assert (min(first), max(first)) == (220, 400), "it goes on from its checkpoint"
    assert (min(second), max(second)) == (20, 400)
    assert [event.group for event in events if event.kind == "finished"] == [job.name for job in jobs]


def test_a_worker_that_dies_ends_all_its_groups(tmp_path: Path) -> None:
    bundle = (group(MEDIUM), group(LARGE))
    for one in bundle:
        (tmp_path / one.name).mkdir()
    failed = []
    with contextlib.closing(Local(1, lanes=4).run([bundle], lambda one: tmp_path / one.name)) as events:
        for event in events:
            if event.kind == "started":
                (worker,) = multiprocessing.active_children()
                worker.kill()
            if event.kind == "failed":
                failed.append((event.group, event.text))
    why = "The worker was ended by SIGKILL; perhaps the memory did not suffice."
    assert failed == [(one.name, why) for one in bundle]


@pytest.fixture
def grid(write_grid: Callable[..., Path]) -> Path:
    """Two mazes of equal state size."""
    path = write_grid((MEDIUM, LARGE), steps=400)
    path.write_text("episodes = 3\n" + path.read_text())
    return path


def assert_same_cells(suites: Any, first: Path, second: Path) -> None:
    """The same files, and the same distances but for rounding."""
    assert suites.contents(first).keys() == suites.contents(second).keys()
    assert len(list(first.glob("cells/*/*/*"))) == 4
    for path in first.rglob("model.safetensors"):
        models = [DistanceModel.load(store / path.relative_to(first)) for store in (first, second)]
        assert models[0].provenance == models[1].provenance
        assert models[0].provenance.data == path.parts[-4]
        states = np.random.default_rng(0).uniform(0, 10, (50, models[0].state_size))
        expected = models[0].pairwise(states, states)
        np.testing.assert_allclose(models[1].pairwise(states, states), expected, atol=0.1 * expected.max())


@pytest.mark.slow
def test_a_suite_side_by_side_ends_with_the_same_cells_even_if_killed(
    suites: Any, grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apart, together, killed = (tmp_path / name for name in ("apart", "together", "killed"))
    asked = Suite(str(grid), jobs=1)
    assert suite(replace(asked, out=apart)) == 0
    assert suite(replace(asked, out=together, lanes=4)) == 0
    said = capsys.readouterr()
    assert "4 of 4 cells" in said.out
    assert_same_cells(suites, apart, together)
    process = suites.start(grid, "--lanes", 4, "--jobs", 1, "--out", killed)
    suites.wait_for(lambda: len(list(killed.glob(f"work/{MEDIUM}--small/checkpoint.safetensors"))))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not list(killed.glob("cells/*"))
    assert (killed / f"work/{LARGE}--small/config.json").exists(), "it was under way side by side"
    assert suites.run(grid, "--lanes", 4, "--jobs", 1, "--out", killed).returncode == 0
    assert_same_cells(suites, together, killed)


def test_a_task_that_cannot_be_had_stops_none_of_its_bundle(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    grid = write_grid((MEDIUM, LARGE), seeds=1, steps=20)
    grid.write_text("episodes = 3\n" + grid.read_text())
    broken = tmp_path / "broken"
    broken.mkdir()
    # Every process of the suite runs this at its start.
    (broken / "sitecustomize.py").write_text(
        "import minaction.mazes._recipes as recipes\n"
        "collect = recipes.BallRecipe.collect\n"
        "def sometimes(self, *arguments):\n"
        "    if self.maze == 'large':\n"
        "        raise RuntimeError('the simulator broke')\n"
        "    return collect(self, *arguments)\n"
        "recipes.BallRecipe.collect = sometimes\n"
    )
    store = tmp_path / "store"
    result = suites.run(
        grid,
        *("--lanes", 20, "--jobs", 1, "--out", store),
        env={**os.environ, "PYTHONPATH": str(broken)},
    )
    assert result.returncode == 1, result.stderr
    assert f"{LARGE}--small failed: RuntimeError: the simulator broke" in result.stderr
    assert (store / f"cells/{MEDIUM}/small/seed-0/results.json").exists()
    assert json.loads((store / f"failures/{LARGE}--small.json").read_text())["task"] == LARGE
