"""PlanDist: regression on elapsed times with a one-sided penalty.

Steccanella and Jonsson, "State Representation Learning for Goal-Conditioned Reinforcement Learning", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from jaxtyping import Array, Float, PRNGKeyArray

from .._distance import Distance
from ..quasimetrics import L1, Quasimetric
from ._base import Objective, Terms
from ._sampling import EpisodeTable, Pairs, trajectory_pairs
from ._states import States
from ._terms import relative_constraint_term, relative_error_term


@dataclass(frozen=True)
class PlanDist(Objective):
    r"""L = E [(d(s_i, s_j) - t)^2 + w_c relu(d(s_i, s_j) - t)^2] / t^2 over pairs on a trajectory.

    Equation 4 of Steccanella, Evans, Şimşek and Jonsson, "Learning the Minimum Action Distance", with the
    division by t^2 of the original; t = t_j - t_i. Both terms are means over the batch. The metric is L1;
    "plandist-simple" is the preset with the simple quasimetric instead, between embeddings without negative numbers.

    Args:
        batch_size: the number of pairs in a batch.
        constraint_weight: w_c.
        trajectory_horizon: how many states apart the pairs are at most; None for any two states of a trajectory.

    For `encoder`, `quasimetric`, `learning_rate`, `clip_norm` and `averaging` see `Objective`.

    >>> import minaction as ma
    >>> objective = ma.PlanDist(encoder=ma.MLP(hidden=(256,), latent=64), trajectory_horizon=100)
    >>> objective.hyperparameters()["trajectory_horizon"]
    100
    """

    name: ClassVar[str] = "plandist"

    quasimetric: Quasimetric = field(default_factory=L1)
    clip_norm: float | None = 5.0
    batch_size: int = 1024
    constraint_weight: float = 0.01
    trajectory_horizon: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("batch_size", "trajectory_horizon")
        self.require_not_negative("constraint_weight")

    def sample(self, key: PRNGKeyArray, tables: EpisodeTable) -> Pairs:
        return trajectory_pairs(key, tables, self.batch_size, self.trajectory_horizon)

    def loss(
        self, distance: Distance, extra: Any, batch: Pairs, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        del extra, progress
        (found,) = states.distances(distance, (batch.first, batch.second))
        trajectory = relative_error_term(found, batch.elapsed)
        constraint = relative_constraint_term(found, batch.elapsed)
        value = trajectory + self.constraint_weight * constraint
        return value, {"trajectory": trajectory, "constraint": constraint}
