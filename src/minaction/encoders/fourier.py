"""Random Fourier features: let an encoder follow jumps (walls, cliffs, one-way streets) that plain coordinates hide.

Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional Domains", 2020.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


class FourierFeatures(eqx.Module):
    """x -> (x, sqrt 2 sin(B x), sqrt 2 cos(B x)) with B fixed at random, entries from N(0, sigma^2)."""

    frequencies: Float[Array, "count size"]

    def __init__(self, size: int, count: int, sigma: float, *, key: PRNGKeyArray) -> None:
        self.frequencies = sigma * jax.random.normal(key, (count, size))

    def __call__(self, x: Float[Array, "*batch size"]) -> Float[Array, "*batch features"]:
        # Full precision: a rounded product would shift the phase of the high frequencies.
        phase = jnp.matmul(x, jax.lax.stop_gradient(self.frequencies).T, precision=jax.lax.Precision.HIGHEST)
        return jnp.concatenate([x, jnp.sqrt(2.0) * jnp.sin(phase), jnp.sqrt(2.0) * jnp.cos(phase)], axis=-1)

    @property
    def output_size(self) -> int:
        """How many features come out."""
        count, size = self.frequencies.shape
        return size + 2 * count
