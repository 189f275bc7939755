"""Input standardisation: every dimension to mean 0 and standard deviation 1 over the data set."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Standardise(eqx.Module):
    """x -> (x - mean) / scale. The statistics belong to the model and are never trained."""

    mean: Float[Array, " size"]
    scale: Float[Array, " size"]

    def __call__(self, x: Float[Array, "*batch size"]) -> Float[Array, "*batch size"]:
        return (x - jax.lax.stop_gradient(self.mean)) / jax.lax.stop_gradient(self.scale)


def fit_standardise(states: np.ndarray, *, max_rows: int = 1 << 20) -> Standardise:
    """Statistics of `states`; of an evenly spaced sample where there are more than `max_rows`."""
    rows = np.asarray(states[:: -(-len(states) // max_rows)], dtype=np.float64)
    scale = rows.std(axis=0)
    # A dimension that never changes carries nothing: leave it centred instead of dividing by zero.
    scale = np.where(scale > 1e-6 * np.maximum(1.0, np.abs(rows).max(axis=0)), scale, 1.0)
    return Standardise(jnp.asarray(rows.mean(axis=0), jnp.float32), jnp.asarray(scale, jnp.float32))
