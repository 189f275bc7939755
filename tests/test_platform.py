"""Where JAX is told to compute."""

import os

import pytest

from minaction import _platform
from minaction.errors import InputError


def test_a_processor_is_named_to_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "")
    _platform.choose_device("cpu")
    assert os.environ["JAX_PLATFORMS"] == "cpu"


def test_a_gpu_is_left_for_jax_to_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own name "gpu" fails unless there are plugins for the GPUs of every maker."""
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setattr(_platform, "default_device", lambda: "gpu")
    _platform.choose_device("gpu")
    assert "JAX_PLATFORMS" not in os.environ


def test_a_gpu_is_refused_where_there_is_none_but_on_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "")
    monkeypatch.setattr(_platform, "default_device", lambda: "cpu")
    _platform.choose_device("gpu", here=False)
    with pytest.raises(InputError, match="no GPU"):
        _platform.choose_device("gpu")


def test_a_process_that_says_nothing_before_it_dies_is_a_device_that_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_platform.sys, "executable", "/bin/false")
    with pytest.raises(InputError, match="cannot be used"):
        _platform.default_device.__wrapped__()
