"""TautDist: our own objective. Pull every pair of states apart until the observed steps between them are taut.

The minimum action distance is the largest distance that no observed step exceeds (the paper's theorem 1): knots joined
by strings, one per observed step, pulled apart until the shortest path is taut. docs/research.md has the measurements
behind every choice made here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._distance import Distance
from .._units import step_time
from ..encoders import MLP, Encoder
from ..errors import InputError
from ..trajectories import Trajectories
from ._base import Objective, Terms
from ._sampling import AnyArray, EpisodeTable, Pairs, any_states, below, trajectory_pairs
from ._states import States
from ._terms import excess


class DistinctBounds(eqx.Module):
    """Every ordered pair of different states observed within the horizon, once, with its shortest observed time.

    `anchors` has one row of the data for each distinct state. When sampling from these tables, a transition that was
    observed once in ten thousand steps counts as much as one observed at every step: shortest paths consist of rare
    transitions.
    """

    pairs: Pairs
    count: Int[AnyArray, ""]
    anchors: Int[AnyArray, " distinct"]
    num_anchors: Int[AnyArray, ""]


class TautTables(eqx.Module):
    """What sampling needs: the episodes, the distinct pairs where states repeat, and the time of a typical step."""

    episodes: EpisodeTable
    bounds: DistinctBounds | None
    step_time: Float[AnyArray, ""]


class TautBatch(NamedTuple):
    """The states of one training step."""

    near: Pairs
    random: Int[Array, "2 n"]
    step_time: Float[Array, ""]


@dataclass(frozen=True)
class TautDist(Objective):
    r"""L = E relu(1 - d(s, s') / l)^2 + lambda E relu((d(s_i, s_j) - t) / t_1)^2, with

    - random states s, s' in the first expectation and pairs observed at most `horizon` states apart in the second, t
      the time between them and t_1 the time of a typical step;
    - l = `reach` times a running estimate of the median distance of random pairs: the pull is as strong in a small
      world as in a large one, and pairs that nothing holds together settle at l instead of drifting apart;
    - lambda rising geometrically from `slack_stiffness` to `taut_stiffness` between a tenth and seven tenths of the
      training, so that the shape is found while the strings are soft and the lengths once they are stiff;
    - a learning rate that falls over the second half: a one-sided penalty turns jitter into bias.

    Where states repeat, both expectations are over distinct states and distinct pairs, not over visits.

    Args:
        learning_rate: that of the first half of the training.
        final_learning_rate: where a cosine decay over the second half ends.
        batch_size: the number of random pairs.
        bound_batch_size: the number of observed pairs.
        horizon: how many states apart observed pairs are at most.
        reach: above 1, or half of all pairs would not be pulled at all.
        slack_stiffness: lambda up to a tenth of the training.
        taut_stiffness: lambda from seven tenths of the training on.
        most_distinct: the number of distinct states up to which distinct pairs are tabulated; beyond it, visits are
            sampled.

    For `encoder`, `quasimetric`, `clip_norm` and `averaging` see `Objective`.

    >>> import minaction as ma
    >>> objective = ma.TautDist(encoder=ma.MLP(hidden=(256,), latent=64), reach=2.0)
    >>> objective.hyperparameters()["reach"]
    2.0
    """

    name: ClassVar[str] = "tautdist"
    # Some gradients are nothing but rounding errors: a bias that both embeddings share cancels. With an epsilon far
    # below them Adam takes steps of full size there, and inputs that differ in their last bits end in other models.
    adam_epsilon: ClassVar[float] = 5e-6

    encoder: Encoder = field(default_factory=lambda: MLP(fourier=64, fourier_sigma=2.0))
    learning_rate: float = 3e-4
    final_learning_rate: float = 6e-6
    clip_norm: float | None = 10.0
    averaging: float = 0.0  # the falling learning rate has the same effect
    batch_size: int = 512
    bound_batch_size: int = 1024
    horizon: int = 6
    reach: float = 2.5
    slack_stiffness: float = 4.0
    taut_stiffness: float = 150.0
    most_distinct: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("final_learning_rate", "batch_size", "bound_batch_size", "horizon", "most_distinct")
        if not self.reach > 1:
            raise InputError(f"reach of {self.name} must be above 1, or half of all pairs are not pulled at all.")
        if not 0 < self.slack_stiffness <= self.taut_stiffness:
            raise InputError(f"slack_stiffness of {self.name} must be positive and at most taut_stiffness.")

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        half = steps // 2
        fall = optax.cosine_decay_schedule(
            self.learning_rate, max(1, steps - half), self.final_learning_rate / self.learning_rate
        )
        return self.adam(optax.join_schedules([optax.constant_schedule(self.learning_rate), fall], [half]))

    def tables(self, data: Trajectories) -> TautTables:
        few = data.has_at_most(min(self.most_distinct, data.num_states // 2))
        return TautTables(
            EpisodeTable.of(data),
            distinct_bounds(data, self.horizon) if few else None,
            np.asarray(step_time(data), np.float32),
        )

    def init(self, distance: Distance) -> Float[Array, ""]:
        """The estimate of the median distance of random pairs, in typical steps; it starts at 1."""
        del distance
        return jnp.ones(())

    def sample(self, key: PRNGKeyArray, tables: TautTables) -> TautBatch:
        near_key, random_key = jax.random.split(key)
        if tables.bounds is None:
            near = trajectory_pairs(near_key, tables.episodes, self.bound_batch_size, self.horizon)
            random = any_states(random_key, tables.episodes, 2 * self.batch_size)
        else:
            bounds = tables.bounds
            chosen = below(jax.random.bits(near_key, (self.bound_batch_size,)), bounds.count)
            near = Pairs(*(column[chosen] for column in bounds.pairs))
            random = bounds.anchors[below(jax.random.bits(random_key, (2 * self.batch_size,)), bounds.num_anchors)]
        return TautBatch(near, random.reshape(2, -1), jnp.asarray(tables.step_time))

    def loss(
        self,
        distance: Distance,
        extra: Float[Array, ""],
        batch: TautBatch,
        states: States,
        progress: Float[Array, ""],
    ) -> tuple[Float[Array, ""], Terms]:
        near, apart = states.distances(
            distance, (batch.near.first, batch.near.second), (batch.random[0], batch.random[1])
        )
        median = extra * batch.step_time
        slack = jnp.mean(jax.nn.relu(1 - apart / (self.reach * median)) ** 2)
        overstretch = excess(near, batch.near.elapsed) / batch.step_time
        strain = jnp.mean(overstretch**2)
        return slack + self.stiffness(progress) * strain, {
            "slack": slack,
            "strain": strain,
            "overstretched": jnp.mean(overstretch > 0),
            "above_median": jnp.mean(apart > median),
            "median": median,
        }

    def advance(self, distance: Distance, extra: Float[Array, ""], terms: Terms) -> Float[Array, ""]:
        del distance
        # Tracking a median needs no sorting: raise it a little if more than half lie above it, else lower it.
        return extra * jnp.exp(0.02 * (2 * terms["above_median"] - 1))

    def stiffness(self, progress: Float[Array, ""]) -> Float[Array, ""]:
        """lambda when `progress`, from 0 to 1, of the training is done."""
        risen = jnp.clip((progress - 0.1) / 0.6, 0, 1)
        return self.slack_stiffness * (self.taut_stiffness / self.slack_stiffness) ** risen


def distinct_bounds(data: Trajectories, horizon: int) -> DistinctBounds:
    """The table of a data set whose states repeat, with pairs at most `horizon` states apart."""
    which = data.distinct.index.astype(np.int64)
    episode = np.repeat(np.arange(data.num_episodes), data.lengths)
    first, second = [], []
    for gap in range(1, min(horizon, int(data.lengths.max()) - 1) + 1):
        start = np.flatnonzero((episode[:-gap] == episode[gap:]) & (which[:-gap] != which[gap:]))
        first.append(start)
        second.append(start + gap)
    i, j = np.concatenate(first), np.concatenate(second)
    if len(i) == 0:
        raise InputError("The recorded state never changes, so there is no distance to learn; record some movement.")
    times = np.arange(data.num_states) if data.times is None else data.times
    elapsed = (times[j] - times[i]).astype(np.float32)
    pair = which[i] * len(data.distinct) + which[j]
    order = np.lexsort((elapsed, pair))
    shortest = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]  # the first of each pair's run
    _, anchors = np.unique(which, return_index=True)
    return DistinctBounds(
        Pairs(i[shortest].astype(np.int32), j[shortest].astype(np.int32), elapsed[shortest]),  # type: ignore[arg-type]
        np.asarray(len(shortest), np.int32),
        anchors.astype(np.int32),
        np.asarray(len(anchors), np.int32),
    )
