"""Statistics of the inputs that an encoder is built with, and how it scales them."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._mapped import read_rows, row_blocks
from ..trajectories import at_rest
from ._looks import looks_mislead

_MOST_ROWS, _MOST_NUMBERS = 1 << 20, 1 << 25
_MOST_CHANGES, _MOST_CHANGED = 1 << 14, 1 << 22  # rows and numbers: few enough to read from a mapped file


class InputStatistics(NamedTuple):
    """Statistics of every number of a state, over a data set.

    Attributes:
        mean: the mean, in the shape of a state, as are the next three.
        scale: the standard deviation; 1 where the number never changes.
        rate: the root mean square of its change from one recorded state to the next, in standard deviations.
        stride: the same over those steps in which it changes, pauses left out: large for a switch that is seldom
            thrown.
        common_scale: the standard deviation of all inputs that change, taken together, ().
        lowest: the minimum, in the shape of a state.
        widest: the range of the input with the widest range, (); 1 if none changes.
        misleading: 1 if states repeat and those that look alike are seldom next to each other, else 0, ().

    >>> import numpy as np
    >>> from minaction.encoders import input_statistics
    >>> input_statistics(np.array([[0.0, 5.0], [2.0, 5.0]])).mean.tolist()
    [1.0, 5.0]
    """

    mean: Float[Array, " *shape"]
    scale: Float[Array, " *shape"]
    rate: Float[Array, " *shape"]
    stride: Float[Array, " *shape"]
    common_scale: Float[Array, ""]
    lowest: Float[Array, " *shape"]
    widest: Float[Array, ""]
    misleading: Float[Array, ""]

    def flattened(self) -> InputStatistics:
        """The same with flat arrays, for an encoder that takes a state as one row of numbers."""
        flat = {name: getattr(self, name).ravel() for name in ("mean", "scale", "rate", "stride", "lowest")}
        return self._replace(**flat)

    def scaled(self, scaling: str) -> InputStatistics:
        """The same with mean and scale for `scaling`: "each", "shared", "range" or "none" (see `MLP`)."""
        if scaling == "shared":
            return self._replace(scale=jnp.broadcast_to(self.common_scale, self.scale.shape))
        if scaling == "range":
            return self._replace(mean=self.lowest, scale=jnp.broadcast_to(self.widest, self.scale.shape))
        if scaling == "none":
            return self._replace(mean=jnp.zeros_like(self.mean), scale=jnp.ones_like(self.scale))
        return self


class Scale(eqx.Module):
    """x -> (x - mean) / scale. The statistics are stored with the model and never trained."""

    mean: Float[Array, " *shape"]
    scale: Float[Array, " *#shape"]

    def __call__(self, x: Float[Array, ...]) -> Float[Array, ...]:
        return (x - jax.lax.stop_gradient(self.mean)) / jax.lax.stop_gradient(self.scale)


def input_statistics(
    states: np.ndarray, offsets: np.ndarray | None = None, origin: np.ndarray | None = None
) -> InputStatistics:
    """Statistics of states (N, *shape), relative to `origin`.

    Episodes begin at `offsets`; it is one episode if None. Of more than a million states, an evenly spaced sample is
    used.
    """
    most = max(1, min(_MOST_ROWS, _MOST_NUMBERS // max(1, states[0].size)))
    rows = _every(states, -(-len(states) // most)).astype(np.float64)
    deviation = rows.std(axis=0)
    # Changes below the last digits of such numbers are rounding errors. Integers are exact.
    rounding = np.finfo(states.dtype).eps if states.dtype.kind == "f" else 0.0
    changes = deviation > 8 * rounding * np.abs(rows).max(axis=0)
    # A dimension that never changes carries no information: centre it, and do not divide by zero.
    scale = np.where(changes, deviation, 1.0)
    common = np.sqrt((deviation[changes] ** 2).mean()) if changes.any() else 1.0
    changes_seen = max(1, min(_MOST_CHANGES, _MOST_CHANGED // max(1, states[0].size)))
    starts = np.arange(0, len(states) - 1, -(-len(states) // changes_seen))
    offsets = np.array([0, len(states)]) if offsets is None else offsets
    starts = np.setdiff1d(starts, offsets[1:] - 1)  # the last state of an episode has no successor
    change = read_rows(states, starts + 1).astype(np.float64) - read_rows(states, starts)
    rate = np.sqrt((change**2).sum(axis=0) / max(1, len(starts))) / scale
    change = change[~at_rest(change.reshape(len(change), states[0].size))]
    stride = np.sqrt((change**2).sum(axis=0) / np.maximum(1, (change != 0).sum(axis=0))) / scale
    widest = np.ptp(rows, axis=0)[changes].max() if changes.any() else 1.0
    mean, lowest = (values - (0.0 if origin is None else origin) for values in (rows.mean(axis=0), rows.min(axis=0)))
    unit = np.asarray(scale * np.where(stride > 0, stride, 1.0))
    count = min(most, len(states))
    misleading = looks_mislead(states[:count], np.append(offsets[offsets < count], count), unit)
    values = (mean, scale, rate, stride, common, lowest, widest, misleading)
    return InputStatistics(*(jnp.asarray(value, jnp.float32) for value in values))


def no_statistics(shape: tuple[int, ...]) -> InputStatistics:
    """Placeholder statistics, for a module of which only the shapes matter."""
    ones = jnp.ones(shape)
    one = jnp.ones(())
    return InputStatistics(ones, ones, ones, ones, one, ones, one, one)


def _every(states: np.ndarray, stride: int) -> np.ndarray:
    """states[::stride], block by block, so that a mapped file is never in memory as a whole."""
    sample, start = [], 0
    for rows in row_blocks(states):
        sample.append(np.array(rows[-start % stride :: stride]))
        start += len(rows)
    return np.concatenate(sample)
