"""MadDist: regression on elapsed times, separation of random pairs, one-sided bounds.

Steccanella, Evans, Şimşek and Jonsson, "Learning the Minimum Action Distance", section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._distance import Distance
from ._base import Objective, Terms
from ._sampling import EpisodeTable, Pairs, any_states, trajectory_pairs
from ._states import States
from ._terms import constraint_term, relative_error_term, separation_term


class MadDistBatch(NamedTuple):
    """The states of one training step."""

    pairs: Pairs
    near: Pairs
    random: Int[Array, "2 n"]


@dataclass(frozen=True)
class MadDist(Objective):
    r"""L = L_tau + w_r L_r + w_c L_c, with t = t_j - t_i the time between two states of a trajectory and

    - L_tau = E (d(s_i, s_j) / t - 1)^2 over pairs at most `trajectory_horizon` apart (equation 6),
    - L_r = E relu(1 - d(s, s') / d_max)^2 over random pairs (equation 7),
    - L_c = sum relu(d(s_i, s_j) - t)^2 over pairs at most `constraint_horizon` apart (equation 8; the published
      curves need the sum over the batch, not the mean).

    Args:
        batch_size: the number of trajectory pairs, and of random pairs.
        constraint_batch_size: the number of pairs in L_c.
        separation_weight: w_r.
        constraint_weight: w_c.
        separation_limit: d_max, beyond which random pairs are no longer pushed apart.
        trajectory_horizon: how many states apart the pairs of L_tau are at most.
        constraint_horizon: how many states apart the pairs of L_c are at most; the paper's H_c.

    For `encoder`, `quasimetric`, `learning_rate`, `clip_norm` and `averaging` see `Objective`.

    >>> import minaction as ma
    >>> objective = ma.MadDist(encoder=ma.MLP(hidden=(256,), latent=64), separation_weight=5.0)
    >>> objective.hyperparameters()["separation_weight"]
    5.0
    """

    name: ClassVar[str] = "maddist"

    batch_size: int = 256
    constraint_batch_size: int = 1024
    separation_weight: float = 10.0
    constraint_weight: float = 0.01
    separation_limit: float = 500.0
    trajectory_horizon: int = 500
    constraint_horizon: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("batch_size", "constraint_batch_size", "separation_limit")
        self.require_positive("trajectory_horizon", "constraint_horizon")
        self.require_not_negative("separation_weight", "constraint_weight")

    def sample(self, key: PRNGKeyArray, tables: EpisodeTable) -> MadDistBatch:
        pair_key, near_key, random_key = jax.random.split(key, 3)
        return MadDistBatch(
            trajectory_pairs(pair_key, tables, self.batch_size, self.trajectory_horizon),
            trajectory_pairs(near_key, tables, self.constraint_batch_size, self.constraint_horizon),
            any_states(random_key, tables, 2 * self.batch_size).reshape(2, -1),
        )

    def loss(
        self, distance: Distance, extra: Any, batch: MadDistBatch, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        del extra, progress
        along, near, apart = states.distances(
            distance,
            (batch.pairs.first, batch.pairs.second),
            (batch.near.first, batch.near.second),
            (batch.random[0], batch.random[1]),
        )
        trajectory = relative_error_term(along, batch.pairs.elapsed)
        separation = separation_term(apart, self.separation_limit)
        constraint = constraint_term(near, batch.near.elapsed)
        value = trajectory + self.separation_weight * separation + self.constraint_weight * constraint
        return value, {"trajectory": trajectory, "separation": separation, "constraint": constraint}
