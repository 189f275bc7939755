"""The pieces of the losses that have a distribution or a limit worth checking by themselves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import expectile as scipy_expectile

from minaction.objectives._terms import expectile_weight, moved_towards, push_term


def test_expectile_weight_is_the_expectile_for_non_negative_advantages() -> None:
    weight = expectile_weight(jnp.asarray([-2.0, -1e-6, 0.0, 1e-6, 3.0]), 0.9)
    np.testing.assert_allclose(weight, [0.1, 0.1, 0.9, 0.9, 0.9], rtol=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.7, 0.9])
def test_minimising_with_the_expectile_weight_finds_the_expectile(level: float) -> None:
    sample = np.random.default_rng(0).exponential(size=500)

    def loss(guess: jax.Array) -> jax.Array:
        difference = jnp.asarray(sample) - guess
        return jnp.mean(expectile_weight(difference, level) * difference**2)

    descend = jax.jit(lambda guess: guess - 0.5 * jax.grad(loss)(guess))
    guess = jnp.asarray(0.0)
    for _ in range(400):
        guess = descend(guess)
    np.testing.assert_allclose(guess, scipy_expectile(sample, level), rtol=1e-4)


def test_push_has_slope_one_when_close_and_none_when_far() -> None:
    slope = jax.vmap(jax.grad(lambda d: push_term(d[None], 15.0, 2.0)))(jnp.asarray([0.0, 15.0, 30.0]))
    np.testing.assert_allclose(slope, [-1.0, -0.5, 0.0], atol=1e-6)
    assert np.isfinite(push_term(jnp.asarray([0.0]), 500.0, 10.0))


def test_moving_towards_an_equal_tree_changes_no_bit() -> None:
    values = jax.random.normal(jax.random.key(0), (1000,))
    moved = moved_towards({"a": values, "count": jnp.asarray(3)}, {"a": values, "count": jnp.asarray(4)}, 0.005)
    np.testing.assert_array_equal(moved["a"], values)
    assert moved["count"] == 3
