"""The driver: what it tells, what each run leaves on disk, and how runs go on, together or apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction.errors import InputError
from minaction.objectives import make_objective
from minaction.training import Diverged, Evaluated, Finished, Progressed, Run, RunConfig, Trainer, Training, train
from minaction.trajectories import Trajectories

MEDIUM, LARGE = (f"ogbench-pointmaze-{size}-stitch" for size in ("medium", "large"))


@pytest.fixture
def two(tmp_path: Path, line_walks: Trajectories, driver: Any) -> list[RunConfig]:
    """Two runs on files of different lengths, with two seeds and with one."""
    line_walks.save(tmp_path / "walks.safetensors")
    Trajectories.from_episodes([line_walks.episode(k) * 3 + 100 for k in range(7)]).save(tmp_path / "far.safetensors")
    first = RunConfig(str(tmp_path / "walks.safetensors"), "maddist", driver.settings, 60, (0, 4), 3)
    return [first, replace(first, data=str(tmp_path / "far.safetensors"), seeds=(4,))]


def create(parent: Path, configs: list[RunConfig]) -> list[Run]:
    return [Run.create(parent / str(k), config) for k, config in enumerate(configs)]


def test_it_tells_everything_in_order(tmp_path: Path, two: list[RunConfig], driver: Any) -> None:
    (run, other) = create(tmp_path, two)
    told = [event for event in driver.train(run, other) if event.training.run is run]
    assert [event.step for event in told if isinstance(event, Progressed)] == [20, 40, 60]
    assert [event.step for event in told if isinstance(event, Evaluated)] == [20, 40, 60]
    measured = [row for event in told if isinstance(event, Evaluated) for row in event.measurements]
    assert measured == run.metrics, "what is told is what is kept"
    assert [(row.step, row.seed) for row in measured] == [(step, seed) for step in (20, 40, 60) for seed in (0, 4)]
    end = told[-1]
    assert isinstance(end, Finished)
    assert end.results == run.results
    assert end.results.of(4) == measured[-1].evaluations
    assert [model.provenance.seed for model in end.models] == [0, 4]
    assert sum(isinstance(event, Finished) for event in told) == 1


def test_every_step_is_evaluated_exactly_once(
    tmp_path: Path, two: list[RunConfig], driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, pairwise = list[int](), DistanceModel.pairwise

    def counted(self: DistanceModel, states: Any, goals: Any) -> np.ndarray:
        asked.append(self.provenance.steps)
        return pairwise(self, states, goals)

    monkeypatch.setattr(DistanceModel, "pairwise", counted)
    driver.train(Run.create(tmp_path / "run", two[1]))
    assert asked == [20, 40, 60]


def test_tasks_side_by_side_leave_what_each_would_leave_alone(tmp_path: Path, driver: Any) -> None:
    configs = [RunConfig(MEDIUM, "maddist", driver.settings, 40, (0, 1), 2, episodes=3)]
    configs.append(replace(configs[0], data=LARGE, seeds=(1,)))
    together, apart = create(tmp_path / "together", configs), create(tmp_path / "apart", configs)
    driver.train(*together)
    for first, second in zip(apart, together, strict=True):
        driver.train(first)
        driver.assert_alike(first, second)
        assert second.results.steps_per_second
        for seed in second.config.seeds:
            assert DistanceModel.load(second.model_path(seed)).provenance.data == second.config.data


def test_interrupted_runs_go_on_together_to_the_bit_and_apart_to_rounding(
    tmp_path: Path, two: list[RunConfig], driver: Any
) -> None:
    undisturbed, resumed, split = (create(tmp_path / name, two) for name in ("undisturbed", "resumed", "split"))
    driver.train(*undisturbed)
    for runs in (resumed, split):
        driver.train(*runs, until=20)
        assert [list(run.checkpoints) for run in runs] == [[20], [20]]
    driver.train(*resumed)
    for first, second in zip(undisturbed, resumed, strict=True):
        assert driver.files(first) == driver.files(second)
    for first, second in zip(undisturbed, split, strict=True):
        driver.train(second)
        driver.assert_alike(first, second)


def test_runs_begun_alone_go_on_side_by_side(tmp_path: Path, two: list[RunConfig], driver: Any) -> None:
    begun, undisturbed = create(tmp_path / "begun", two), create(tmp_path / "undisturbed", two)
    for run in begun:
        driver.train(run, until=40)
    driver.train(*begun)
    for first, second in zip(undisturbed, begun, strict=True):
        driver.train(first)
        driver.assert_alike(first, second)


def test_a_kill_between_two_checkpoints_leaves_a_step_that_all_share(
    tmp_path: Path, two: list[RunConfig], driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, killed = create(tmp_path / "undisturbed", two), create(tmp_path / "killed", two)
    driver.train(*undisturbed)
    save = Trainer.save

    def dies(self: Any, path: Path, replicas: slice) -> None:
        if path == killed[1].path / "checkpoint-40.safetensors":
            raise KeyboardInterrupt
        save(self, path, replicas)

    monkeypatch.setattr(Trainer, "save", dies)
    with pytest.raises(KeyboardInterrupt):
        driver.train(*killed)
    monkeypatch.undo()
    assert [set(run.checkpoints) for run in killed] == [{20, 40}, {20}]
    driver.train(*killed)
    for first, second in zip(undisturbed, killed, strict=True):
        assert driver.files(first) == driver.files(second)


def test_what_was_trained_but_not_written_is_not_trained_again(
    tmp_path: Path, two: list[RunConfig], driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed, killed = create(tmp_path / "undisturbed", two), create(tmp_path / "killed", two)
    driver.train(*undisturbed)
    finish = Run.finish

    def dies_at_the_second(self: Run, results: Any) -> None:
        if self.path == killed[1].path:
            raise KeyboardInterrupt
        finish(self, results)

    monkeypatch.setattr(Run, "finish", dies_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        driver.train(*killed)
    monkeypatch.undo()
    assert killed[0].finished
    assert set(killed[1].checkpoints) == {60}
    told = driver.train(killed[1])
    assert [type(event) for event in told] == [Finished]
    assert told[0].results.evaluations == undisturbed[1].results.evaluations
    for first, second in zip(undisturbed, killed, strict=True):
        assert driver.files(first) == driver.files(second)


def diverging(folder: Path, line_walks: Trajectories, settings: dict[str, Any], name: str, first: float) -> RunConfig:
    """A run on walks whose first 15 steps take `first`; if that is 1e-30, a distance of one is 1e30 times too long."""
    steps = [np.where(np.arange(length - 1) < 15, first, 1.0) for length in line_walks.lengths]
    times = np.concatenate([np.r_[0.0, np.cumsum(each)] for each in steps])
    path = folder / f"{name}.safetensors"
    Trajectories.from_flat(line_walks.states, line_walks.offsets, times).save(path)
    return RunConfig(str(path), "maddist", settings, 20, (0,), 2)


def test_one_that_diverges_is_no_harm_to_the_other(tmp_path: Path, line_walks: Trajectories, driver: Any) -> None:
    firsts = {"calm": 1.0, "wild": 1e-30}
    configs = [diverging(tmp_path, line_walks, driver.settings, *item) for item in firsts.items()]
    calm, wild = create(tmp_path / "together", configs)
    told = driver.train(calm, wild)
    (diverged,) = (event for event in told if isinstance(event, Diverged))
    (finished,) = (event for event in told if isinstance(event, Finished))
    assert (finished.training.run, diverged.training.run) == (calm, wild)
    assert "lower the learning rate" in str(diverged.error)
    assert not wild.finished
    reference = Run.create(tmp_path / "alone", configs[0])
    driver.train(reference)
    driver.assert_alike(reference, calm)


@pytest.mark.parametrize("broken_at", [2, 3])
def test_an_update_that_no_loss_saw_replaces_no_good_checkpoint(
    broken_at: int, tmp_path: Path, two: list[RunConfig], driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights of the second evaluation, or of the end, are not numbers, although every loss was."""
    models, calls = Trainer.models, list[int]()

    def broken(self: Any) -> list[DistanceModel]:
        calls.append(self.step)
        found = models(self)
        if len(calls) == broken_at:
            found[0].network = jax.tree.map(lambda leaf: leaf * np.nan, found[0].network)
        return found

    monkeypatch.setattr(Trainer, "models", broken)
    run = Run.create(tmp_path / "run", two[1])
    told = driver.train(run)
    assert isinstance(told[-1], Diverged)
    assert "The distance became infinite or NaN" in str(told[-1].error)
    assert list(run.checkpoints) == [20 * (broken_at - 1)]
    assert not run.finished
    assert not run.model_path(4).exists()


def test_what_cannot_go_side_by_side_is_refused(tmp_path: Path, two: list[RunConfig], driver: Any) -> None:
    short, longer = Run.create(tmp_path / "short", two[1]), Run.create(tmp_path / "longer", replace(two[1], steps=80))
    with pytest.raises(InputError, match="different settings"):
        driver.train(short, longer)
    with pytest.raises(InputError, match="different shapes"):
        driver.train(*create(tmp_path / "shapes", [two[1], replace(two[1], data=MEDIUM, episodes=2)]))


def test_a_training_needs_no_folder(line_walks: Trajectories, driver: Any) -> None:
    objective = make_objective("maddist", driver.settings)
    told = list(train([Training(objective, [line_walks], 20, [3], evaluations=2, name="walks")]))
    assert isinstance(told[-1], Finished)
    assert told[-1].models[0].provenance.data == "walks"
    assert [event.step for event in told if isinstance(event, Evaluated)] == [10, 20]
