"""A suite on disk: a folder of ordinary run folders."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from minaction.errors import InputError
from minaction.suite import SuiteFolder, Update
from minaction.suite._grids import Method, trial
from minaction.suite._work import pack, train_batch, unpack
from minaction.training import Ablation, RunConfig

SMALL = Method(
    "small", "maddist", {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8, "constraint_batch_size": 8}
)
CONFIG = trial("cliffwalking", SMALL, 0, 20, episodes=5, ablation=Ablation("dataset-size", "episodes", 5))
PAIR = [CONFIG, replace(CONFIG, seeds=(1,))]


def trained(folder: SuiteFolder, *configs: RunConfig) -> dict[Path, Update]:
    """Train side by side; how each ended."""
    told: list[Update] = []
    train_batch([folder.prepare(config).path for config in configs], told.append)
    return {update.run: update for update in told if update.is_end}


def test_every_run_is_an_ordinary_run_folder(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    with folder.opened("mine"):
        assert {update.kind for update in trained(folder, *PAIR).values()} == {"finished"}
    assert json.loads((folder.path / "suite.json").read_text())["name"] == "mine"
    for seed, config in enumerate(PAIR):
        path = folder.path / "cliffwalking" / "small" / f"seed-{seed}"
        assert path == folder.run_path(config)
        names = {"config.json", "metrics.jsonl", f"seed-{seed}.safetensors", "results.json"}
        assert {file.name for file in path.iterdir()} == names
        run = folder.run(config)
        assert run is not None
        assert run.config == config
        assert run.results.of(seed) == run.metrics[-1].evaluations
        assert run.results.by_range(seed)
    assert folder.left(PAIR) == []
    assert {path.name for path in folder.path.iterdir()} == {"suite.json", "cliffwalking"}


def test_other_settings_are_refused(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    with folder.opened("mine"):
        trained(folder, CONFIG)
    folder.check(PAIR)
    for changes in ({"steps": 30}, {"episodes": 6}, {"objective": "qrl"}, {"settings": {}}, {"ablation": None}):
        with pytest.raises(InputError, match=rf"small on cliffwalking with {next(iter(changes))} .* --out"):
            folder.check([replace(CONFIG, **changes)])
    with pytest.raises(InputError, match="with steps 20, not 30"):
        folder.check([replace(CONFIG, steps=30)])


def test_files_that_fall_into_one_folder_are_told_apart(tmp_path: Path) -> None:
    folder, first = SuiteFolder(tmp_path / "suite"), replace(CONFIG, data="logs/walk.npz")
    second = replace(CONFIG, data="logs_walk.npz")
    assert folder.run_path(first) == folder.run_path(second)
    with folder.opened("mine"):
        folder.prepare(first)
        with pytest.raises(InputError, match="with data logs/walk"):
            folder.check([second])
    with pytest.raises(InputError, match="rename one"):
        SuiteFolder(tmp_path / "another").check([first, second])


def test_a_failure_is_noted_and_may_be_tried_with_other_settings(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    wild = replace(CONFIG, settings={**SMALL.settings, "learning_rate": 1e30, "clip_norm": "none"})
    with folder.opened("mine"):
        (failed,) = trained(folder, wild).values()
        assert failed.kind == "failed"
        assert "learning rate" in failed.text
        run = folder.run(wild)
        assert run is not None
        run.fail(failed.text, failed.details)
        assert run.failure is not None
        assert "learning rate" in run.failure.error
        folder.check(PAIR)
        assert folder.left(PAIR) == PAIR
        trained(folder, *PAIR)
    assert folder.left(PAIR) == []
    assert not list(folder.path.rglob("failure.json"))


def test_what_kills_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    with folder.opened("mine"):
        trained(folder, CONFIG)
        folder.prepare(PAIR[1])
    left = [folder.path / ".suite.json.x1_y.tmp", *(folder.run_path(one) / ".metrics.jsonl.q.tmp" for one in PAIR)]
    left.append(folder.run_path(CONFIG) / "checkpoint-20.safetensors")  # killed between results and its removal
    for path in left:
        path.write_text("{}")
    with folder.opened("mine"):
        folder.tidy(PAIR)
    assert not any(path.exists() for path in left)


def test_folders_that_are_no_suite_of_this_format(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "suite.json").write_text(json.dumps({"format": 99, "version": "7.0", "name": "paper"}))
    with pytest.raises(InputError, match=r"another format \(99, made by minaction 7\.0"):
        SuiteFolder(other)
    (other / "suite.json").write_text("[]")
    with pytest.raises(InputError, match=r"suite\.json is not as this version"):
        SuiteFolder(other)
    (other / "suite.json").unlink()
    (other / "letter.txt").write_text("Dear Anna")
    with pytest.raises(InputError, match="not a suite"):
        SuiteFolder(other)
    assert SuiteFolder(tmp_path / "absent").left([CONFIG]) == [CONFIG]
    assert not (tmp_path / "absent").exists(), "looking writes nothing"


def test_one_suite_at_a_time(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    with folder.opened("mine"), pytest.raises(InputError, match="Another minaction"), folder.opened("mine"):
        pass


def test_a_run_travels_as_bytes(tmp_path: Path) -> None:
    files = {"config.json": b"{}", "results.json": b"[1]", "seed-0.safetensors": b"\0\1"}
    unpack(files, tmp_path / "there")
    (tmp_path / "there" / ".metrics.jsonl.a.tmp").write_text("half")
    (tmp_path / "there" / "a folder of somebody's own").mkdir()
    assert pack(tmp_path / "there") == files
