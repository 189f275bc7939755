"""States of any shape: images of uint8, from the recording to a model that is asked about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.errors import InputError
from minaction.testing import check_encoder
from minaction.training import Trainer

SHAPE = (6, 8, 3)


@dataclass(frozen=True)
class TinyConv(ma.Encoder):
    """Two convolutions and a linear layer."""

    name: ClassVar[str] = "tiny-conv"

    latent: int = 8
    promised: int | None = None

    @property
    def latent_size(self) -> int:
        return self.promised or self.latent

    def build(self, inputs: ma.InputStatistics, *, key: Any) -> ma.EncoderModule:
        height, width, channels = inputs.mean.shape
        first, second, third = jax.random.split(key, 3)
        return TinyConvModule(
            eqx.nn.Conv2d(channels, 4, 3, padding=1, key=first),
            eqx.nn.Conv2d(4, 4, 3, stride=2, padding=1, key=second),
            eqx.nn.Linear(4 * -(-height // 2) * -(-width // 2), self.latent, key=third),
        )


class TinyConvModule(ma.EncoderModule):
    first: eqx.nn.Conv2d
    second: eqx.nn.Conv2d
    linear: eqx.nn.Linear

    def __call__(self, states: jax.Array) -> jax.Array:
        assert states.dtype == jnp.uint8, "images reach the encoder as they were recorded"

        def one(image: jax.Array) -> jax.Array:
            bright = jnp.moveaxis(image.astype(jnp.float32) / 255, -1, 0)
            return self.linear(self.second(jax.nn.relu(self.first(bright))).ravel())

        return jax.vmap(one)(states)


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    before = dict(ma.ENCODERS._registered)
    ma.register(TinyConv)
    yield
    ma.ENCODERS._registered = before


def frames(places: np.ndarray) -> np.ndarray:
    """A bright column at each place, as a camera sees it."""
    images = np.full((len(places), *SHAPE), 20, np.uint8)
    images[np.arange(len(places)), :, places] = 250
    return images


@pytest.fixture(scope="module")
def data() -> ma.Trajectories:
    random = np.random.default_rng(0)
    walks = [np.clip(np.cumsum(random.choice([-1, 1], 30)) + 4, 0, SHAPE[1] - 1) for _ in range(6)]
    return ma.Trajectories.from_episodes([frames(walk) for walk in walks])


OBJECTIVE = ma.MadDist(
    encoder=TinyConv(), learning_rate=3e-3, batch_size=32, constraint_batch_size=32, separation_limit=10.0
)


@pytest.fixture
def model(data: ma.Trajectories) -> ma.DistanceModel:
    return ma.fit(data, OBJECTIVE, steps=30, progress=False)


def test_the_encoder_keeps_the_public_contract() -> None:
    check_encoder(TinyConv(), state_shape=SHAPE, dtype="uint8")


def test_images_stay_what_they_are_in_memory_in_a_file_and_mapped(data: ma.Trajectories, tmp_path: Path) -> None:
    assert data.states.dtype == np.uint8
    assert data.state_shape == SHAPE
    assert len(data.distinct) == SHAPE[1]
    assert data.distinct.states.dtype == np.uint8
    np.testing.assert_array_equal(data.distinct.states[data.distinct.index], data.states)
    path = tmp_path / "frames.safetensors"
    data.save(path)
    assert path.stat().st_size < data.states.nbytes + 10_000, "a byte to a pixel"
    loaded, mapped = ma.Trajectories.load(path), ma.Trajectories.load(path, memory_map=True)
    for found in (loaded, mapped, ma.read(path), ma.read(path, memory_map=True)):
        assert found.states.dtype == np.uint8
        np.testing.assert_array_equal(found.states, data.states)
        assert found.fingerprint == data.fingerprint
    assert mapped.is_mapped


def test_the_type_and_the_shape_count_for_the_fingerprint(data: ma.Trajectories) -> None:
    wider = ma.Trajectories.from_flat(data.states.astype(np.float32), data.offsets)
    flat = ma.Trajectories.from_flat(data.states.reshape(data.num_states, -1), data.offsets)
    changed = data.states.copy()
    changed[7, 2, 3, 1] += 1
    other = ma.Trajectories.from_flat(changed, data.offsets)
    assert len({one.fingerprint for one in (data, wider, flat, other)}) == 4


@pytest.mark.parametrize("encode_distinct", [True, False])
def test_they_train_as_uint8(data: ma.Trajectories, encode_distinct: bool) -> None:
    trainer = Trainer(OBJECTIVE, data, steps=60, seeds=[0, 1], encode_distinct=encode_distinct)
    first, _, last = (trainer.advance(20)["loss"] for _ in range(3))
    assert np.isfinite(last).all()
    assert (last < first).all()


def test_mapped_images_train_as_those_in_memory(data: ma.Trajectories, tmp_path: Path) -> None:
    data.save(tmp_path / "frames.safetensors")
    mapped = ma.Trajectories.load(tmp_path / "frames.safetensors", memory_map=True)
    losses = [Trainer(OBJECTIVE, one, steps=10, encode_distinct=False).advance(5)["loss"] for one in (data, mapped)]
    np.testing.assert_allclose(*losses, rtol=1e-4)


def test_a_model_of_images_answers_everything(model: ma.DistanceModel, data: ma.Trajectories, tmp_path: Path) -> None:
    states = data.distinct.states
    assert (model.state_shape, model.state_dtype) == (SHAPE, "uint8")
    assert "6 x 8 x 3" in repr(model)
    assert model.embed(states).shape == (8, 8)
    assert model.embed(states[:6].reshape(2, 3, *SHAPE)).shape == (2, 3, 8)
    assert model.embed(states[0]).shape == (8,)
    assert model.distance(states[0], states[1]).shape == ()
    between = np.asarray(model.distance(states[:, None], states[None, :5]))
    np.testing.assert_allclose(model.pairwise(states, states[:5]), between, rtol=1e-4, atol=1e-4)
    index, distance = model.nearest(states[:2], data.states, k=3)
    assert index.shape == distance.shape == (2, 3)
    np.testing.assert_allclose(distance[:, 0], 0, atol=1e-5)
    back, _ = model.nearest(states[3], data.states, k=1, direction="to")
    np.testing.assert_array_equal(data.states[back[0]], states[3])
    path = tmp_path / "model.safetensors"
    model.save(path)
    loaded = ma.load(path)
    assert loaded.architecture == model.architecture
    assert (loaded.state_shape, loaded.state_dtype) == (SHAPE, "uint8")
    np.testing.assert_array_equal(loaded.pairwise(states, states), model.pairwise(states, states))


def test_numbers_that_are_no_pixels_are_refused_not_cut(model: ma.DistanceModel, data: ma.Trajectories) -> None:
    image = data.states[0]
    same = model.distance(image.astype(int).tolist(), image)  # whole numbers in another type
    assert float(same) == pytest.approx(0, abs=1e-5)
    for wrong in (image / 255, image.astype(float) + 200, -image.astype(int) - 1, np.full(SHAPE, np.nan)):
        with pytest.raises(InputError, match="trained on uint8"):
            model.distance(wrong, image)


def test_states_of_another_shape_are_refused(model: ma.DistanceModel, data: ma.Trajectories) -> None:
    with pytest.raises(InputError, match="states of shape 6 x 8 x 3, but the array given has shape"):
        model.distance(data.states[0, :3], data.states[0])
    with pytest.raises(InputError, match="6 x 8 x 3"):
        model.pairwise(data.states[0], data.states)


def test_an_encoder_that_cannot_take_the_states_is_refused_before_training() -> None:
    rows = ma.Trajectories.from_flat(np.random.default_rng(0).normal(size=(20, 2)))
    with pytest.raises(InputError, match=r"'tiny-conv' cannot take states of shape \(2,\)") as caught:
        ma.fit(rows, OBJECTIVE, steps=2, progress=False)
    assert "\n" not in str(caught.value)


def test_an_encoder_whose_output_does_not_fit_the_quasimetric_is_refused(data: ma.Trajectories) -> None:
    with pytest.raises(InputError, match="8 numbers into components of 16"):
        ma.MadDist(encoder=TinyConv(), quasimetric=ma.IQE())
    broken = replace(OBJECTIVE, encoder=TinyConv(latent=8, promised=16), quasimetric=ma.IQE())
    with pytest.raises(InputError, match=r"embeddings of shape \(8,\), but says that they have 16 numbers"):
        ma.fit(data, broken, steps=2, progress=False)


def test_the_perceptron_takes_images_too(data: ma.Trajectories) -> None:
    objective = replace(OBJECTIVE, encoder=ma.MLP(hidden=(16,), latent=8))
    model = ma.fit(data, objective, steps=5, progress=False)
    assert np.isfinite(model.pairwise(data.distinct.states, data.distinct.states)).all()
    assert model.state_dtype == "uint8"
