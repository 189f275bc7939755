"""Random-shooting model-predictive control, as in the paper: sample, roll out, score, execute a little, plan again.

The planner is weak on purpose: it sees no further than its random candidates reach, so what it achieves is what the
distance contributes. Many episodes are planned side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._distance import Distance
from .._model import DistanceModel
from ..errors import InputError, unknown_name
from ..trajectories import shape_in_words
from ._simulators import Simulator

ScoreFunction = Callable[[jax.Array, jax.Array], jax.Array]
"""d(states (..., D), goals (..., D)) for compiled code; leading axes broadcast."""

# Back, still or ahead in x and in y: eight directions, and staying put.
ACTIONS = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)], dtype=np.float32)

_MOST_COPIES = 1 << 17  # simulated in one call, which bounds memory however many episodes there are


@dataclass(frozen=True)
class RandomShooting:
    """The planner's settings.

    A candidate is a sequence of `horizon` steps made of random actions, each held for `repeat` steps. Its score is
    the smallest distance to the goal along the way. The first `interval` steps of the best one are executed, then new
    candidates are drawn. With `score_every` = k only every k-th step of a candidate is scored, which is k times
    cheaper.
    """

    candidates: int = 100
    horizon: int = 50
    repeat: int = 5
    interval: int = 5
    score_every: int = 1

    def __post_init__(self) -> None:
        for name in ("candidates", "horizon", "repeat", "interval", "score_every"):
            if getattr(self, name) < 1:
                raise InputError(f"The planner's {name} is {getattr(self, name)}; it must be at least 1.")
        for name in ("interval", "repeat", "score_every"):
            if getattr(self, name) > self.horizon:
                raise InputError(
                    f"The planner's {name} of {getattr(self, name)} steps is longer than its horizon of "
                    f"{self.horizon}; make it shorter or look further ahead."
                )

    @classmethod
    def for_maze(cls, maze: str, **changes: int) -> RandomShooting:
        """The defaults for one of OGBench's mazes, except for `changes`."""
        if maze not in DEFAULTS:
            raise unknown_name("maze of OGBench", maze, DEFAULTS)
        return replace(DEFAULTS[maze], **changes)


DEFAULTS = {
    "medium": RandomShooting(horizon=50, repeat=5, interval=5),
    "large": RandomShooting(horizon=100, repeat=10, interval=10),
    # Short enough for the exact truth to reach its goals well within 1000 steps, long enough to see past the local
    # minima of a barely trained distance; reproductions/RESULTS.md has the numbers.
    "giant": RandomShooting(horizon=100, repeat=20, interval=10),
}


class _NetworkScore(eqx.Module):
    """A model's network as a `ScoreFunction`; a pytree, so that its weights are arguments of the compiled planner."""

    network: Distance
    state_shape: tuple[int, ...] = eqx.field(static=True)
    origin: np.ndarray | None = None

    def __call__(self, states: jax.Array, goals: jax.Array) -> jax.Array:
        # Encoded before they are broadcast: every candidate of an episode has the same goal.
        return self.network.quasimetric(self._embed(states), self._embed(goals))

    def _embed(self, states: jax.Array) -> jax.Array:
        lead = states.shape[: states.ndim - len(self.state_shape)]
        states = states if self.origin is None else states - self.origin
        return self.network.encoder(states.reshape(-1, *self.state_shape)).reshape(*lead, -1)


def score_function(distance: DistanceModel | ScoreFunction, state_shape: tuple[int, ...]) -> ScoreFunction:
    """What candidates are scored with: a model's network, or a function of states and goals as it is."""
    if not isinstance(distance, DistanceModel):
        return distance
    if distance.state_shape != state_shape:
        raise InputError(
            f"The model takes states of {shape_in_words(distance.state_shape)}, but the simulator's have "
            f"{shape_in_words(state_shape)}; plan with a model of this task."
        )
    return _NetworkScore(distance.network, state_shape, distance.units.origin)


def plan(
    settings: RandomShooting,
    simulator: Simulator,
    distance: ScoreFunction,
    states: np.ndarray,
    goals: np.ndarray,
    draws: np.ndarray,
    actions: np.ndarray = ACTIONS,
) -> tuple[np.ndarray, np.ndarray]:
    """The first `interval` actions of the best candidate of every episode, (n, interval, A), and its score, (n,).

    A row of `draws` (n, k), integers such as seed, episode and step, determines all that is drawn for an episode, which
    therefore does not depend on the others.
    """
    group = max(1, _MOST_COPIES // settings.candidates)
    chosen, scores = [], []
    for start in range(0, len(states), group):
        part = slice(start, start + group)
        count = len(states[part])
        # Padded to a few sizes, so that few programs are compiled as one episode after another ends.
        padding = np.minimum(np.arange(min(group, _rounded_up(count))), count - 1)
        here, there = (jnp.asarray(array[part][padding], jnp.float32) for array in (states, goals))
        numbers = jnp.asarray(draws[part][padding], jnp.uint32)
        best, score = _plan(settings, simulator, distance, here, there, numbers, jnp.asarray(actions))
        chosen.append(np.asarray(best)[:count])
        scores.append(np.asarray(score)[:count])
    return np.concatenate(chosen), np.concatenate(scores)


def _rounded_up(count: int) -> int:
    """16, 64, 256, ..."""
    size = 16
    while size < count:
        size *= 4
    return size


@eqx.filter_jit
def _plan(
    settings: RandomShooting,
    simulator: Any,
    distance: ScoreFunction,
    states: jax.Array,
    goals: jax.Array,
    draws: jax.Array,
    actions: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    count, drawn = len(states), -(-settings.horizon // settings.repeat)

    def draw(numbers: jax.Array) -> jax.Array:
        key = jax.random.key(0)
        for number in numbers:
            key = jax.random.fold_in(key, number)
        return jax.random.randint(key, (drawn, settings.candidates), 0, len(actions))

    sequences = jax.vmap(draw)(draws)
    sequences = jnp.moveaxis(sequences, 0, 1)  # (drawn, n, candidates)
    here = jnp.broadcast_to(states[:, None], (count, settings.candidates, states.shape[1]))

    def advance(carry: tuple[jax.Array, jax.Array], step: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
        now, nearest = carry
        now = simulator.step(now, actions[sequences[step // settings.repeat]])
        scored = ((step + 1) % settings.score_every == 0) | (step + 1 == settings.horizon)
        found = jax.lax.cond(
            scored,
            lambda now: distance(now, goals[:, None]).astype(jnp.float32),
            lambda now: jnp.full(now.shape[:-1], jnp.inf, jnp.float32),
            now,
        )
        return (now, jnp.minimum(nearest, found)), None

    nothing = jnp.full((count, settings.candidates), jnp.inf, jnp.float32)
    (_, nearest), _ = jax.lax.scan(advance, (here, nothing), jnp.arange(settings.horizon))
    best = jnp.argmin(nearest, axis=1)
    first = jnp.take_along_axis(sequences, best[None, :, None], axis=2)[:, :, 0]  # (drawn, n)
    held = first[jnp.arange(settings.interval) // settings.repeat]
    return actions[held.T], nearest.min(axis=1)
