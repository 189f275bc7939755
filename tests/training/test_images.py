"""Several seeds of an image encoder in one program, as an accelerator trains them: one after the other."""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction._image_axes import images_of
from minaction.encoders import input_statistics
from minaction.encoders._image import shifted
from minaction.training import _trainer
from minaction.training._replicas import Vectorised

TINY = ma.MadDist(encoder=ma.ImageEncoder(channels=(2,), hidden=(4,), latent=4), batch_size=2, constraint_batch_size=2)


def frames(seed: int) -> ma.Trajectories:
    random = np.random.default_rng(seed)
    return ma.Trajectories.from_flat(random.integers(0, 256, (20, 6, 6, 3)).astype(np.uint8))


@pytest.mark.parametrize("same_data", [True, False])
def test_seeds_in_turn_learn_what_they_learn_alone(same_data: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = [frames(0), frames(0 if same_data else 1)]
    data = data[:1] * 2 if same_data else data
    alone = [ma.Trainer(TINY, item, steps=3, seeds=(seed,)) for seed, item in enumerate(data)]
    monkeypatch.setattr(_trainer, "replicas_on", Vectorised)
    both = ma.Trainer(TINY, data, steps=3, seeds=(0, 1))
    assert both._program.in_turn
    both.advance(3)
    for one, found in zip(alone, both.networks(), strict=True):
        one.advance(3)
        for expected, leaf in zip(jax.tree.leaves(one.networks()[0]), jax.tree.leaves(found), strict=True):
            np.testing.assert_allclose(leaf, expected, rtol=1e-4, atol=1e-6)


def test_a_cpu_encodes_a_few_images_at_a_time_with_the_same_gradient() -> None:
    states = frames(0).states
    module = ma.ImageEncoder(channels=(2,), hidden=(4,), latent=4).build(
        input_statistics(states), key=jax.random.key(0)
    )
    for count in (20, 5):  # more than a block, and no multiple of it; less than one
        given = jnp.asarray(states[:count])
        found, expected = (
            eqx.filter_jit(eqx.filter_value_and_grad(lambda network, given, how: (how(network, given) ** 2).sum()))(
                module, given, how
            )
            for how in (type(module).__call__, type(module).encoded)
        )
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


SHAKEN = replace(TINY, encoder=replace(TINY.encoder, crop=2))  # type: ignore[arg-type]


def test_images_are_cropped_in_training_alone_and_always_alike() -> None:
    data = frames(0)
    plain, shaken, again = (ma.Trainer(one, data, steps=4) for one in (TINY, SHAKEN, SHAKEN))
    states = jnp.asarray(data.states)
    encode = eqx.filter_jit(lambda network: network.encoder(states))
    np.testing.assert_array_equal(encode(shaken.networks()[0]), encode(plain.networks()[0]))  # nothing is cropped
    losses = [trainer.advance(1)["loss"] for trainer in (plain, shaken, again)]
    assert losses[0] != losses[1] == losses[2]
    shaken.advance(3)
    again.advance(1)
    again.advance(2)  # however it is divided
    for a, b in zip(jax.tree.leaves(shaken.networks()), jax.tree.leaves(again.networks()), strict=True):
        np.testing.assert_array_equal(a, b)
    model = shaken.models()[0]
    np.testing.assert_array_equal(model.embed(data.states), model.embed(data.states))
    assert model.architecture.encoder.crop == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("shape", [(6, 7), (6, 7, 3), (3, 20, 18), (2, 6, 7, 3)])
def test_a_crop_is_a_shift_that_repeats_the_edge(shape: tuple[int, ...]) -> None:
    states = np.random.default_rng(0).integers(0, 256, (5, *shape)).astype(np.uint8)
    before = images_of(states)
    after = images_of(np.asarray(shifted(jnp.asarray(states), 1, jax.random.key(1))))
    padded = np.pad(before, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="edge")
    height, width = before.shape[1:3]
    for image, whole in zip(after, padded, strict=True):
        assert any((image == whole[a : a + height, b : b + width]).all() for a in range(3) for b in range(3))
    assert (after != before).any()


def test_a_negative_crop_is_refused() -> None:
    with pytest.raises(ma.InputError, match="0 pixels or more"):
        ma.ImageEncoder(crop=-1)
