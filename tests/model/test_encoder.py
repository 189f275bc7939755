"""What an encoder does before it is trained: statistics, Fourier features, activations."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction.encoders.fourier import FourierFeatures, paced
from minaction.encoders.mlp import selu
from minaction.encoders.standardise import fit_statistics


def test_selu_and_its_gradient_are_those_of_jax() -> None:
    x = jnp.concatenate([jnp.linspace(-30, 30, 2001), jnp.array([-1e30, 1e30, -1e-30, 1e-30])])
    np.testing.assert_allclose(selu(x), jax.nn.selu(x), rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(selu))(x), jax.vmap(jax.grad(jax.nn.selu))(x), rtol=1e-5, atol=1e-6)


def test_pace_is_the_typical_change_of_a_step_and_knows_where_episodes_end() -> None:
    slow, fast, still = np.arange(8) % 4, np.tile([0.0, 10.0], 4), np.ones(8)  # two episodes of four states
    states = np.stack([slow, fast, still], axis=1).astype(np.float32)
    found = fit_statistics(states, np.array([0, 4, 8]))
    np.testing.assert_allclose(found.pace, [1 / slow.std(), 10 / fast.std(), 0], rtol=1e-6)
    assert fit_statistics(states).pace[0] > found.pace[0], "as one episode it would jump back in the middle"


def test_a_single_state_has_no_pace() -> None:
    np.testing.assert_array_equal(fit_statistics(np.ones((1, 2), np.float32)).pace, [0, 0])


def test_only_inputs_that_change_much_faster_than_the_slowest_get_lower_frequencies() -> None:
    found = paced(2.0, jnp.array([0.01, 0.03, 0.3, 0.0]), most=3.0)
    np.testing.assert_allclose(found, [2.0, 2.0, 0.2, 2.0], rtol=1e-5)
    np.testing.assert_array_equal(paced(2.0, jnp.zeros(3), most=3.0), np.full(3, 2.0))


def test_frequencies_have_the_spread_asked_for_input_by_input() -> None:
    features = FourierFeatures(20_000, jnp.array([2.0, 0.1]), key=jax.random.key(0))
    assert np.asarray(features.frequencies).std(axis=0) == pytest.approx([2.0, 0.1], rel=0.03)
