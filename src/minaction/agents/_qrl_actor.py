"""QRL with an actor: a published method that learns distance, dynamics and policy together, for comparison.

Wang, Torralba, Isola and Zhang, 2023; for continuous actions with the actor that Park et al. (OGBench, 2025) give it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._distance import Architecture, Distance
from ..encoders import InputStatistics
from ..encoders._perceptron import Perceptron
from ..objectives import QRL, States, Terms, TrainingObjective
from ..objectives._qrl import Multiplier, QRLBatch
from ..objectives._sampling import AnyArray, EpisodeTable, any_states, trajectory_pairs
from ..trajectories import Trajectories
from ._actions import Actions
from ._policy import Policy, PolicyArchitecture, fixed


class QRLActorNetwork(eqx.Module):
    """A distance, a model of how actions change embeddings, and a policy."""

    distance: Distance
    dynamics: Perceptron
    policy: Policy

    def after(
        self, embedded: Float[Array, "n latent"], states: Float[Array, "n inputs"], actions: Float[Array, "n size"]
    ) -> Float[Array, "n latent"]:
        """Embeddings of the states that follow `states` when `actions` are taken there."""
        return embedded + self.dynamics(jnp.concatenate([self.policy.scale(states), actions], axis=1))


@dataclass(frozen=True)
class QRLActorArchitecture:
    """Describes a `QRLActorNetwork`."""

    distance: Architecture
    policy: PolicyArchitecture

    @property
    def width(self) -> int:
        """How many numbers a network makes of a state."""
        return self.distance.width

    def check(self, state_shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Refuse states that either part cannot take."""
        self.policy.check(state_shape, dtype)
        self.distance.check(state_shape, dtype)

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> QRLActorNetwork:
        """All parts untrained."""
        distance_key, dynamics_key, policy_key = jax.random.split(key, 3)
        size = inputs.mean.shape[0] + self.policy.actions.size
        dynamics = Perceptron(size, (*self.policy.hidden, self.distance.width), "gelu", True, key=dynamics_key)
        return QRLActorNetwork(
            self.distance.build(inputs, key=distance_key), dynamics, self.policy.build(inputs, key=policy_key)
        )


class ActorTables(eqx.Module):
    """Where episodes begin, and the actions."""

    episodes: EpisodeTable
    actions: Float[AnyArray, "states size"]


class ActorBatch(NamedTuple):
    """What one step looks at."""

    pairs: QRLBatch
    state: Int[Array, " n"]
    following: Int[Array, " n"]
    goal: Int[Array, " n"]
    action: Float[Array, "n size"]


@dataclass(frozen=True)
class QRLActor(TrainingObjective):
    r"""The loss of `QRL` for d, and with it fixed, for embeddings z and the model z' = z + f(s, a)

    - E (d(z', z_{t+1}) + d(z_{t+1}, z')) / 2 for f;
    - E d(z + f(s, pi(s, g)), z_g) / E d + `cloning` E |a - pi(s, g)|^2 / 2 for the policy pi, f fixed as well,

    where half of the goals g come from the future of s in its episode, and half from anywhere.
    """

    name: ClassVar[str] = "qrl-actor"
    default_steps: ClassVar[int] = 100_000

    actions: Actions = field(kw_only=True)
    goal_inputs: tuple[int, ...] = field(kw_only=True)
    distance: QRL = field(default_factory=QRL)
    learning_rate: float = 3e-4
    clip_norm: float | None = None
    averaging: float = 0.0
    hidden: tuple[int, ...] = (512, 512, 512)
    batch_size: int = 1024
    cloning: float = 0.003

    @property
    def architecture(self) -> QRLActorArchitecture:
        policy = PolicyArchitecture(self.actions, self.goal_inputs, self.hidden, reach=None)
        return QRLActorArchitecture(self.distance.architecture, policy)

    def hyperparameters(self) -> dict[str, Any]:
        own = {"learning_rate": self.learning_rate, "batch_size": self.batch_size, "cloning": self.cloning}
        return {"name": self.name, "distance": self.distance.hyperparameters(), "hidden": list(self.hidden), **own}

    def tables(self, data: Trajectories) -> ActorTables:
        assert data.actions is not None, "the kind of actions was told from them"
        return ActorTables(EpisodeTable.of(data), self.actions.targets(np.asarray(data.actions)))  # type: ignore[arg-type]

    def init(self, network: QRLActorNetwork) -> Multiplier:
        return self.distance.init(network.distance)

    def sample(self, key: PRNGKeyArray, tables: ActorTables) -> ActorBatch:
        distance_key, future_key, any_key = jax.random.split(key, 3)
        future = trajectory_pairs(future_key, tables.episodes, self.batch_size)
        anywhere = any_states(any_key, tables.episodes, self.batch_size)
        even = jnp.arange(self.batch_size) % 2 == 0
        return ActorBatch(
            self.distance.sample(distance_key, tables.episodes),
            future.first,
            future.first + 1,
            jnp.where(even, future.second, anywhere),
            jnp.asarray(tables.actions)[future.first],
        )

    def loss(
        self,
        network: QRLActorNetwork,
        /,
        extra: Multiplier,
        batch: ActorBatch,
        states: States,
        progress: Float[Array, ""],
    ) -> tuple[Float[Array, ""], Terms]:
        value, terms = self.distance.loss(network.distance, extra, batch.pairs, states, progress)
        d, kept = fixed(network.distance), fixed(network)
        rows = states.embed(lambda rows: rows, batch.state, batch.following, batch.goal)
        here, following, goal = (d.encoder(side) for side in rows)
        predicted = network.after(here, rows[0], batch.action)
        error = jnp.mean(d.quasimetric(predicted, following) + d.quasimetric(following, predicted)) / 2
        output = network.policy(rows[0], rows[2])
        left = jnp.mean(d.quasimetric(kept.after(here, rows[0], self.actions.relaxed(output)), goal))
        missed = self.actions.loss(output, jnp.ones(self.actions.size), batch.action)
        actor = left / jax.lax.stop_gradient(left + 1e-6) + self.cloning * jnp.mean(missed)
        return value + error + actor, {**terms, "dynamics": error, "actor": actor}

    def advance(self, network: QRLActorNetwork, /, extra: Multiplier, terms: Terms) -> Multiplier:
        return self.distance.advance(network.distance, extra, terms)
