"""Hilbert: goal-conditioned values as Euclidean distances, learned by action-free implicit value learning.

Park, Kreiman and Levine, "Foundation Policies with Hilbert Representations", 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped

from .._distance import Distance
from ..encoders import MLP, Encoder, Ensemble
from ..encoders._composed import EnsembleModule
from ..errors import InputError
from ..quasimetrics import L2, Quasimetric
from ._base import Objective, Terms
from ._sampling import EpisodeTable, Pairs, transitions_with_goals
from ._states import States
from ._terms import expectile_weight, moved_towards


# The published networks take inputs as they are, from 0 to 1 on grids: on CliffWalking that gives .73 Pearson after
# 1,000 steps, standardised ones .48 (published .76). By range, grids stay as they are, and no unit matters.
def hilbert_encoder(hidden: tuple[int, ...] = (512,)) -> Encoder:
    """Two networks side by side."""
    return Ensemble(MLP(hidden=hidden, latent=32, activation="gelu", layer_norm=True, scaling="range"), size=2)


class HilbertBatch(NamedTuple):
    """The states of one training step."""

    steps: Pairs
    goals: Int[Array, " n"]


@dataclass(frozen=True)
class Hilbert(Objective):
    r"""L = sum over the networks k of E |expectile - 1(A < 0)| (r + gamma' V'_k(s', g) - V_k(s, g))^2, where

    - V_k(s, g) = -||phi_k(s) - phi_k(g)||, and V'_k is its target, which moves towards V_k by the fraction
      `polyak` after every step; no gradient flows through it;
    - r = -1 and gamma' = gamma, both 0 where s = g; for a transition that takes the time t, what t unit steps
      would give: r = -(1 - gamma^t) / (1 - gamma) and gamma' = gamma^t;
    - A = r + gamma' min_k V'_k(s', g) - mean_k V'_k(s, g) is the advantage;
    - with probability `future_fraction` the goal g is a later state of the episode, a geometrically distributed
      number of steps ahead (parameter 1 - gamma); otherwise it is any state of the data set. Either it is drawn anew
      in every batch, or `goals_of_each` goals are drawn for every transition once and for all, to which the last state
      of its episode is added, and g is one of these.

    The learned distance is between means of the networks' embeddings.

    Args:
        encoder: an `Ensemble`; its members are the networks phi_k.
        quasimetric: `L2`; no other is accepted.
        batch_size: the number of transitions in a batch.
        expectile: between 0 and 1; the closer to 1, the more optimistic the values.
        discount: gamma, between 0 and 1.
        polyak: how far the target moves in a step, above 0 and up to 1.
        future_fraction: the probability of a goal from the same episode.
        goals_of_each: the number of goals drawn for every transition once and for all; 0 to draw them anew each time.
        rectified_adam: whether Adam takes shorter steps while it knows little about the size of gradients (RAdam:
            Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020).

    For `learning_rate`, `clip_norm` and `averaging` see `Objective`.

    >>> import minaction as ma
    >>> objective = ma.Hilbert(encoder=ma.Ensemble(ma.MLP(hidden=(256,), latent=64)), expectile=0.95)
    >>> objective.hyperparameters()["expectile"]
    0.95
    """

    name: ClassVar[str] = "hilbert"
    adam_epsilon: ClassVar[float] = 1e-8

    encoder: Encoder = field(default_factory=hilbert_encoder)
    quasimetric: Quasimetric = field(default_factory=L2)
    learning_rate: float = 3e-4
    clip_norm: float | None = None
    batch_size: int = 1024
    expectile: float = 0.9
    discount: float = 0.99
    polyak: float = 0.005
    future_fraction: float = 0.625
    goals_of_each: int = 128
    rectified_adam: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.quasimetric, L2):
            raise InputError(
                f"{self.name} measures in a Hilbert space, so its metric must be 'l2', not {self.quasimetric.name!r}."
            )
        if not isinstance(self.encoder, Ensemble):
            raise InputError(
                f"{self.name} trains several networks, so its encoder must be an 'ensemble', not {self.encoder.name!r}."
            )
        self.require_positive("batch_size")
        self.require_not_negative("future_fraction", "goals_of_each")
        if not (0 < self.expectile < 1 and 0 < self.discount < 1 and 0 < self.polyak <= 1):
            raise InputError(f"expectile, discount and polyak of {self.name} must be between 0 and 1.")
        if self.future_fraction > 1:
            raise InputError(f"future_fraction of {self.name} is a probability, but is {self.future_fraction}.")

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        if not self.rectified_adam:
            return super().optimiser(steps)
        return self.flat(optax.radam(self.learning_rate, eps=self.adam_epsilon))

    def init(self, distance: Distance) -> Distance:
        return jax.tree.map(jnp.copy, distance)

    def sample(self, key: PRNGKeyArray, tables: EpisodeTable) -> HilbertBatch:
        steps, goals = transitions_with_goals(
            key,
            tables,
            self.batch_size,
            discount=self.discount,
            future_fraction=self.future_fraction,
            of_each=self.goals_of_each,
        )
        return HilbertBatch(steps, goals)

    def loss(
        self,
        distance: Distance,
        extra: Distance,
        batch: HilbertBatch,
        states: States,
        progress: Float[Array, ""],
    ) -> tuple[Float[Array, ""], Terms]:
        del progress
        steps = batch.steps
        target_now, target_next = jax.lax.stop_gradient(_values(extra, states, batch.goals, steps.first, steps.second))
        (now,) = _values(distance, states, batch.goals, steps.first)
        going = 1.0 - states.same(steps.first, batch.goals)
        discount = self.discount**steps.elapsed
        reward = -going * (1.0 - discount) / (1.0 - self.discount)
        backup = reward[:, None] + (going * discount)[:, None] * target_next
        # Values are negative, so the smallest backup is the most cautious one.
        advantage = jnp.min(backup, axis=1) - jnp.mean(target_now, axis=1)
        weight = expectile_weight(advantage, self.expectile)
        expectile = jnp.sum(jnp.mean(weight[:, None] * (backup - now) ** 2, axis=0))
        return expectile, {"expectile": expectile, "value_low": jnp.min(now), "value_high": jnp.max(now)}

    def advance(self, distance: Distance, extra: Distance, terms: Terms) -> Distance:
        del terms
        return moved_towards(extra, distance, self.polyak)


def _values(
    distance: Distance, states: States, goals: Int[Array, " n"], *indices: Int[Array, " n"]
) -> tuple[Float[Array, "n members"], ...]:
    """V_k(s, g) of every member network k, for one goal and several states in each row."""

    ensemble = distance.encoder
    assert isinstance(ensemble, EnsembleModule)

    def encode(rows: Shaped[Array, " rows *shape"]) -> Float[Array, "rows latents"]:
        return jnp.concatenate([member(rows) for member in ensemble.members], axis=-1)

    members = len(ensemble.members)
    goal, *found = (joined.reshape(len(goals), members, -1) for joined in states.embed(encode, goals, *indices))
    return tuple(-distance.quasimetric(each, goal) for each in found)
