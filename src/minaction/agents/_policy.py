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
from ..encoders._mlp import check_sizes
from ..encoders._perceptron import Perceptron
from ..errors import InputError
from ..trajectories import shape_in_words
from ._actions import Actions


def unit(vectors: Float[Array, "n k"]) -> Float[Array, "n k"]:
    """Vectors of length 1 in the same direction; much shorter ones stay short."""
    return vectors / (jnp.sqrt((vectors**2).sum(axis=1, keepdims=True) + 1e-12) + 1e-3)


def fixed(tree: Any) -> Any:
    """The same network, but no gradient flows into its weights."""
    return jax.tree.map(lambda leaf: jax.lax.stop_gradient(leaf) if eqx.is_array(leaf) else leaf, tree)


class Policy(eqx.Module):
    """A perceptron of the state, and of where the subgoal lies as seen from there; if `heading`, only which way."""

    scale: Scale
    reach: Float[Array, " goal"]
    perceptron: Perceptron
    log_deviation: Float[Array, " size"]
    """Of the recorded actions around the policy's; the same in all states."""
    goal_inputs: tuple[int, ...] = eqx.field(static=True)
    heading: bool = eqx.field(static=True, default=False)

    def __call__(self, states: Float[Array, "n inputs"], subgoals: Float[Array, "n inputs"]) -> Float[Array, "n size"]:
        away = self.away(states, subgoals)
        return self.outputs(states, unit(away) if self.heading else away)

    def away(self, states: Float[Array, "n inputs"], others: Float[Array, "n inputs"]) -> Float[Array, "n goal"]:
        """How far other states are away in each input that a goal is about, over how far subgoals usually are."""
        difference = others.astype(jnp.float32) - states.astype(jnp.float32)
        return difference[:, jnp.asarray(self.goal_inputs)] / jax.lax.stop_gradient(self.reach)

    def seen(self, states: Float[Array, "n inputs"], away: Float[Array, "n goal"]) -> Float[Array, "n size"]:
        """What the perceptron takes."""
        return jnp.concatenate([self.scale(states.astype(jnp.float32)), away], axis=1)

    def outputs(self, states: Float[Array, "n inputs"], away: Float[Array, "n goal"]) -> Float[Array, "n size"]:
        """The outputs in `states` for what lies so far, or in this direction, `away`."""
        return self.perceptron(self.seen(states, away))

    @property
    def deviation(self) -> Float[Array, " size"]:
        """How far recorded actions lie around the policy's."""
        return jnp.exp(self.log_deviation)


def check_features(state_shape: tuple[int, ...]) -> None:
    """Refuse states that are not rows of numbers."""
    if len(state_shape) != 1:
        raise InputError(
            f"An agent takes states of some numbers each, not images or others of {shape_in_words(state_shape)}; give "
            "numbers that describe them, such as places or an embedding."
        )


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
    heading: bool = False
    """Whether only the direction of a subgoal counts. Layers are normalised then, as they are in critics."""

    def __post_init__(self) -> None:
        check_sizes(*self.hidden)

    @property
    def width(self) -> int:
        """How many numbers a network makes of a state."""
        return max(self.hidden)

    def check(self, state_shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Refuse states that are not rows of numbers."""
        del dtype
        check_features(state_shape)

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> Policy:
        """An untrained policy."""
        goal = np.asarray(self.goal_inputs)
        size = inputs.mean.shape[0] + len(goal)
        perceptron = Perceptron(size, (*self.hidden, self.actions.size), "gelu", self.heading, key=key)
        change = (inputs.stride * inputs.scale)[goal]
        near = None if self.reach is None else self.reach * jnp.where(change > 0, change, 1.0)
        reach = jnp.asarray(inputs.scale)[goal] if near is None else near
        scale, deviation = Scale(inputs.mean, inputs.scale), jnp.zeros(self.actions.size)
        return Policy(scale, reach, perceptron, deviation, self.goal_inputs, self.heading)
