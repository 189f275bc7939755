"""Ways to make one distance of many, all over the last axis: each keeps the four laws of its components."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def maxmean(values: Float[Array, "*batch n"], alpha: float | Float[Array, ""]) -> Float[Array, "*batch"]:
    """alpha max_i v_i + (1 - alpha) mean_i v_i."""
    # The plain gradient of `max`, an equality mask, shares the slope evenly among equal maxima and is faster
    # on a CPU than gathering at the argmax, which takes 2.7 times as long for 1536 x 512.
    return alpha * jnp.max(values, axis=-1) + (1 - alpha) * jnp.mean(values, axis=-1)


class LearnedMaxMean(eqx.Module):
    """`maxmean` with a learned alpha: the sigmoid of a parameter that starts at -1 (alpha = 0.27)."""

    logit: Float[Array, ""]

    def __init__(self) -> None:
        self.logit = jnp.array(-1.0)

    @property
    def alpha(self) -> Float[Array, ""]:
        """The weight of the maximum, between 0 and 1."""
        return jax.nn.sigmoid(self.logit)

    def __call__(self, values: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """Reduce the last axis."""
        return maxmean(values, self.alpha)


def euclidean_norm(values: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
    """sqrt(sum_i v_i^2), with gradient zero at zero, over the whole range of the number format."""
    largest = jax.lax.stop_gradient(jnp.max(jnp.abs(values), axis=-1, keepdims=True))
    scale = jnp.where(largest > 0, largest, 1)  # squares of scaled values neither overflow nor vanish
    squares = jnp.sum(jnp.square(values / scale), axis=-1)
    is_zero = squares == 0
    # The root sees 1 where the norm is 0: its slope there is infinite, and infinity times zero is NaN.
    return scale[..., 0] * jnp.where(is_zero, 0, jnp.sqrt(jnp.where(is_zero, 1, squares)))
