"""Runs side by side in one program: which go together, and that their folders cannot tell."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction._model import DistanceModel
from minaction.commands._options import Suite
from minaction.commands._suite import suite
from minaction.suite import Batch, SuiteFolder, Update, batches
from minaction.suite import _work as work
from minaction.suite._grids import Method, trial
from minaction.suite._work import train_batch
from minaction.training import RunConfig, Training

SMALL = Method(
    "small", "maddist", {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8, "constraint_batch_size": 8}
)
MEDIUM, LARGE, GIANT = (f"ogbench-pointmaze-{size}-stitch" for size in ("medium", "large", "giant"))


def runs(data: str = MEDIUM, seeds: int = 2, **changes: Any) -> list[RunConfig]:
    config = replace(trial(data, SMALL, 0, 20, episodes=3), **changes)
    return [replace(config, seeds=(seed,)) for seed in range(seeds)]


@pytest.fixture
def folder(tmp_path: Path) -> SuiteFolder:
    return SuiteFolder(tmp_path / "suite")


def names(found: list[Batch]) -> list[str]:
    return [batch.name for batch in found]


# ---------------------------------------------------------------- what goes together


def test_batches_hold_what_fits_in_the_order_of_the_runs(folder: SuiteFolder) -> None:
    kinds = [(MEDIUM, 2), ("pointmaze-umaze", 2), (LARGE, 2), (GIANT, 1), ("pointmaze-medium", 2)]
    all_runs = [run for data, seeds in kinds for run in runs(data, seeds)]
    found = batches(folder, all_runs, 4)
    assert names(found) == [
        f"small on {MEDIUM} and 1 more",
        "small on pointmaze-umaze and 1 more",
        f"small on {GIANT}",
    ]
    assert [len(batch.configs) for batch in found] == [4, 4, 1]
    assert names(batches(folder, all_runs, 5))[0] == f"small on {MEDIUM} and 2 more"
    alone = batches(folder, all_runs, 1)
    assert [len(batch.configs) for batch in alone] == [seeds for _, seeds in kinds], "seeds are never parted"


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 30},
        {"episodes": 4},
        {"objective": "tdmaddist"},
        {"settings": {**SMALL.settings, "batch_size": 16}},
        {"data": "pointmaze-umaze"},
        {"data": "cliffwalking"},
        {"data": "log.npz"},
    ],
)
def test_runs_that_do_not_go_together(changes: dict[str, Any], folder: SuiteFolder) -> None:
    other = runs(**{"data": LARGE, **changes})
    assert len(batches(folder, [*runs(), *other], 20)) == 2


def test_worlds_with_data_of_their_own_stay_alone(folder: SuiteFolder) -> None:
    assert len(batches(folder, [*runs("cliffwalking"), *runs("cliffwalking", method="other label")], 20)) == 2
    assert len(batches(folder, [*runs("log.npz"), *runs("log.npz", method="other label")], 20)) == 2
    assert len(batches(folder, [*runs(), *runs(method="other label")], 20)) == 1


def test_only_runs_that_share_a_checkpoint_go_together(folder: SuiteFolder) -> None:
    medium, large, giant = (runs(data, seeds=1, steps=400)[0] for data in (MEDIUM, LARGE, GIANT))
    for config, steps in ((medium, (200, 400)), (giant, (200,))):
        path = folder.prepare(config).path
        for step in steps:
            (path / f"checkpoint-{step}.safetensors").touch()
    found = batches(folder, [medium, large, giant], 20)
    assert [batch.configs for batch in found] == [(medium, giant), (large,)]
    assert [batch.steps for batch in found] == [{200}, {0}]


# ---------------------------------------------------------------- training them


def train(folder: SuiteFolder, *configs: RunConfig) -> list[Update]:
    told: list[Update] = []
    train_batch([folder.prepare(config).path for config in configs], told.append)
    return told


def ends(told: list[Update]) -> dict[str, Update]:
    return {update.run.parts[-3]: update for update in told if update.is_end}


def test_runs_on_the_same_data_share_it(folder: SuiteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Training] = []
    monkeypatch.setattr(work, "train", lambda trainings: iter(seen.extend(trainings) or ()))
    train(folder, *runs(), *runs("cliffwalking"))
    first, second, third, fourth = (one.data[0] for one in seen)
    assert first is second
    assert seen[0].truths[0] is seen[1].truths[0]
    assert third is not fourth, "every seed has data of its own there"


def test_one_without_data_is_no_harm_to_the_others(folder: SuiteFolder) -> None:
    told = train(folder, *runs(seeds=1), *runs("missing.npz", seeds=1), *runs(LARGE, seeds=1))
    found = ends(told)
    assert {data: end.kind for data, end in found.items()} == {
        MEDIUM: "finished",
        "missing.npz": "failed",
        LARGE: "finished",
    }
    assert "missing.npz" in found["missing.npz"].text
    assert "Traceback" in found["missing.npz"].details
    assert {update.run.parts[-3] for update in told if update.kind == "progressed"} == {MEDIUM, LARGE}


def test_a_program_that_fails_does_so_for_all_it_trains(folder: SuiteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*arguments: Any, **options: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr("minaction.training._driver.Trainer", too_large)
    found = ends(train(folder, *runs(seeds=1), *runs(LARGE, seeds=1)))
    assert {(data, end.text) for data, end in found.items()} == {
        (task, "MemoryError: no room") for task in (MEDIUM, LARGE)
    }


def test_an_interrupted_run_goes_on_from_its_checkpoint(folder: SuiteFolder) -> None:
    (config,) = runs("cliffwalking", seeds=1, steps=400, evaluations=2)

    def interrupt(update: Update) -> None:
        if update.step > 200:
            raise KeyboardInterrupt

    assert folder.checkpoints(config) == {0}
    with pytest.raises(KeyboardInterrupt):
        train_batch([folder.prepare(config).path], interrupt)
    assert folder.checkpoints(config) == {200}
    steps = [update.step for update in train(folder, config) if update.kind == "progressed"]
    assert (min(steps) > 200, max(steps)) == (True, 400)
    assert folder.finished(config)
    assert [update.kind for update in train(folder, config)] == ["started", "finished"], "it is trained already"


# ---------------------------------------------------------------- the command


@pytest.fixture
def grid(write_grid: Callable[..., Path]) -> Path:
    """Two mazes with states of equal shape."""
    path = write_grid((MEDIUM, LARGE), steps=400)
    path.write_text("episodes = 3\n" + path.read_text())
    return path


def assert_same_runs(suites: Any, first: Path, second: Path) -> None:
    """The same files, and the same distances but for rounding."""
    assert suites.contents(first).keys() == suites.contents(second).keys()
    paths = list(first.rglob("seed-*.safetensors"))
    assert len(paths) == 4
    for path in paths:
        models = [DistanceModel.load(folder / path.relative_to(first)) for folder in (first, second)]
        assert models[0].provenance == models[1].provenance
        assert models[0].provenance.data == path.parts[-4]
        states = np.random.default_rng(0).uniform(0, 10, (50, *models[0].state_shape))
        expected = models[0].pairwise(states, states)
        np.testing.assert_allclose(models[1].pairwise(states, states), expected, atol=0.1 * expected.max())


@pytest.mark.slow
def test_a_suite_side_by_side_ends_with_the_same_runs_even_if_killed(
    suites: Any, grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apart, together, killed = (tmp_path / name for name in ("apart", "together", "killed"))
    asked = Suite(str(grid), jobs=1)
    assert suite(replace(asked, out=apart)) == 0
    assert suite(replace(asked, out=together, replicas=4)) == 0
    assert "4 of 4 runs" in capsys.readouterr().out
    assert_same_runs(suites, apart, together)
    options = ("--replicas", 4, "--jobs", 1, "--out", killed)
    process = suites.start(grid, *options)
    suites.wait_for(lambda: list(killed.glob(f"{MEDIUM}/small/*/checkpoint-*.safetensors")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not list(killed.rglob("results.json"))
    assert (killed / f"{LARGE}/small/seed-0/config.json").exists(), "it was under way side by side"
    assert suites.run(grid, *options).returncode == 0
    assert_same_runs(suites, together, killed)


def test_a_task_that_cannot_be_had_stops_none_of_its_batch(
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
    folder = tmp_path / "suite"
    result = suites.run(
        grid,
        *("--replicas", 20, "--jobs", 1, "--out", folder),
        env={**os.environ, "PYTHONPATH": str(broken)},
    )
    assert result.returncode == 1, result.stderr
    assert f"small on {LARGE}, seed 0 failed: RuntimeError: the simulator broke" in result.stderr
    assert ma.load(folder / MEDIUM / "small/seed-0").provenance.data == MEDIUM
    failure = json.loads((folder / LARGE / "small/seed-0/failure.json").read_text())
    assert failure["error"] == "RuntimeError: the simulator broke"
    assert "Traceback" in failure["traceback"]
