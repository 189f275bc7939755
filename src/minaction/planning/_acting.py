"""Episodes acted out side by side in the exact simulator, planned again and again until every goal is reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..mazes import _ant_recipes as ant_recipes
from ..mazes import _recipes as recipes
from ..mazes._ant import Ants, ExactAnt, maze_model, reset_noise, reset_states
from ._dataset_guided import DatasetGuided, Segments, plan_from_data
from ._episodes import Episodes
from ._random_shooting import RandomShooting, ScoreFunction, plan
from ._simulators import ExactBall, TabulatedBall

Progress = Callable[[int, int], None]
"""Called with the number of steps done and the most there may be."""


class Bodies(Protocol):
    """What moves in the episodes, one body in each, with the planner that moves it."""

    tolerance: float  # a goal is reached when the body is no further from it than this
    interval: int  # steps between two plans

    @property
    def positions(self) -> np.ndarray:
        """Where the bodies are now, (n, 2)."""
        ...

    def plan(self, which: np.ndarray, now: int) -> np.ndarray:
        """The next actions (k, interval, A) of the k bodies numbered `which`, `now` steps into their episodes."""
        ...

    def step(self, which: np.ndarray, actions: np.ndarray) -> None:
        """Move the bodies numbered `which`, and perhaps others that no longer matter, by the actions (k, A)."""
        ...


def act(
    bodies: Bodies, goals: np.ndarray, most_steps: int, progress: Progress | None = None
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The steps each episode took to its goal, (n,), -1 where it never got there, and its path, (steps + 1, 2)."""
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
        """The best of the sequences drawn for the seed, the episode and this step."""
        draws = np.stack(np.broadcast_arrays(self._seed, which, now), axis=1)
        return plan(self._settings, self._table, self._distance, self.positions[which], self._goals[which], draws)[0]

    def step(self, which: np.ndarray, actions: np.ndarray) -> None:
        """One step of MuJoCo."""
        kept = self._memory[which]
        self.positions[which] = self._exact.step(self.positions[which], actions, kept)
        self._memory[which] = kept


class WalkingAnts:
    """OGBench's ant: recorded actions tried in MuJoCo and the best of them executed there.

    An episode begins in the environment's posture with its noise, drawn from `seed`. To the distance a goal is that
    posture without noise, there.
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
        """The best of what was recorded around here."""
        here, there = self._ants.states[which], self._goals[which]
        return plan_from_data(self._settings, self._segments, self._look_ahead, self._distance, here, there)[0]

    def step(self, which: np.ndarray, actions: np.ndarray) -> None:
        """One step of the environment; ants that arrived rest."""
        everyone = np.zeros((self._ants.count, actions.shape[1]))
        everyone[which] = actions
        self._ants.step(everyone)
