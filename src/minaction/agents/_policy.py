"""The local policy: what to do in a state to reach a subgoal that is near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..encoders import InputStatistics
from ..encoders._inputs import Scale
from ..encoders._perceptron import Perceptron
from ..errors import InputError
from ..trajectories import shape_in_words
from ._actions import Actions


class Policy(eqx.Module):
    """A perceptron of the state, and of where the subgoal lies as seen from there."""

    scale: Scale
    reach: Float[Array, " goal"]
    perceptron: Perceptron
    log_deviation: Float[Array, " size"]
    """Of the recorded actions around the policy's; the same in all states."""
    goal_inputs: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, states: Float[Array, "n inputs"], subgoals: Float[Array, "n inputs"]) -> Float[Array, "n size"]:
        inputs = jnp.asarray(self.goal_inputs)
        states, subgoals = states.astype(jnp.float32), subgoals.astype(jnp.float32)
        away = (subgoals - states)[:, inputs] / jax.lax.stop_gradient(self.reach)
        return self.perceptron(jnp.concatenate([self.scale(states), away], axis=1))

    @property
    def deviation(self) -> Float[Array, " size"]:
        """How far recorded actions lie around the policy's."""
        return jnp.exp(self.log_deviation)


@dataclass(frozen=True)
class PolicyArchitecture:
    """All that is needed to build a `Policy` of the right shape."""

    actions: Actions
    goal_inputs: tuple[int, ...]
    """The numbers of a state by which a subgoal is told: those that still matter when it is reached."""
    hidden: tuple[int, ...]
    reach: float | None = 8.0
    """About how far away subgoals are, in typical steps, so that what the perceptron sees of them is about 1; None for
    goals anywhere in the recording."""

    @property
    def width(self) -> int:
        """How many numbers a network makes of a state."""
        return max(self.hidden)

    def check(self, state_shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Refuse states that are not rows of numbers."""
        del dtype
        if len(state_shape) != 1:
            raise InputError(
                f"An agent takes states of some numbers each, not of {shape_in_words(state_shape)}; record features."
            )

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> Policy:
        """An untrained policy."""
        goal = np.asarray(self.goal_inputs)
        size = inputs.mean.shape[0] + len(goal)
        perceptron = Perceptron(size, (*self.hidden, self.actions.size), "gelu", False, key=key)
        change = (inputs.stride * inputs.scale)[goal]
        near = None if self.reach is None else self.reach * jnp.where(change > 0, change, 1.0)
        reach = jnp.asarray(inputs.scale)[goal] if near is None else near
        return Policy(
            Scale(inputs.mean, inputs.scale), reach, perceptron, jnp.zeros(self.actions.size), self.goal_inputs
        )
