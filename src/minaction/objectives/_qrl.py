"""QRL: push random pairs apart as far as the observed transitions allow, with a Lagrange multiplier.

Wang, Torralba, Isola and Zhang, "Optimal Goal-Reaching Reinforcement Learning via Quasimetric Learning",
2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._distance import Distance
from ..encoders import MLP, Encoder, Projected
from ..errors import InputError
from ..quasimetrics import IQE, Quasimetric
from ._base import Objective, Terms
from ._sampling import EpisodeTable, Pairs, any_states, transitions
from ._states import States
from ._terms import mean_squared_excess, push_term


def qrl_encoder(
    hidden: tuple[int, ...] = (512, 512), latent: int = 128, projector: tuple[int, ...] = (512,)
) -> Encoder:
    """An embedding, then a projector whose output is 64 components of 32 numbers."""
    base = MLP(hidden=hidden, latent=latent, activation="relu")
    return Projected(base, hidden=projector, latent=2048, activation="relu")


class QRLBatch(NamedTuple):
    """The states of one training step."""

    steps: Pairs
    random: Int[Array, " n"]


class Multiplier(NamedTuple):
    """The Lagrange multiplier, softplus(raw), and the state of its optimiser."""

    raw: Float[Array, ""]
    optimiser: optax.OptState

    @property
    def value(self) -> Float[Array, ""]:
        """lambda, never negative."""
        return jax.nn.softplus(self.raw)


@dataclass(frozen=True)
class QRL(Objective):
    r"""min over d, max over lambda >= 0 of

    E softplus(alpha - d(s, s'), beta) + lambda (E relu(d(s_i, s_i+1) - t_i,i+1)^2 - eps^2)

    with softplus(x, beta) = log(1 + exp(beta x)) / beta, random states s, s' of the data set in the first
    expectation and observed transitions, t_i,i+1 long, in the second. lambda is the softplus of a free
    parameter, which ascends with an Adam of its own in the step in which the model descends. (alpha, beta) is
    (15, 0.1) for short horizons and (500, 0.01) for long ones (preset "qrl-long"). As in the original,
    gradients are not clipped, and each random state is used twice: as s of one pair and as s' of the next.

    Args:
        batch_size: the number of transitions, and of random pairs; at least 2.
        push_offset: alpha, the distance beyond which random pairs are hardly pushed apart any more.
        push_sharpness: beta.
        tolerance: eps, how far a transition may exceed its recorded time.
        initial_multiplier: lambda before the first step.
        multiplier_learning_rate: the learning rate of lambda's own Adam.

    For `encoder`, `quasimetric`, `learning_rate`, `clip_norm` and `averaging` see `Objective`.

    >>> import minaction as ma
    >>> objective = ma.QRL(encoder=ma.MLP(hidden=(256,), latent=64), push_offset=500.0)
    >>> objective.hyperparameters()["push_offset"]
    500.0
    """

    name: ClassVar[str] = "qrl"
    asymmetric_only: ClassVar[bool] = True
    adam_epsilon: ClassVar[float] = 1e-8

    encoder: Encoder = field(default_factory=qrl_encoder)
    quasimetric: Quasimetric = field(default_factory=lambda: IQE(component_size=32))
    clip_norm: float | None = None
    batch_size: int = 1024
    push_offset: float = 15.0
    push_sharpness: float = 0.1
    tolerance: float = 0.25
    initial_multiplier: float = 0.01
    multiplier_learning_rate: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("push_sharpness", "initial_multiplier", "multiplier_learning_rate")
        self.require_not_negative("push_offset", "tolerance")
        if self.batch_size < 2:
            raise InputError(f"batch_size of {self.name} must be at least 2, to pair different states.")

    def init(self, distance: Distance) -> Multiplier:
        del distance
        raw = jnp.asarray(math.log(math.expm1(self.initial_multiplier)), jnp.float32)
        return Multiplier(raw, self._multiplier_optimiser().init(raw))

    def sample(self, key: PRNGKeyArray, tables: EpisodeTable) -> QRLBatch:
        step_key, random_key = jax.random.split(key)
        return QRLBatch(transitions(step_key, tables, self.batch_size), any_states(random_key, tables, self.batch_size))

    def loss(
        self,
        distance: Distance,
        extra: Multiplier,
        batch: QRLBatch,
        states: States,
        progress: Float[Array, ""],
    ) -> tuple[Float[Array, ""], Terms]:
        del progress
        steps = (batch.steps.first, batch.steps.second)
        step, apart = states.distances(distance, steps, ring=batch.random)
        push = push_term(apart, self.push_offset, self.push_sharpness)
        constraint = mean_squared_excess(step, batch.steps.elapsed)
        violation = constraint - self.tolerance**2
        multiplier = jax.lax.stop_gradient(extra.value)
        return push + multiplier * violation, {
            "push": push,
            "constraint": constraint,
            "violation": violation,
            "multiplier": multiplier,
        }

    def advance(self, distance: Distance, extra: Multiplier, terms: Terms) -> Multiplier:
        del distance
        # The gradient of -lambda * violation with respect to raw.
        descent = -terms["violation"] * jax.nn.sigmoid(extra.raw)
        update, optimiser = self._multiplier_optimiser().update(descent, extra.optimiser)
        return Multiplier(optax.apply_updates(extra.raw, update), optimiser)  # type: ignore[arg-type]

    def _multiplier_optimiser(self) -> optax.GradientTransformation:
        return optax.adam(self.multiplier_learning_rate)
