"""What an encoder is told about its inputs before it is trained, and how it scales them."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._mapped import row_blocks

_MOST_ROWS, _MOST_NUMBERS = 1 << 20, 1 << 25
_MOST_CHANGES, _MOST_CHANGED = 1 << 14, 1 << 22  # rows and numbers: few enough to pick them from a file that is mapped


class InputStatistics(NamedTuple):
    """Of every number of a state, over a data set. Arrays have the shape of a state.

    >>> import numpy as np
    >>> from minaction.encoders import input_statistics
    >>> input_statistics(np.array([[0.0, 5.0], [2.0, 5.0]])).mean.tolist()
    [1.0, 5.0]
    """

    mean: Float[Array, " *shape"]
    scale: Float[Array, " *shape"]
    """Its standard deviation; 1 where it never changes."""
    rate: Float[Array, " *shape"]
    """How much it changes from one recorded state to the next: root mean square, in standard deviations."""
    stride: Float[Array, " *shape"]
    """How much it changes where it changes at all: a switch that is seldom thrown strides far."""
    common_scale: Float[Array, ""]
    """The standard deviation of all inputs that change, taken together."""

    def flattened(self) -> InputStatistics:
        """For an encoder that takes a state as one row of numbers."""
        flat = {name: getattr(self, name).ravel() for name in ("mean", "scale", "rate", "stride")}
        return self._replace(**flat)

    def scaled(self, scaling: str) -> InputStatistics:
        """With mean and scale as the scaling "each", "shared" or "none" wants them."""
        if scaling == "shared":
            return self._replace(scale=jnp.broadcast_to(self.common_scale, self.scale.shape))
        if scaling == "none":
            return self._replace(mean=jnp.zeros_like(self.mean), scale=jnp.ones_like(self.scale))
        return self


class Scale(eqx.Module):
    """x -> (x - mean) / scale. The statistics belong to the model and are never trained."""

    mean: Float[Array, " *shape"]
    scale: Float[Array, " *#shape"]

    def __call__(self, x: Float[Array, ...]) -> Float[Array, ...]:
        return (x - jax.lax.stop_gradient(self.mean)) / jax.lax.stop_gradient(self.scale)


def input_statistics(
    states: np.ndarray, offsets: np.ndarray | None = None, origin: np.ndarray | None = None
) -> InputStatistics:
    """Statistics of states (N, *shape) of episodes that begin at `offsets`; one episode if None; as seen from `origin`.

    Where there are more than a million, an evenly spaced sample of them is looked at.
    """
    most = max(1, min(_MOST_ROWS, _MOST_NUMBERS // max(1, states[0].size)))
    rows = _every(states, -(-len(states) // most)).astype(np.float64)
    deviation = rows.std(axis=0)
    # Less than the last digits of such numbers is rounding. Integers are exact.
    rounding = np.finfo(states.dtype).eps if states.dtype.kind == "f" else 0.0
    changes = deviation > 8 * rounding * np.abs(rows).max(axis=0)
    # A dimension that never changes carries nothing: leave it centred instead of dividing by zero.
    scale = np.where(changes, deviation, 1.0)
    common = np.sqrt((deviation[changes] ** 2).mean()) if changes.any() else 1.0
    changes_seen = max(1, min(_MOST_CHANGES, _MOST_CHANGED // max(1, states[0].size)))
    starts = np.arange(0, len(states) - 1, -(-len(states) // changes_seen))
    if offsets is not None:
        starts = np.setdiff1d(starts, offsets[1:] - 1)  # the last state of an episode leads nowhere
    change = states[starts + 1].astype(np.float64) - states[starts]
    squares, moved = (change**2).sum(axis=0), (change != 0).sum(axis=0)
    rate = np.sqrt(squares / max(1, len(starts))) / scale
    stride = np.sqrt(squares / np.maximum(1, moved)) / scale
    mean = rows.mean(axis=0) - (0.0 if origin is None else origin)
    values = (mean, scale, rate, stride, common)
    return InputStatistics(*(jnp.asarray(value, jnp.float32) for value in values))


def no_statistics(shape: tuple[int, ...]) -> InputStatistics:
    """For a module whose shapes alone matter."""
    ones = jnp.ones(shape)
    return InputStatistics(ones, ones, ones, ones, jnp.ones(()))


def _every(states: np.ndarray, stride: int) -> np.ndarray:
    """states[::stride], block by block, because it would have to hold a whole file that is mapped."""
    sample, start = [], 0
    for rows in row_blocks(states):
        sample.append(np.array(rows[-start % stride :: stride]))
        start += len(rows)
    return np.concatenate(sample)
