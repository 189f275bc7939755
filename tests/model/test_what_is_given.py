"""Recordings and states in every form that a person may have them in, and refusals of what cannot be answered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma

SMALL = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
WALKS = [np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]]), np.array([[2.0, 0.0], [0.0, 0.0], [1.0, 0.0]])]


def _learned(data: Any) -> ma.DistanceModel:
    return ma.fit(data, SMALL, steps=1, progress=False)


@pytest.mark.parametrize("asked", [ma.recorded_distance, ma.observed_distance, ma.check_data])
def test_what_learns_nothing_takes_what_fit_takes(asked: Callable[[Any], Any]) -> None:
    asked(WALKS)
    asked({"states": np.concatenate(WALKS), "offsets": [0, 4, 7]})
    for wrong in ([], 3, None):
        with pytest.raises(ma.InputError):
            asked(wrong)
    with pytest.raises(ma.InputError, match="read it first"):
        asked("cliffwalking")


def test_a_list_of_episodes_is_validated_on_and_has_landmarks() -> None:
    model = _learned(WALKS)
    assert ma.validate(model, WALKS, WALKS).episodes == 2
    assert ma.landmarks(WALKS, model, 2).shape == (2,)


def test_states_without_a_clock_have_no_progress_in_seconds() -> None:
    """They would count as one second apart."""
    times = [0.1 * np.arange(4.0), 0.1 * np.arange(3.0)]
    data = ma.Trajectories.from_episodes(WALKS, times, time_unit="s")
    model = _learned(data)
    assert model.progress(data[0]).times[-1] == pytest.approx(0.3)
    with pytest.raises(ma.InputError, match="no clock"):
        model.progress(WALKS[0])
    assert _learned(WALKS).progress(WALKS[0]).times.tolist() == [0, 1, 2, 3]


def test_there_has_to_be_a_goal() -> None:
    with pytest.raises(ma.InputError, match="no goal"):
        _learned(WALKS).remaining(WALKS[0], [])


def test_a_tensor_with_a_gradient_is_refused_with_the_reason() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ma.InputError, match="grad"):
        _learned(WALKS).distance(torch.zeros(2, requires_grad=True), torch.ones(2))


@pytest.mark.parametrize("name", ["model.txt", "model.npz"])
def test_a_model_is_saved_under_the_name_of_a_model(name: str, tmp_path: Path) -> None:
    with pytest.raises(ma.InputError, match=r"\.safetensors"):
        _learned(WALKS).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(ma.InputError, match="choose another"):
        _learned(WALKS).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"
