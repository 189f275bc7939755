"""What a run folder can lose without stopping anything else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from minaction.suite import SuiteFolder, Update
from minaction.suite._grids import Method, trial
from minaction.suite._work import train_batch
from minaction.training._run import Measurement, Run, RunConfig

SMALL = Method(
    "small", "maddist", {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8, "constraint_batch_size": 8}
)


def test_a_torn_or_empty_last_line_of_metrics_is_repaired(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", RunConfig("cliffwalking", "maddist", {}, 10, (0,), 2))
    run.log([Measurement(1, 0, {"loss": 1.0})], step=1)
    path = run.path / "metrics.jsonl"
    whole = path.read_bytes()
    for left in (b"\n", b'{"step":2,"se', b"   "):
        path.write_bytes(whole + left)
        run.log([Measurement(2, 0, {"loss": 0.5})], step=2)
        assert [row.step for row in run.metrics] == [1, 2]
        assert path.read_bytes().startswith(whole + b'{"step":2')


def test_a_run_whose_checkpoint_is_damaged_is_trained_again_beside_the_others(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    config = replace(trial("cliffwalking", SMALL, 0, 8, episodes=3), evaluations=2)
    with folder.opened("x"):
        runs = [folder.prepare(replace(config, seeds=(seed,))) for seed in range(2)]
    (runs[0].path / "checkpoint-4.safetensors").write_bytes(b"damaged")
    said: list[Update] = []
    train_batch([run.path for run in runs], said.append)
    assert all(run.finished for run in runs)
    assert any("damaged" in update.text for update in said if update.run == runs[0].path)


def test_a_broken_run_is_told_apart_from_the_others(tmp_path: Path) -> None:
    folder = SuiteFolder(tmp_path / "suite")
    config = trial("cliffwalking", SMALL, 0, 8, episodes=3)
    with folder.opened("x"):
        run = folder.prepare(config)
    assert folder.broken(config) == ""
    (run.path / "config.json").write_text("{}")
    assert "not a run" in folder.broken(config)
