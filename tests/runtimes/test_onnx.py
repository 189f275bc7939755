"""Exports: what is written where, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from minaction.cli import main
from minaction.errors import InputError

from .conftest import CASES, model_of, states_of

onnxruntime = pytest.importorskip("onnxruntime")


def test_the_command_exports_a_part_of_a_model_file(tmp_path: Path) -> None:
    case = CASES["gelu-fourier"]
    model, states = model_of(case, "wide-norm"), states_of(case, 40, 1)
    model.save(tmp_path / "model.safetensors")
    source, target = str(tmp_path / "model.safetensors"), str(tmp_path / "out" / "encoder.onnx")
    assert main(["export", source, target, "--part", "encoder"]) == 0
    (found,) = onnxruntime.InferenceSession(target).run(["embeddings"], {"states": states})
    np.testing.assert_allclose(found, model.embed(states), rtol=1e-4, atol=1e-5)
    assert main(["export", source, target, "--seed", "3"]) == 2
    assert main(["export", source, str(tmp_path / "model.pt")]) == 2


def test_the_command_exports_a_seed_of_a_run(log_file: Path, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    assert main(["train", str(log_file), "--steps", "2", "--evaluations", "1", "--seeds", "2", "--out", run]) == 0
    for seed in ([], ["--seed", "1"]):
        assert main(["export", run, str(tmp_path / "model.onnx"), *seed]) == 0
    assert main(["export", run, str(tmp_path / "model.onnx"), "--seed", "2"]) == 2


def test_an_unknown_part_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="part of a model"):
        model_of(CASES["selu"], "max").export(tmp_path / "model.onnx", "nonsense")  # type: ignore[arg-type]
    assert not (tmp_path / "model.onnx").exists()
