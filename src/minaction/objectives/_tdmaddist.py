"""TDMadDist: MadDist with bootstrapped targets from a slowly updated copy of the distance.

Steccanella, Evans, Şimşek and Jonsson, "Learning the Minimum Action Distance", section 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._distance import Distance
from ..errors import InputError
from ._base import Objective, Terms
from ._sampling import EpisodeTable, Pairs, any_states, first_steps, trajectory_pairs, transitions
from ._states import States
from ._terms import constraint_term, moved_towards, relative_error_term


class TDMadDistBatch(NamedTuple):
    """The states of one training step.

    `following` are the states `step_time` after the first ones of `pairs`.
    """

    pairs: Pairs
    following: Int[Array, " n"]
    step_time: Float[Array, " n"]
    steps: Pairs
    goals: Int[Array, " n"]
    near: Pairs


@dataclass(frozen=True)
class TDMadDist(Objective):
    r"""L = L_tau' + w_r L_r' + w_c L_c, with d' the target copy of d, t_ij the time from s_i to s_j, and

    - L_tau' = E (d(s_i, s_j) / min(t_ij, t_i,i+1 + d'(s_i+1, s_j)) - 1)^2 over pairs on a trajectory, at most
      `trajectory_horizon` apart,
    - L_r' = E (d(s_i, s_r) / (t_i,i+1 + d'(s_i+1, s_r)) - 1)^2 over transitions and random states s_r,
    - L_c = sum relu(d(s_i, s_j) - t_ij)^2 over pairs at most `constraint_horizon` apart, as in MadDist.

    After every step the target moves towards d by the fraction `polyak` of their difference; no gradient flows
    through it. The defaults are the values that reproduce the published curves; those of the published table
    (w_r = 1, w_c = 0.01, polyak = 0.005) are the preset "tdmaddist-paper-table".

    Args:
        batch_size: the number of trajectory pairs, and of transitions with a random goal.
        constraint_batch_size: the number of pairs in L_c.
        random_goal_weight: w_r.
        constraint_weight: w_c.
        polyak: how far the target moves in a step, above 0 and up to 1; the paper's beta.
        trajectory_horizon: how many states apart the pairs of L_tau' are at most.
        constraint_horizon: how many states apart the pairs of L_c are at most; the paper's H_c.

    For `encoder`, `quasimetric`, `learning_rate`, `clip_norm` and `averaging` see `Objective`.

    >>> import minaction as ma
    >>> objective = ma.TDMadDist(encoder=ma.MLP(hidden=(256,), latent=64), polyak=0.01)
    >>> objective.hyperparameters()["polyak"]
    0.01
    """

    name: ClassVar[str] = "tdmaddist"

    clip_norm: float | None = 5.0
    batch_size: int = 256
    constraint_batch_size: int = 1024
    random_goal_weight: float = 2.0
    constraint_weight: float = 0.001
    polyak: float = 0.05
    trajectory_horizon: int = 50
    constraint_horizon: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("batch_size", "constraint_batch_size", "trajectory_horizon", "constraint_horizon")
        self.require_not_negative("random_goal_weight", "constraint_weight")
        if not 0 < self.polyak <= 1:
            raise InputError(f"polyak of {self.name} must be above 0 and at most 1, but is {self.polyak}.")

    def init(self, distance: Distance) -> Distance:
        return jax.tree.map(jnp.copy, distance)

    def sample(self, key: PRNGKeyArray, tables: EpisodeTable) -> TDMadDistBatch:
        pair_key, step_key, goal_key, near_key = jax.random.split(key, 4)
        pairs = trajectory_pairs(pair_key, tables, self.batch_size, self.trajectory_horizon)
        following, step_time = first_steps(tables, pairs)
        return TDMadDistBatch(
            pairs,
            following,
            step_time,
            transitions(step_key, tables, self.batch_size),
            any_states(goal_key, tables, self.batch_size),
            trajectory_pairs(near_key, tables, self.constraint_batch_size, self.constraint_horizon),
        )

    def loss(
        self,
        distance: Distance,
        extra: Distance,
        batch: TDMadDistBatch,
        states: States,
        progress: Float[Array, ""],
    ) -> tuple[Float[Array, ""], Terms]:
        del progress
        bootstrap, goal_target = self._targets(extra, batch, states)
        along, to_goal, near = states.distances(
            distance,
            (batch.pairs.first, batch.pairs.second),
            (batch.steps.first, batch.goals),
            (batch.near.first, batch.near.second),
        )
        trajectory = relative_error_term(along, jnp.minimum(batch.pairs.elapsed, bootstrap))
        random_goal = relative_error_term(to_goal, goal_target)
        constraint = constraint_term(near, batch.near.elapsed)
        value = trajectory + self.random_goal_weight * random_goal + self.constraint_weight * constraint
        return value, {
            "trajectory": trajectory,
            "random_goal": random_goal,
            "constraint": constraint,
            "bootstrap_tighter": jnp.mean(bootstrap < batch.pairs.elapsed),
        }

    def advance(self, distance: Distance, extra: Distance, terms: Terms) -> Distance:
        del terms
        return moved_towards(extra, distance, self.polyak)

    @staticmethod
    def _targets(
        target: Distance, batch: TDMadDistBatch, states: States
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """One observed step, then the target's distance: to the end of each pair, and to each random goal."""
        along, to_goal = states.distances(
            target, (batch.following, batch.pairs.second), (batch.steps.second, batch.goals)
        )
        return jax.lax.stop_gradient((batch.step_time + along, batch.steps.elapsed + to_goal))
