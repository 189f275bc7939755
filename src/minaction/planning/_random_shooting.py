"""Random-shooting model-predictive control, as the paper plans: draw, look ahead, score, act a little, plan again.

The planner is weak on purpose: it sees no further than its random candidates reach, so that what it achieves is
what the distance contributes. Many episodes are planned for side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._model import DistanceModel
from ..errors import InputError, unknown_name
from ._simulators import Simulator

ScoreFunction = Callable[[jax.Array, jax.Array], jax.Array]
"""d(states (..., D), goals (..., D)) for compiled code; leading axes broadcast."""

# x and y each back, still or ahead: eight directions and staying.
ACTIONS = np.array([(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)], dtype=np.float32)

_MOST_COPIES = 1 << 17  # simulated side by side in one call; bounds memory, whatever the number of episodes


@dataclass(frozen=True)
class RandomShooting:
    """The planner's settings.

    A candidate is a sequence of `horizon` steps made of random actions, each held for `repeat` steps. Its score is
    the smallest distance to the goal on the way. The first `interval` steps of the best one are executed, then
    everything is drawn anew. With `score_every` above 1 only every so many steps of a candidate are scored, which is
    that much cheaper.
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
        """The defaults for one of OGBench's mazes, but for `changes`."""
        if maze not in DEFAULTS:
            raise unknown_name("maze of OGBench", maze, DEFAULTS)
        return replace(DEFAULTS[maze], **changes)


DEFAULTS = {
    "medium": RandomShooting(horizon=50, repeat=5, interval=5),
    "large": RandomShooting(horizon=100, repeat=10, interval=10),
    # Near enough for the exact truth to reach its goals well within 1000 steps, far enough to see past the dents of a
    # distance that was hardly trained; reproductions/RESULTS.md has the numbers.
    "giant": RandomShooting(horizon=100, repeat=20, interval=10),
}


def score_function(distance: DistanceModel | ScoreFunction, state_size: int) -> ScoreFunction:
    """What candidates are scored with: a model's network, or a function of states and goals as it is."""
    if not isinstance(distance, DistanceModel):
        return distance
    if distance.state_size != state_size:
        raise InputError(
            f"The model takes states of {distance.state_size} numbers, but the simulator's have {state_size}; "
            "plan with a model of this task."
        )
    return distance.network


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

    A row of `draws` (n, k), whole numbers such as seed, episode and step, fixes all that is drawn for an episode, so
    that it does not depend on the others.
    """
    group = max(1, _MOST_COPIES // settings.candidates)
    chosen, scores = [], []
    for start in range(0, len(states), group):
        part = slice(start, start + group)
        count = len(states[part])
        # Few sizes, so that few programs are compiled while episodes end one after another.
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
