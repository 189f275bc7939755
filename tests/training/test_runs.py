"""A run on disk: what its folder may hold, what is kept of a training, and what kills leave in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction.tasks._source
from minaction._locks import locked
from minaction._model import DistanceModel
from minaction.errors import InputError
from minaction.tasks import read
from minaction.training import Diverged, Finished, Measurement, Run, RunConfig
from minaction.training._run import check_free, empty_run, foreign_files, is_run
from minaction.trajectories import Trajectories

CONFIG = RunConfig("cliffwalking", "maddist", {}, 10, (0,), 1)


def trained(driver: Any, folder: Path, data: str, steps: int = 20, **changes: Any) -> Run:
    config = RunConfig(data, "maddist", driver.settings, steps, (0,), 2)
    run = Run.create(folder, replace(config, **changes))
    assert isinstance(driver.train(run)[-1], Finished)
    return run


def test_a_large_file_stays_on_disk_and_trains_to_the_same_model(
    tmp_path: Path, line_walks: Trajectories, driver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    line_walks.save(tmp_path / "walks.safetensors")
    held = trained(driver, tmp_path / "held", str(tmp_path / "walks.safetensors"))
    monkeypatch.setattr(minaction.tasks._source, "MAPPED_ABOVE", 100)
    mapped = trained(driver, tmp_path / "mapped", str(tmp_path / "walks.safetensors"))
    assert held.metrics[-1].evaluations, "ten different states have observed distances"
    assert not mapped.metrics[-1].evaluations, "nobody counted the states of a file that stays on disk"
    states = line_walks.distinct.states
    first, second = (DistanceModel.load(run.model_path(0)).pairwise(states, states) for run in (held, mapped))
    np.testing.assert_allclose(first, second, atol=0.02 * first.max())


def test_a_diverged_training_says_so(tmp_path: Path, line_walks: Trajectories, driver: Any) -> None:
    line_walks.save(tmp_path / "walks.safetensors")
    settings = {**driver.settings, "learning_rate": 1e30, "clip_norm": "none"}
    run = Run.create(tmp_path / "run", RunConfig(str(tmp_path / "walks.safetensors"), "maddist", settings, 40, (0,), 2))
    end = driver.train(run)[-1]
    assert isinstance(end, Diverged)
    assert "lower the learning rate" in str(end.error)
    assert not run.finished


def test_a_run_can_learn_from_fewer_episodes_than_the_task_has(tmp_path: Path, driver: Any) -> None:
    run = trained(driver, tmp_path / "run", "cliffwalking", 10, seeds=(3,), episodes=7)
    model, data = DistanceModel.load(run.model_path(3)), read("cliffwalking", seed=3, episodes=7)
    assert data.num_episodes == 7
    assert model.provenance.data_fingerprint == data.fingerprint
    assert Run.open(run.path).config.episodes == 7


def test_results_tell_ranges_of_distance_apart(tmp_path: Path, driver: Any) -> None:
    results = trained(driver, tmp_path / "run", "cliffwalking", 10, seeds=(0, 1)).results
    for seed in (0, 1):
        (overall,) = (one for one in results.of(seed) if one.truth == "true")
        parts = [one for one in results.by_range(seed) if one.truth == "true"]
        assert overall.unit == "steps"
        assert [part.low for part in parts[1:]] == [part.high for part in parts[:-1]]
        pairs = [part.agreement["pairs"] or 0 for part in parts]
        assert sum(pairs) == overall.agreement["pairs"]
        ratios = [count * (part.agreement["mean_ratio"] or 0) for count, part in zip(pairs, parts, strict=True)]
        assert sum(ratios) / sum(pairs) == pytest.approx(overall.agreement["mean_ratio"])


def test_it_is_written_as_it_is_read(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", replace(CONFIG, settings={"encoder.hidden": [16]}, episodes=3))
    rows = [Measurement(step, 0, {"loss": 1.5, "lost": float("nan")}) for step in (5, 10)]
    run.log(rows[:1], step=5)
    run.log(rows[1:], step=10)
    assert Run.open(run.path).config == run.config
    assert [(row.step, row.terms["loss"], row.terms["lost"]) for row in run.metrics] == [
        (5, 1.5, None),
        (10, 1.5, None),
    ]
    run.log(rows[:1], step=5)
    assert [row.step for row in run.metrics] == [5], "what a killed training left of later steps is dropped"


def test_a_run_with_other_settings_or_of_another_format_is_refused(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", CONFIG)
    assert Run.create(run.path, CONFIG).config == CONFIG
    with pytest.raises(InputError, match="other settings"):
        Run.create(run.path, replace(CONFIG, steps=11))
    (run.path / "config.json").write_text(
        json.dumps({**json.loads((run.path / "config.json").read_text()), "format": 9})
    )
    with pytest.raises(InputError, match="another format"):
        Run.open(run.path)


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense", '{"data": 3}', '{"name": "my-app", "version": "1.0"}'])
def test_a_config_of_something_else_makes_no_run(content: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(content)
    assert not is_run(tmp_path)
    with pytest.raises(InputError, match="not a run"):
        Run.open(tmp_path)
    with pytest.raises(InputError, match="not a run"):
        Run.create(tmp_path, CONFIG)
    assert (tmp_path / "config.json").read_text() == content


def test_a_kill_at_the_very_start_leaves_a_folder_to_begin_in(tmp_path: Path) -> None:
    left = tmp_path / ".config.json.ab12_x.tmp"
    left.write_text("{")
    check_free(tmp_path)
    run = Run.create(tmp_path, CONFIG)
    run.tidy()
    assert not left.exists()


def test_tidying_removes_what_kills_left_and_nothing_else(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", CONFIG)
    for name in (".metrics.jsonl.k3j2.tmp", "failure.json", "checkpoint-5.safetensors", ".mine.tmp", "notes.tmp"):
        (run.path / name).write_text("{}")
    run.tidy()
    left = {"config.json", "failure.json", "checkpoint-5.safetensors", ".mine.tmp", "notes.tmp"}
    assert {path.name for path in run.path.iterdir()} == left
    (run.path / "results.json").write_text("{}")
    run.tidy()
    assert {path.name for path in run.path.iterdir()} == {"config.json", "results.json", ".mine.tmp", "notes.tmp"}


def test_only_files_of_ours_are_removed(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", CONFIG)
    (run.path / "seed-0.safetensors").write_text("weights")
    (run.path / "wandb").mkdir()
    (run.path / "thesis.tex").write_text("precious")
    (run.path / "seed-1.safetensors").mkdir()  # a folder of somebody's own
    assert foreign_files(run.path) == ["seed-1.safetensors", "thesis.tex"]
    empty_run(run.path)
    assert {path.name for path in run.path.iterdir()} == {"thesis.tex", "seed-1.safetensors"}


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(InputError, match=r"Another minaction.* is working in"), locked(tmp_path):
        pass
    with locked(tmp_path), pytest.raises(InputError), locked(tmp_path, patience=0.2):
        pass
    with locked(tmp_path):
        pass
