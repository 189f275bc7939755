"""Episodes executed side by side in the exact simulator, replanned at intervals until every goal is reached."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._progress import OnProgress
from ..mazes import _ant_recipes as ant_recipes
from ..mazes import _recipes as recipes
from ..mazes._ant import Ants, ExactAnt, maze_model, reset_noise, reset_states
from ._dataset_guided import DatasetGuided, Segments, plan_from_data
from ._episodes import Episodes
from ._random_shooting import RandomShooting, ScoreFunction, plan
from ._simulators import ExactBall, TabulatedBall


class Bodies(Protocol):
    """What moves in the episodes, one body in each, with the planner that moves it."""

    tolerance: float  # a goal counts as reached within this distance
    interval: int  # steps between two plans

    @property
    def positions(self) -> np.ndarray:
        """Where the bodies are now, (n, 2)."""
        ...

    def plan(self, which: np.ndarray, now: int) -> np.ndarray:
        """The next actions (k, interval, A) of the k bodies numbered `which`, `now` steps into their episodes."""
        ...

    def step(self, which: np.ndarray, actions: np.ndarray) -> None:
        """Apply the actions (k, A) to the bodies numbered `which`; those that have arrived may move too."""
        ...


def act(
    bodies: Bodies, goals: np.ndarray, most_steps: int, progress: OnProgress | None = None
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The steps that each episode took to its goal, (n,), -1 where it did not arrive, and its path, (steps + 1, 2)."""
    count = len(goals)
    visited, steps = [bodies.positions.copy()], np.full(count, -1)
    active = planned_for = np.arange(count)
    planned = np.empty((count, bodies.interval, 0))
    for now in range(most_steps):
        place = now % bodies.interval
        if place == 0:
            planned_for, planned = active, bodies.plan(active, now)
        bodies.step(active, planned[np.searchsorted(planned_for, active), place].astype(np.float64))
        visited.append(bodies.positions.copy())
        there = np.hypot(*(bodies.positions[active] - goals[active]).T) <= bodies.tolerance
        steps[active[there]] = now + 1
        active = active[~there]
        if progress is not None:
            progress(now + 1, most_steps)
        if len(active) == 0:
            break
    walked = np.where(steps >= 0, steps, len(visited) - 1)
    track = np.stack(visited, axis=1)
    return steps, tuple(track[k, : walked[k] + 1] for k in range(count))


class Balls:
    """OGBench's ball: random shooting in the table, executed in MuJoCo."""

    tolerance = recipes.GOAL_TOLERANCE

    def __init__(
        self, maze: str, episodes: Episodes, settings: RandomShooting, distance: ScoreFunction, seed: int
    ) -> None:
        self.interval, self.positions = settings.interval, episodes.starts.copy()
        self._settings, self._distance, self._seed = settings, distance, seed
        self._goals, self._memory = episodes.goals, np.zeros_like(episodes.starts)
        self._exact, self._table = ExactBall(maze), TabulatedBall(maze)

    def plan(self, which: np.ndarray, now: int) -> np.ndarray:
        """The best of the sequences drawn for this seed, episode and step."""
        draws = np.stack(np.broadcast_arrays(self._seed, which, now), axis=1)
        return plan(self._settings, self._table, self._distance, self.positions[which], self._goals[which], draws)[0]

    def step(self, which: np.ndarray, actions: np.ndarray) -> None:
        """One step of MuJoCo."""
        kept = self._memory[which]
        self.positions[which] = self._exact.step(self.positions[which], actions, kept)
        self._memory[which] = kept


class WalkingAnts:
    """OGBench's ant: recorded actions are tried in MuJoCo, and the best of them executed there.

    An episode begins in the environment's initial posture with its noise, drawn from `seed`. The goal state that the
    distance gets is the same posture without noise, at the goal.
    """

    tolerance = ant_recipes.GOAL_TOLERANCE

    def __init__(
        self,
        maze: str,
        episodes: Episodes,
        settings: DatasetGuided,
        segments: Segments,
        distance: ScoreFunction,
        seed: int,
        threads: int = 0,
    ) -> None:
        count = len(episodes.starts)
        self.interval, self._settings, self._segments, self._distance = settings.interval, settings, segments, distance
        noise = reset_noise(np.random.default_rng(seed), count)
        self._goals = reset_states(episodes.goals, np.zeros_like(noise))
        self._look_ahead, self._ants = ExactAnt(maze, threads), Ants(maze_model(maze), count, threads)
        self._ants.place(reset_states(episodes.starts, noise))

    @property
    def positions(self) -> np.ndarray:
        """Where the torsos are now."""
        return self._ants.states[:, :2]

    def plan(self, which: np.ndarray, now: int) -> np.ndarray:
        """The best of the actions recorded nearby."""
        here, there = self._ants.states[which], self._goals[which]
        return plan_from_data(self._settings, self._segments, self._look_ahead, self._distance, here, there)[0]

    def step(self, which: np.ndarray, actions: np.ndarray) -> None:
        """One step of the environment; ants that have arrived get no torque."""
        everyone = np.zeros((self._ants.count, actions.shape[1]))
        everyone[which] = actions
        self._ants.step(everyone)
