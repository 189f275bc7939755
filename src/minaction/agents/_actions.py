"""What an action is: numbers within bounds, or one of several choices; told from the recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float

from ..errors import InputError
from ..trajectories import Trajectories

_MOST_CHOICES = 256
_BOUND = 1e-4  # of the range: an action so near to its bound was clipped


@dataclass(frozen=True)
class Actions:
    """Numbers within the recorded bounds `low` and `high`, or, where there are `choices`, one of these.

    A choice is recorded as its number, or as `one_hot` numbers, as `minaction.collect` writes it.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    choices: int = 0
    one_hot: bool = False

    @classmethod
    def of(cls, data: Trajectories) -> Actions:
        """The kind of actions that `data` has."""
        if data.actions is None:
            raise InputError(
                "An agent learns from recorded actions, but the recording has none; record them, as `actions` or in "
                "columns whose names begin with `action`, and in Python read it with keep_actions=True."
            )
        taken = np.delete(data.actions, data.offsets[1:] - 1, axis=0)  # the last of an episode is unused
        low, high = taken.min(axis=0), taken.max(axis=0)
        bounds = (tuple(map(float, low)), tuple(map(float, high)))
        whole = bool((taken == np.floor(taken)).all())
        if taken.shape[1] == 1:
            if whole and low[0] >= 0 and high[0] < _MOST_CHOICES:
                return cls(*bounds, choices=int(high[0]) + 1)
        elif whole and low.min() >= 0 and (taken.sum(axis=1) == 1).all():
            return cls(*bounds, choices=taken.shape[1], one_hot=True)
        return cls(*bounds)

    @property
    def size(self) -> int:
        """How many numbers a policy gives: one for each choice, or for each number of an action."""
        return self.choices or len(self.low)

    @property
    def in_words(self) -> str:
        """For a person."""
        return f"{self.choices} choices" if self.choices else f"actions of {len(self.low)} numbers"

    def targets(self, recorded: np.ndarray) -> np.ndarray:
        """Recorded actions (n, A) as a loss takes them, (n, size): choices as one-hot numbers."""
        if not self.choices or self.one_hot:
            return recorded
        # The action after an episode's last state is not used, whatever stands there.
        chosen = np.clip(np.nan_to_num(recorded[:, 0]), 0, self.choices - 1).astype(int)
        return np.eye(self.choices, dtype=np.float32)[chosen]

    def loss(
        self, output: Float[Array, "n size"], deviation: Float[Array, " size"], target: Float[Array, "n size"]
    ) -> Float[Array, " n"]:
        """The negative log-likelihood of recorded actions.

        Numbers are those of a Gaussian that was clipped to the bounds: one at a bound says only that the Gaussian's
        lies beyond. So noise that was added before clipping does not draw what is learned away from the bounds.
        """
        if self.choices:
            return -(target * jax.nn.log_softmax(output)).sum(axis=1)
        low, high = jnp.asarray(self.low), jnp.asarray(self.high)
        margin = _BOUND * (high - low)
        inside = -norm.logpdf(target, output, deviation)
        above = -norm.logcdf((output - high) / deviation)
        below = -norm.logcdf((low - output) / deviation)
        chosen = jnp.where(target >= high - margin, above, jnp.where(target <= low + margin, below, inside))
        return chosen.sum(axis=1)

    def relaxed(self, output: Float[Array, "n size"]) -> Float[Array, "n size"]:
        """Actions of a policy's output, as `targets` has them, through which gradients flow."""
        return (
            jax.nn.softmax(output) if self.choices else jnp.clip(output, jnp.asarray(self.low), jnp.asarray(self.high))
        )

    def decode(self, output: np.ndarray) -> Any:
        """The action of a policy's output (size,): the likeliest choice's number, or numbers (A,) within bounds."""
        if self.choices:
            return int(np.argmax(output))
        return np.clip(output, self.low, self.high).astype(np.float32)
