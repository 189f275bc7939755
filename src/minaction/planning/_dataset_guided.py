"""The ant's planner: tries actions recorded near its state in the simulator and executes the beginning of the best.

Random torques do not walk, so the candidates are action sequences of the data set that start near the current state,
as in the paper's appendix. They are scored by distances along the way, as in random shooting.
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial import KDTree

from .._model import DistanceModel
from ..encoders import input_statistics
from ..errors import InputError
from ..mazes._ant import ACTION_SIZE, STATE_SIZE, uprightness
from ..trajectories import Trajectories, shape_in_words
from ._random_shooting import ScoreFunction, score_function
from ._simulators import Simulator

_UPRIGHT = 0.5  # its up is within 60 degrees of the world's
_SAME_STRETCH = 10  # steps of an episode that lead in the same direction


@dataclass(frozen=True)
class DatasetGuided:
    """The planner's settings.

    The candidates are the `horizon` actions that follow the recorded states nearest to the current one. They are
    rolled out from the current state and scored by the smallest distance to the goal along the way; the first
    `interval` actions of the best are executed, then the search starts again.
    """

    candidates: int = 100
    horizon: int = 40
    interval: int = 10
    nearby: int = 2048
    """How many recorded states, the nearest in x and y, are compared by the distance."""

    def __post_init__(self) -> None:
        for name in ("candidates", "horizon", "interval", "nearby"):
            if getattr(self, name) < 1:
                raise InputError(f"The planner's {name} is {getattr(self, name)}; it must be at least 1.")
        if self.interval > self.horizon:
            raise InputError(
                f"The planner's interval of {self.interval} steps is longer than its horizon of {self.horizon}; "
                "make it shorter or look further ahead."
            )


class Segments:
    """The action sequences of a data set that can be repeated: those that begin with the ant upright.

    "Nearest" means by the model's distance from the current state. Without a model (for distances that only know the
    position of the goal) it means by posture and velocity, which decide whether the same torques have the same effect.

    Only the `nearby` states nearest in x and y are compared, which is fast however large the data set is. The ant walks
    less than 0.2 in a step, so states a few steps away are among them. They are encoded on demand: that takes a small
    part of the time of the roll-outs, while the embeddings of a million states would fill gigabytes.
    """

    def __init__(self, data: Trajectories, settings: DatasetGuided, model: DistanceModel | None = None) -> None:
        if data.actions is None:
            raise InputError("The planner repeats recorded actions, but the data has none; read it with keep_actions.")
        if data.state_shape != (STATE_SIZE,) or data.actions.shape[1:] != (ACTION_SIZE,):
            raise InputError(
                f"The data has states of {shape_in_words(data.state_shape)} and actions of {data.actions.shape[1]} "
                f"numbers; those of an ant have {STATE_SIZE} and {ACTION_SIZE} numbers."
            )
        if model is not None:
            score_function(model, (STATE_SIZE,))  # refuses a model of other states
        left = np.repeat(data.offsets[1:], data.lengths) - np.arange(data.num_states)
        long_enough = left >= settings.horizon
        self._first = np.flatnonzero(long_enough & (uprightness(data.states) > _UPRIGHT))
        if not len(self._first):
            where = "no state of the data is upright" if long_enough.any() else "no episode is that long"
            raise InputError(f"There are no {settings.horizon} actions from an upright ant on to repeat: {where}.")
        self._settings, self._model, self._actions = settings, model, data.actions
        self._states = data.states[self._first]
        self._tree = KDTree(self._states[:, :2])
        self._scale = np.asarray(input_statistics(self._states).scale)

    def following(self, states: np.ndarray) -> np.ndarray:
        """The candidate actions for each of the states (n, 29), nearest first, (n, candidates, horizon, 8).

        Consecutive states lead to the same actions. So the nearest state of every stretch of an episode comes first,
        and further states of the same stretches only where there are too few stretches.
        """
        return np.stack([self._following(state) for state in states])

    def _following(self, state: np.ndarray) -> np.ndarray:
        near = np.atleast_1d(self._tree.query(state[:2], min(self._settings.nearby, len(self._first)))[1])
        near = near[self._order(state, self._states[near])]
        fresh = np.zeros(len(near), dtype=bool)
        fresh[np.unique(self._first[near] // _SAME_STRETCH, return_index=True)[1]] = True
        chosen = np.concatenate([near[fresh], near[~fresh]])[: self._settings.candidates]
        chosen = np.resize(chosen, self._settings.candidates)  # a tiny data set repeats itself
        return self._actions[self._first[chosen, None] + np.arange(self._settings.horizon)]

    def _order(self, state: np.ndarray, others: np.ndarray) -> np.ndarray:
        if self._model is not None:
            return self._model.nearest(state, others, len(others))[0]
        apart = (others[:, 2:] - state[2:]) / self._scale[2:]
        return np.argsort((apart**2).sum(axis=1), kind="stable")


def plan_from_data(
    settings: DatasetGuided,
    segments: Segments,
    simulator: Simulator,
    distance: ScoreFunction,
    states: np.ndarray,
    goals: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The first `interval` actions of the best candidate of every episode, (n, interval, 8), and its score, (n,).

    A candidate that overturns the ant is chosen only where all of them do: the recorded actions are those of upright
    ants and would lead nowhere from there.
    """
    candidates = segments.following(states)
    actions = np.concatenate(candidates).astype(np.float64)
    now = np.repeat(states, settings.candidates, axis=0)
    visited = np.empty((len(now), settings.horizon, STATE_SIZE), np.float32)
    for step in range(settings.horizon):
        now = simulator.step(now, actions[:, step])
        visited[:, step] = now
    overturned = (uprightness(visited) < _UPRIGHT).any(axis=1)
    scores = np.empty((len(states), settings.candidates))
    for row, paths in enumerate(np.split(visited, len(states))):
        scores[row] = _least_distances(distance, jnp.asarray(paths), jnp.asarray(goals[row], jnp.float32))
    best = np.lexsort((scores, overturned.reshape(scores.shape)))[:, 0]
    rows = np.arange(len(states))
    return candidates[rows, best, : settings.interval], scores[rows, best]


@eqx.filter_jit
def _least_distances(distance: ScoreFunction, visited: jax.Array, goal: jax.Array) -> jax.Array:
    return distance(visited, goal).min(axis=1)
