"""Heading for subgoals: a policy that gains the most way in a direction, in the long run, and stays near the recording.

Where a goal is about a few of a state's numbers only, such as the place of an ant, what the recording did on its way
somewhere is a poor guide: which of its torques brought it forward, and which one made it fall over later? A critic
learns that. TD3 with behaviour cloning (Fujimoto and Gu, 2021), with a direction in place of a reward of one's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._mapped import read_rows
from ..encoders import InputStatistics
from ..encoders._perceptron import Perceptron
from ..objectives import States, Terms
from ..objectives._terms import moved_towards
from ..trajectories import Trajectories
from ._cloning import CloningBatch, Stretches, SubgoalCloning
from ._policy import Policy, PolicyArchitecture, fixed, unit

_ALONG = 2.0  # of the recorded direction beside a normal vector: critic and policy learn what lies around it as well,
_ANYWHERE = 0.25  # and for this share any direction
_FAST = 0.95  # the quantile of the pace that is as fast as any
_NOISE, _MOST_NOISE = 0.2, 0.5  # of actions that the critic is asked about, in half the range of actions


class HeadingNetwork(eqx.Module):
    """A policy, and two critics of the way gained from a state by an action, of which the lower one is believed."""

    policy: Policy
    critics: tuple[Perceptron, Perceptron]

    def values(
        self, states: Float[Array, "n inputs"], directions: Float[Array, "n goal"], actions: Float[Array, "n size"]
    ) -> Float[Array, "2 n"]:
        """What both critics say."""
        seen = jnp.concatenate([self.policy.seen(states, directions), actions], axis=1)
        return jnp.stack([critic(seen)[:, 0] for critic in self.critics])


@dataclass(frozen=True)
class HeadingArchitecture:
    """Describes a `HeadingNetwork`."""

    policy: PolicyArchitecture

    @property
    def width(self) -> int:
        """How many numbers a network makes of a state."""
        return self.policy.width

    def check(self, state_shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Refuse states that a policy cannot take."""
        self.policy.check(state_shape, dtype)

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> HeadingNetwork:
        """Both untrained."""
        policy_key, critic_key = jax.random.split(key)
        size = inputs.mean.shape[0] + len(self.policy.goal_inputs) + self.policy.actions.size
        first, second = (
            Perceptron(size, (*self.policy.hidden, 1), "gelu", True, key=one) for one in jax.random.split(critic_key)
        )
        return HeadingNetwork(self.policy.build(inputs, key=policy_key), (first, second))


class HeadingBatch(NamedTuple):
    """What one step looks at."""

    cloned: CloningBatch
    following: Int[Array, " n"]
    turn: Float[Array, "n goal"]
    along: Float[Array, "n 1"]
    noise: Float[Array, "n size"]


