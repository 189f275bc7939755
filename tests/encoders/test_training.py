"""What networks do in training alone: rounded products, against the same network without rounding."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction.encoders._perceptron import Perceptron
from minaction.encoders._training import RoundedPerceptron, in_training


def perceptron(inputs: int, activation: str = "selu", layer_norm: bool = False) -> Perceptron:
    return Perceptron(inputs, (64, 48, 32), activation, layer_norm, key=jax.random.key(0))


@pytest.mark.parametrize("inputs", [2, 29])
def test_rounding_changes_values_and_gradients_by_a_percent_at_most(inputs: int) -> None:
    exact = perceptron(inputs)
    x, goal = (jax.random.normal(jax.random.key(k), (200, size)) for k, size in ((1, inputs), (2, 32)))

    def loss(network: Perceptron, x: jax.Array, rounded: bool) -> jax.Array:
        found = in_training(network, jax.random.key(3), rounded)(x)
        assert found.dtype == jnp.float32
        return jnp.mean((found - goal) ** 2)

    (value, gradients), (expected_value, expected) = (
        jax.value_and_grad(loss, argnums=(0, 1))(exact, x, rounded) for rounded in (True, False)
    )
    np.testing.assert_allclose(value, expected_value, rtol=0.01)
    assert value != expected_value
    for mine, theirs in zip(jax.tree.leaves(gradients), jax.tree.leaves(expected), strict=True):
        assert mine.dtype == jnp.float32
        assert np.linalg.norm(mine - theirs) < 0.02 * np.linalg.norm(theirs)


def test_only_perceptrons_that_can_be_rounded_are_and_nothing_is_unless_asked() -> None:
    key = jax.random.key(0)
    networks = {"plain": perceptron(2), "gelu": perceptron(2, "gelu"), "normed": perceptron(2, layer_norm=True)}
    rounded = in_training(networks, key, rounded=True)
    kinds = {name: type(network) for name, network in rounded.items()}
    assert kinds == {"plain": RoundedPerceptron, "gelu": Perceptron, "normed": Perceptron}
    assert type(in_training(networks, key)["plain"]) is Perceptron
