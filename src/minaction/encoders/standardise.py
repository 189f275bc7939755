"""Input standardisation: every dimension to mean 0 and standard deviation 1 over the data set."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..mapped import row_blocks

_MOST_ROWS, _MOST_NUMBERS = 1 << 20, 1 << 25


class Standardise(eqx.Module):
    """x -> (x - mean) / scale. The statistics belong to the model and are never trained."""

    mean: Float[Array, " size"]
    scale: Float[Array, " size"]

    def __call__(self, x: Float[Array, "*batch size"]) -> Float[Array, "*batch size"]:
        return (x - jax.lax.stop_gradient(self.mean)) / jax.lax.stop_gradient(self.scale)


def fit_standardise(states: np.ndarray) -> Standardise:
    """Statistics of `states`; of an evenly spaced sample where there are more than a million."""
    most = max(1, min(_MOST_ROWS, _MOST_NUMBERS // states.shape[1]))
    rows = _every(states, -(-len(states) // most)).astype(np.float64)
    scale = rows.std(axis=0)
    # A dimension that never changes carries nothing: leave it centred instead of dividing by zero.
    scale = np.where(scale > 1e-6 * np.maximum(1.0, np.abs(rows).max(axis=0)), scale, 1.0)
    return Standardise(jnp.asarray(rows.mean(axis=0), jnp.float32), jnp.asarray(scale, jnp.float32))


def _every(states: np.ndarray, stride: int) -> np.ndarray:
    """states[::stride], block by block, because it would have to hold a whole file that is mapped."""
    sample, start = [], 0
    for rows in row_blocks(states):
        sample.append(np.array(rows[-start % stride :: stride]))
        start += len(rows)
    return np.concatenate(sample)