@dataclass(frozen=True)
class HeadingActor(SubgoalCloning):
    r"""With x = (s, u) for a state and a direction u, and policy pi' and critics Q' as they were on average of late,

    - E (Q(x_t, a_t) - (1 - `discount`) r - `discount` min Q'(x_{t+1}, pi'(x_{t+1}) + noise))^2 for each critic, where
      r is the way gained in direction u by the step from s_t to s_{t+1}, in typical steps;
    - - E Q(x_t, pi(x_t)) / E |Q| + `cloning` E w |pi(s_t, v) - a_t|^2 / 2 for the policy, where v is the direction in
      which the recording went on, to s_{t+k}, with k and w as in `SubgoalCloning`, but f is the way that it made in
      the k steps, over that of the fastest twentieth;

    u is v turned at random, or any direction. What falls over gains no way any more, so the critics warn of it.
    """

    name: ClassVar[str] = "heading-actor"
    default_steps: ClassVar[int] = 12_000

    single_steps: bool = False
    learning_rate: float = 1e-2
    hidden: tuple[int, ...] = (512, 512, 512)
    batch_size: int = 1024
    nearest: int = 6  # the direction of a shorter way is that of a wobble
    horizon: int = 18
    cloning: float = 0.3
    discount: float = 0.98
    target_rate: float = 0.005

    @property
    def architecture(self) -> HeadingArchitecture:  # type: ignore[override]
        return HeadingArchitecture(self.policy_architecture)

    @property
    def policy_architecture(self) -> PolicyArchitecture:
        return PolicyArchitecture(self.actions, self.goal_inputs, self.hidden, self.reach, heading=True)

    def hyperparameters(self) -> dict[str, Any]:
        own = {"cloning": self.cloning, "discount": self.discount, "target_rate": self.target_rate}
        return {**super().hyperparameters(), **own}

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        """Muon (Jordan, 2024), which fits an ant's torques in a third of Adam's steps.

        The learning rate falls to nothing along half a cosine; that of what is no matrix is a tenth.
        """
        rate = optax.cosine_decay_schedule(self.learning_rate, steps)
        return optax.contrib.muon(rate, adam_learning_rate=lambda step: 0.1 * rate(step))

    def _fall(self, data: Trajectories, rows: np.ndarray, last: np.ndarray) -> np.ndarray:
        """How much way was made per step; the learned distance counts an ant's posture as well (correlation .54)."""
        begin, inputs = rows[0], list(self.goal_inputs)
        places = read_rows(data.states, np.arange(begin, last.max() + 1))[:, inputs].astype(np.float64)
        change = np.median(np.abs(np.diff(places, axis=0)), axis=0)
        way = (places[last - begin] - places[rows - begin]) / np.where(change > 0, change, 1.0)
        pace = np.linalg.norm(way, axis=1) / (last - rows)
        return pace / max(np.quantile(pace, _FAST), 1e-9)

    def init(self, network: HeadingNetwork, /) -> HeadingNetwork:
        return network

    def sample(self, key: PRNGKeyArray, tables: Stretches) -> HeadingBatch:  # type: ignore[override]
        clone_key, turn_key, along_key, noise_key = jax.random.split(key, 4)
        cloned, count = super().sample(clone_key, tables), self.batch_size
        noise = _NOISE * jax.random.normal(noise_key, (count, self.actions.size))
        return HeadingBatch(
            cloned,
            cloned.state + 1,
            jax.random.normal(turn_key, (count, len(self.goal_inputs))),
            jnp.where(jax.random.uniform(along_key, (count, 1)) < _ANYWHERE, 0.0, _ALONG),
            jnp.clip(noise, -_MOST_NOISE, _MOST_NOISE),
        )

    def loss(  # type: ignore[override]
        self,
        network: HeadingNetwork,
        /,
        extra: HeadingNetwork,
        batch: HeadingBatch,
        states: States,
        progress: Float[Array, ""],
    ) -> tuple[Float[Array, ""], Terms]:
        del progress
        policy, cloned = network.policy, batch.cloned
        here, after, there = states.embed(lambda rows: rows, cloned.state, batch.following, cloned.subgoal)
        v = unit(policy.away(here, there))
        u = unit(batch.along * v + batch.turn)
        gained = (policy.away(here, after) * u).sum(axis=1) * (self.reach or 1.0)
        acted = self._within(extra.policy.outputs(after, u)) + batch.noise * self._half_range
        later = extra.values(after, u, self._within(acted)).min(axis=0)
        wanted = (1 - self.discount) * gained + self.discount * later
        errors = network.values(here, u, cloned.action) - jax.lax.stop_gradient(wanted)
        critic = jnp.mean(jnp.sum(errors**2, axis=0))

        ahead, recorded = policy.outputs(here, u), policy.outputs(here, v)
        value = jnp.mean(fixed(network).values(here, u, self._passed(ahead)), axis=0)
        gain = jnp.mean(value) / jax.lax.stop_gradient(jnp.mean(jnp.abs(value)) + 1e-6)
        missed = (((self._passed(recorded) - cloned.action) / self._half_range) ** 2).sum(axis=1)
        beyond = sum(jnp.mean(((each - self._within(each)) / self._half_range) ** 2) for each in (ahead, recorded))
        actor = -gain + self.cloning * jnp.mean(cloned.weight * missed) / 2 + beyond
        return critic + actor, {"critic": critic, "actor": actor, "value": jnp.mean(value)}

    def advance(self, network: HeadingNetwork, /, extra: HeadingNetwork, terms: Terms) -> HeadingNetwork:
        del terms
        return moved_towards(extra, network, self.target_rate)

    @property
    def _half_range(self) -> Float[Array, " size"]:
        low, high = np.asarray(self.actions.low), np.asarray(self.actions.high)
        return jnp.asarray(np.where(high > low, (high - low) / 2, 1.0), jnp.float32)

    def _within(self, actions: Float[Array, "n size"]) -> Float[Array, "n size"]:
        return jnp.clip(actions, jnp.asarray(self.actions.low), jnp.asarray(self.actions.high))

    def _passed(self, actions: Float[Array, "n size"]) -> Float[Array, "n size"]:
        """Within bounds, but with the gradient of what is not, so that it finds back."""
        return actions + jax.lax.stop_gradient(self._within(actions) - actions)
