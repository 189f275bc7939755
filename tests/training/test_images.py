"""Several seeds of an image encoder in one program, as an accelerator trains them: one after the other."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.encoders import input_statistics
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
            jax.value_and_grad(lambda network, given=given, how=how: (how(network, given) ** 2).sum())(module)
            for how in (type(module).__call__, type(module).encoded)
        )
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)
