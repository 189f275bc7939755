from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minaction.training._session
from minaction._model import DistanceModel
from minaction.errors import InputError
from minaction.training._run import RunConfig, RunDirectory
from minaction.training._session import Session
from minaction.trajectories import read
from minaction.trajectories._dataset import Trajectories

SETTINGS = {"stages": "16,8", "batch_size": 16, "constraint_batch_size": 16}


def quiet(step: int, note: str) -> None:
    """Show nothing."""


def trained(folder: Path, data: Path) -> RunDirectory:
    run = RunDirectory.create(folder, RunConfig(str(data), "maddist", SETTINGS, 20, (0,), 2))
    Session(run).train(quiet)
    return run


def test_a_large_file_stays_on_disk_and_trains_to_the_same_model(
    tmp_path: Path, line_walks: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    line_walks.save(tmp_path / "walks.safetensors")
    held = trained(tmp_path / "held", tmp_path / "walks.safetensors")
    monkeypatch.setattr(minaction.training._session, "MAPPED_ABOVE", 100)
    mapped = trained(tmp_path / "mapped", tmp_path / "walks.safetensors")
    assert held.metrics()[-1]["agreement"], "ten different states have observed distances"
    assert not mapped.metrics()[-1]["agreement"], "nobody counted the states of a file that stays on disk"
    states = line_walks.distinct.states
    first, second = (DistanceModel.load(run.model_path(0)).pairwise(states, states) for run in (held, mapped))
    np.testing.assert_allclose(first, second, atol=0.02 * first.max())


def test_a_diverged_training_says_so(tmp_path: Path, line_walks: Trajectories) -> None:
    line_walks.save(tmp_path / "walks.safetensors")
    settings = {**SETTINGS, "learning_rate": 1e30, "clip_norm": "none"}
    config = RunConfig(str(tmp_path / "walks.safetensors"), "maddist", settings, 40, (0,), 2)
    with pytest.raises(InputError, match="lower the learning rate"):
        Session(RunDirectory.create(tmp_path / "run", config)).train(quiet)


def test_a_run_can_learn_from_fewer_episodes_than_the_task_has(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", RunConfig("cliffwalking", "maddist", SETTINGS, 10, (3,), 1, episodes=7))
    Session(run).train(quiet)
    model, data = DistanceModel.load(run.model_path(3)), read("cliffwalking", seed=3, episodes=7)
    assert data.num_episodes == 7
    assert model.provenance.data_fingerprint == data.fingerprint
    assert RunDirectory.open(run.path).config.episodes == 7


def test_results_tell_ranges_of_distance_apart(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run", RunConfig("cliffwalking", "maddist", SETTINGS, 10, (0, 1), 1))
    results = Session(run).train(quiet)
    for overall, by_range in zip(results["agreement"], results["by_range"], strict=True):
        parts = by_range["true"]
        assert [part["low"] for part in parts[1:]] == [part["high"] for part in parts[:-1]]
        assert sum(part["pairs"] for part in parts) == overall["true"]["pairs"]
        weighted = sum(part["pairs"] * part["mean_ratio"] for part in parts) / overall["true"]["pairs"]
        assert weighted == pytest.approx(overall["true"]["mean_ratio"])
