"""The training of the walking policy: interrupted and resumed it ends where it would have ended."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ogbench")

SCRIPT = Path(__file__).parents[2] / "reproductions" / "train_ant_walker.py"


@pytest.fixture(scope="module")
def training() -> Any:
    """The script as a module, with numbers that make it quick."""
    if not SCRIPT.exists():
        pytest.skip("the reproductions are not here")
    specification = importlib.util.spec_from_file_location("train_ant_walker", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module: Any = importlib.util.module_from_spec(specification)
    sys.modules["train_ant_walker"] = module
    specification.loader.exec_module(module)
    module.ANTS, module.BLOCK, module.FIRST_STEPS, module.CAPACITY = 2, 8, 16, 64
    module.EVALUATE_EVERY = 32
    return module


def start(training: Any, folder: Path) -> Any:
    folder.mkdir(exist_ok=True)
    settings = training.Settings(hidden=16, batch=8, relabelled=0.5)
    return training.Run.start(folder, 0, settings, 1)


def test_resumed_training_is_the_uninterrupted_one(training: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(training, "measure_gait", lambda *_, **__: training.Gait(0.1, 0.0, 0.9, 0.9, 1.0, 1.0))
    training.train(start(training, tmp_path / "whole"), 96)
    training.train(start(training, tmp_path / "parts"), 32)
    training.train(start(training, tmp_path / "parts"), 96)
    whole, _ = training.read_tensors(tmp_path / "whole" / "checkpoint.safetensors", training.KIND)
    parts, _ = training.read_tensors(tmp_path / "parts" / "checkpoint.safetensors", training.KIND)
    assert whole.keys() == parts.keys()
    for name, tensor in whole.items():
        np.testing.assert_array_equal(tensor, parts[name], err_msg=name)
    assert whole["replay"].shape == (64, training.ROW_SIZE)  # it went round: 96 steps into 64 rows
    assert [point["steps"] for point in training.read_json(tmp_path / "parts" / "curve.json")] == [32, 64, 96]


def test_what_is_exported_acts_as_the_mean_of_the_policy(training: Any, tmp_path: Path) -> None:
    run = start(training, tmp_path / "run")
    states = run.herd.ants.states
    seen = training.jnp.asarray(states[:, 2:], dtype=np.float32)
    actor = run.learner.actor
    drawn = np.array(
        [np.arctanh(training.act(actor, seen, run.herd.directions, training.jax.random.key(k))) for k in range(400)]
    )
    found = np.arctanh(run.walker({}).actions(states, run.herd.directions))
    error = drawn.std(axis=0) / 400**0.5
    assert (np.abs(drawn.mean(axis=0) - found) < 5 * error + 1e-3).all()


def test_rows_hold_what_happened(training: Any, tmp_path: Path) -> None:
    run = start(training, tmp_path / "run")
    before = run.herd.ants.states
    rows = run.herd.gather(run.learner.actor, training.jax.random.key(0), np.random.default_rng(0), learning=True)
    assert rows.shape == (16, training.ROW_SIZE)
    np.testing.assert_allclose(rows[:2, :27], before[:, 2:], rtol=1e-6)
    np.testing.assert_array_equal(rows[:2, 27:54], rows[2:4, :27])  # the next state is the state of the next step
    total = rows[:, 64:66].reshape(8, 2, 2).sum(axis=0)
    np.testing.assert_allclose(total, run.herd.ants.states[:, :2] - before[:, :2], atol=1e-5)
    assert (rows[:, 66] == 0).all()


def test_other_settings_are_refused(training: Any, tmp_path: Path) -> None:
    run = start(training, tmp_path / "run")
    training.write_json(tmp_path / "run" / "curve.json", [])
    run.save()
    with pytest.raises(SystemExit, match="other settings"):
        training.Run.start(tmp_path / "run", 1, run.settings, 1)
