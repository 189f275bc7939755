"""A bit that changes in a file of ours is found; so is NaN, wherever it hides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction._files import read_tensors, write_tensors
from minaction.errors import InputError
from minaction.runtimes.numpy import load as load_with_numpy

ARRAYS = {"a": np.arange(6.0, dtype=np.float32), "none": np.zeros((0, 2), np.float32), "b": np.arange(3)}


def test_every_flipped_bit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_tensors(path, "model", ARRAYS, {"steps": 10})
    read_tensors(path, "model")
    good = path.read_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << (place % 8)
        path.write_bytes(bad)
        try:
            tensors, header = read_tensors(path, "model")
        except InputError:
            continue
        # The word "checksum" itself, without which there is none: everything else is then as it was.
        assert header["steps"] == 10
        assert all(np.array_equal(tensors[name], ARRAYS[name]) for name in ARRAYS)
        assert b"checksum" not in bad


@pytest.mark.parametrize("load", [ma.load, load_with_numpy])
def test_a_model_with_a_flipped_bit_says_so(load: Callable[[Path], object], tmp_path: Path) -> None:
    data = ma.Trajectories.from_flat(np.arange(20.0).reshape(10, 2))
    path = tmp_path / "model.safetensors"
    ma.Trainer(ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), data, steps=1).models()[0].save(path)
    load(path)
    bad = bytearray(path.read_bytes())
    bad[-50] ^= 4
    path.write_bytes(bad)
    with pytest.raises(InputError, match="checksum"):
        load(path)


@pytest.mark.parametrize("load", [ma.load, load_with_numpy])
def test_a_model_of_nan_is_refused(load: Callable[[Path], object], tmp_path: Path) -> None:
    data = ma.Trajectories.from_flat(np.arange(20.0).reshape(10, 2))
    path = tmp_path / "model.safetensors"
    ma.Trainer(ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), data, steps=1).models()[0].save(path)
    tensors, header = read_tensors(path, "model")
    bias = np.full_like(tensors["encoder.perceptron.layers.0.bias"], np.nan)
    write_tensors(path, "model", {**tensors, "encoder.perceptron.layers.0.bias": bias}, header)
    with pytest.raises(InputError, match="infinite or NaN"):
        load(path)


def test_a_checkpoint_with_a_flipped_bit_says_so(tmp_path: Path) -> None:
    data = ma.get_task("cliffwalking").trajectories(seed=0, episodes=3)
    trainer = ma.Trainer(ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), data, steps=5)
    path = tmp_path / "checkpoint-0.safetensors"
    trainer.save(path)
    bad = bytearray(path.read_bytes())
    bad[-100] ^= 4
    path.write_bytes(bad)
    with pytest.raises(InputError, match="checksum"):
        trainer.restore(path)


@pytest.mark.parametrize("kind", ["safetensors", "npy"])
def test_nan_in_a_mapped_file_is_found(tmp_path: Path, kind: str) -> None:
    states = np.arange(40.0).reshape(20, 2)
    path = tmp_path / f"data.{kind}"
    if kind == "npy":
        states[7, 1] = np.nan
        np.save(path, states)
    else:
        ma.Trajectories.from_flat(states).save(path)
        raw = path.read_bytes()
        path.write_bytes(raw.replace(np.float64(15.0).tobytes(), np.float64(np.nan).tobytes()))
    with pytest.raises(InputError, match="tate 7 holds NaN"):
        ma.read(str(path), memory_map=True)


def test_nan_in_actions_is_found_unless_they_are_unused() -> None:
    states, actions = np.arange(6.0)[:, None], np.zeros((6, 1))
    actions[5] = np.nan
    ma.Trajectories.from_flat(states, actions=actions)
    actions[2] = np.inf
    with pytest.raises(InputError, match="Action 2"):
        ma.Trajectories.from_flat(states, actions=actions)
