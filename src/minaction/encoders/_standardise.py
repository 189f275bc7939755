"""What an encoder knows of its inputs before it is trained, and their standardisation."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._mapped import row_blocks

SCALINGS = ("each", "shared", "none")

_MOST_ROWS, _MOST_NUMBERS = 1 << 20, 1 << 25
_MOST_CHANGES = 1 << 14  # few enough to pick them from a file that is mapped


class Statistics(NamedTuple):
    """Of every input over a data set."""

    mean: Float[Array, " size"]
    scale: Float[Array, " size"]
    """Its standard deviation; 1 where it never changes."""
    pace: Float[Array, " size"]
    """How much it changes from one recorded state to the next: root mean square, in standard deviations."""
    common_scale: Float[Array, ""]
    """The standard deviation of all inputs that change, taken together."""

    def scaled(self, scaling: str) -> Statistics:
        """With mean and scale as `scaling` wants them."""
        if scaling == "shared":
            return self._replace(scale=jnp.broadcast_to(self.common_scale, self.scale.shape))
        if scaling == "none":
            return self._replace(mean=jnp.zeros_like(self.mean), scale=jnp.ones_like(self.scale))
        return self


class Standardise(eqx.Module):
    """x -> (x - mean) / scale. The statistics belong to the model and are never trained."""

    mean: Float[Array, " size"]
    scale: Float[Array, " size"]

    def __call__(self, x: Float[Array, "*batch size"]) -> Float[Array, "*batch size"]:
        return (x - jax.lax.stop_gradient(self.mean)) / jax.lax.stop_gradient(self.scale)


def fit_statistics(states: np.ndarray, offsets: np.ndarray | None = None) -> Statistics:
    """Statistics of `states`, a row each, of episodes that begin at `offsets`; one episode if None.

    Where there are more than a million, an evenly spaced sample of them is looked at.
    """
    most = max(1, min(_MOST_ROWS, _MOST_NUMBERS // states.shape[1]))
    rows = _every(states, -(-len(states) // most)).astype(np.float64)
    deviation = rows.std(axis=0)
    changes = deviation > 1e-6 * np.maximum(1.0, np.abs(rows).max(axis=0))
    # A dimension that never changes carries nothing: leave it centred instead of dividing by zero.
    scale = np.where(changes, deviation, 1.0)
    common = np.sqrt((deviation[changes] ** 2).mean()) if changes.any() else 1.0
    starts = np.arange(0, len(states) - 1, -(-len(states) // _MOST_CHANGES))
    if offsets is not None:
        starts = np.setdiff1d(starts, offsets[1:] - 1)  # the last state of an episode leads nowhere
    change = states[starts + 1].astype(np.float64) - states[starts]
    pace = np.sqrt((change**2).mean(axis=0)) / scale if len(starts) else np.zeros_like(scale)
    return Statistics(*(jnp.asarray(value, jnp.float32) for value in (rows.mean(axis=0), scale, pace, common)))


def _every(states: np.ndarray, stride: int) -> np.ndarray:
    """states[::stride], block by block, because it would have to hold a whole file that is mapped."""
    sample, start = [], 0
    for rows in row_blocks(states):
        sample.append(np.array(rows[-start % stride :: stride]))
        start += len(rows)
    return np.concatenate(sample)
