"""Subgoal-conditioned behaviour cloning: what the recording did when it went from one state to a later one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from .._mapped import read_rows
from .._model import DistanceModel
from ..objectives import States, Terms, TrainingObjective
from ..objectives._sampling import AnyArray, below
from ..trajectories import Trajectories
from ._actions import Actions
from ._embedded import steps_apart
from ._policy import Policy, PolicyArchitecture

_ROWS_AT_A_TIME = 1 << 15
_MOST_STRETCHES = 1 << 21


def identity_of(model: DistanceModel) -> list[Any]:
    """What tells a model from others, so that a checkpoint is not continued with another one."""
    made = model.provenance
    return [made.objective, made.steps, made.seed, made.data_fingerprint]


class Stretches(eqx.Module):
    """Pairs of states of an episode, the later one being the subgoal, and how much each counts."""

    first: Int[AnyArray, " stretches"]
    last: Int[AnyArray, " stretches"]
    weight: Float[AnyArray, " stretches"]
    actions: Float[AnyArray, "states size"]
    count: Int[AnyArray, ""]


class CloningBatch(NamedTuple):
    """What one step looks at."""

    state: Int[Array, " n"]
    subgoal: Int[Array, " n"]
    action: Float[Array, "n size"]
    weight: Float[Array, " n"]


@dataclass(frozen=True)
class SubgoalCloning(TrainingObjective):
    r"""L = - E w log pi(a_t | s_t, s_{t+k}), with

    - w = exp(`sharpness` (min(f, 1) - 1)), where f = (d(s_t, s_{t+k}) - d(s_{t+m}, s_{t+k})) / m is how much the
      learned distance to the subgoal falls per step: 1 where the recording went straight there;
    - with `single_steps` m = 1, and log k uniform from 1 to `horizon`: near subgoals are aimed at as often as far ones;
    - else m = k, and k uniform from `nearest` to `horizon`: a few steps of an ant say more of its legs than of its way.

    The learning rate falls to nothing along half a cosine.
    """

    name: ClassVar[str] = "subgoal-cloning"
    default_steps: ClassVar[int] = 8000

    actions: Actions = field(kw_only=True)
    goal_inputs: tuple[int, ...] = field(kw_only=True)
    model: DistanceModel = field(kw_only=True, compare=False, repr=False)
    """Whose distance weighs; only `tables` asks it, so that compiled code does not hold it."""
    single_steps: bool = True
    learning_rate: float = 1e-3
    clip_norm: float | None = 10.0
    averaging: float = 0.0
    hidden: tuple[int, ...] = (512, 512, 512)
    batch_size: int = 512
    nearest: int = 1
    horizon: int = 24
    sharpness: float = 3.0
    reach: float | None = 8.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("batch_size", "nearest", "horizon")
        self.require_not_negative("sharpness")

    @property
    def architecture(self) -> Any:
        return self.policy_architecture

    @property
    def policy_architecture(self) -> PolicyArchitecture:
        """Of the policy that is learned."""
        return PolicyArchitecture(self.actions, self.goal_inputs, self.hidden, self.reach)

    def hyperparameters(self) -> dict[str, Any]:
        fields = "learning_rate hidden batch_size nearest horizon sharpness single_steps reach goal_inputs"
        settings = {name: getattr(self, name) for name in fields.split()}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}
        return {"name": self.name, "model": identity_of(self.model), **plain}

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        return self.adam(optax.cosine_decay_schedule(self.learning_rate, steps))

    def tables(self, data: Trajectories) -> Stretches:
        assert data.actions is not None, "the kind of actions was told from them"
        random = np.random.default_rng(0)
        ends = np.repeat(data.offsets[1:], data.lengths)
        per_state = max(1, min(4, _MOST_STRETCHES // data.num_states))
        found = [
            self._stretches(data, np.arange(begin, min(begin + _ROWS_AT_A_TIME, data.num_states)), ends, random)
            for _ in range(per_state)
            for begin in range(0, data.num_states, _ROWS_AT_A_TIME)
        ]
        first, last, weight = (np.concatenate([part[k] for part in found]) for k in range(3))
        return Stretches(
            first.astype(np.int32),
            last.astype(np.int32),
            (weight / weight.mean()).astype(np.float32),
            self.actions.targets(np.asarray(data.actions)),
            np.asarray(len(first), np.int32),
        )  # type: ignore[arg-type]

    def _stretches(
        self, data: Trajectories, rows: np.ndarray, ends: np.ndarray, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = rows[ends[rows] - rows > 1]  # the last state of an episode leads nowhere
        if not len(rows):
            return rows, rows, np.empty(0)
        most = np.minimum(self.horizon, ends[rows] - rows - 1)
        least, drawn = np.minimum(self.nearest, most), random.random(len(rows))
        ahead = (most + 1.0) ** drawn if self.single_steps else least + drawn * (most - least + 1.0)
        last = rows + np.floor(ahead).astype(rows.dtype)
        if not self.sharpness:  # all count alike, and the distance need not be asked
            return rows, last, np.ones(len(rows))
        fall = self._fall(data, rows, last)
        return rows, last, np.exp(self.sharpness * (np.minimum(fall, 1.0) - 1.0))

    def _fall(self, data: Trajectories, rows: np.ndarray, last: np.ndarray) -> np.ndarray:
        """How much the distance to the subgoal falls per step, (n,)."""
        after, begin = rows + 1 if self.single_steps else last, rows[0]
        places = self.model.embed(read_rows(data.states, np.arange(begin, last.max() + 1)))
        before, left = (steps_apart(self.model, places[some - begin], places[last - begin]) for some in (rows, after))
        return (before - left) / (after - rows)

    def sample(self, key: PRNGKeyArray, tables: Stretches) -> CloningBatch:
        drawn = below(jax.random.bits(key, (self.batch_size,)), tables.count)
        first = jnp.asarray(tables.first)[drawn]
        return CloningBatch(
            first,
            jnp.asarray(tables.last)[drawn],
            jnp.asarray(tables.actions)[first],
            jnp.asarray(tables.weight)[drawn],
        )

    def loss(
        self, policy: Policy, /, extra: Any, batch: CloningBatch, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        del extra, progress
        here, there = states.embed(lambda rows: rows, batch.state, batch.subgoal)
        misses = self.actions.loss(policy(here, there), policy.deviation, batch.action)
        return jnp.mean(batch.weight * misses), {}
