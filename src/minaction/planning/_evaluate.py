"""Goal reaching as OGBench evaluates it: five start-goal pairs per maze, executed in the exact simulator."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from .._model import DistanceModel
from .._progress import OnProgress
from ..errors import InputError
from ..mazes._ant import STATE_SIZE
from ..mazes._layouts import OGBENCH_LAYOUTS, STEP_LENGTH
from ..mazes._walking_time import route_lengths
from ..trajectories import Trajectories
from ._acting import Balls, Bodies, WalkingAnts, act
from ._dataset_guided import DatasetGuided, Segments
from ._episodes import Episodes
from ._fields import learned_fields, step_truth
from ._random_shooting import RandomShooting, ScoreFunction, score_function

MOST_STEPS = 1000


@dataclass(frozen=True)
class TaskResult:
    """The outcome of the episodes of one start-goal pair."""

    task: int
    episodes: int
    successes: int
    interval: tuple[float, float]  # Wilson's 95% interval of the success rate
    mean_steps: float  # of the successful episodes; NaN where there are none
    path_ratio: float  # median of the length of their paths, divided by the shortest possible

    @property
    def success_rate(self) -> float:
        """The share of episodes that reached the goal."""
        return self.successes / self.episodes


@dataclass(frozen=True)
class PlanningResult:
    """The outcome of all episodes, together and by start-goal pair."""

    maze: str
    settings: RandomShooting | DatasetGuided
    seed: int
    tolerance: float  # a goal counts as reached within this distance
    total: TaskResult  # all episodes together, as task 0
    tasks: tuple[TaskResult, ...]
    paths: tuple[np.ndarray, ...] = field(repr=False)  # of every episode, (steps + 1, 2), task by task
    goals: np.ndarray = field(repr=False)  # (episodes of all tasks, 2)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the paths; None where there is no number."""
        return {
            "maze": self.maze,
            "seed": self.seed,
            "settings": asdict(self.settings),
            "total": _as_dict(self.total),
            "tasks": [_as_dict(one) for one in self.tasks],
        }


def evaluate_planning(
    distance: DistanceModel | ScoreFunction,
    maze: str,
    episodes: Episodes,
    settings: RandomShooting | None = None,
    seed: int = 0,
    most_steps: int = MOST_STEPS,
    spacing: float | None = 0.1,
    progress: OnProgress | None = None,
) -> PlanningResult:
    """Let the ball's planner act in all episodes side by side, and count how many reach their goal in `most_steps`.

    It looks ahead in the tabulated ball and acts in MuJoCo. A model's distances are interpolated on a lattice with
    this `spacing` (see `_fields`); with None every position is encoded. The same seed gives the same paths.
    """
    settings = RandomShooting.for_maze(maze) if settings is None else settings
    score = score_function(distance, (2,))
    if isinstance(distance, DistanceModel) and spacing is not None:
        score = learned_fields(distance, OGBENCH_LAYOUTS[maze], episodes.goals, spacing)
    balls = Balls(maze, episodes, settings, score, _checked_seed(seed))
    steps, paths = act(balls, episodes.goals, most_steps, progress)
    truth = step_truth(OGBENCH_LAYOUTS[maze], episodes.goals)
    least = np.asarray(truth(jnp.asarray(episodes.starts, jnp.float32), jnp.asarray(episodes.goals, jnp.float32)))
    return _summary(maze, settings, seed, balls, episodes, steps, paths, STEP_LENGTH * steps, STEP_LENGTH * least)


def evaluate_ant_planning(
    distance: DistanceModel | ScoreFunction,
    maze: str,
    data: Trajectories,
    episodes: Episodes,
    settings: DatasetGuided | None = None,
    seed: int = 0,
    most_steps: int = MOST_STEPS,
    threads: int = 0,
    progress: OnProgress | None = None,
) -> PlanningResult:
    """The same for the ant, whose planner repeats actions of `data` and both looks ahead and acts in MuJoCo.

    The path ratio compares the torso's path with the shortest one around the walls. `threads` (0: all) only affects
    how long it takes.
    """
    settings = DatasetGuided() if settings is None else settings
    score = score_function(distance, (STATE_SIZE,))
    segments = Segments(data, settings, distance if isinstance(distance, DistanceModel) else None)
    ants = WalkingAnts(maze, episodes, settings, segments, score, _checked_seed(seed), threads)
    steps, paths = act(ants, episodes.goals, most_steps, progress)
    walked = np.array([np.hypot(*np.diff(path, axis=0).T).sum() for path in paths])
    count = len(steps)
    least = route_lengths(OGBENCH_LAYOUTS[maze], np.concatenate([episodes.starts, episodes.goals]))
    return _summary(maze, settings, seed, ants, episodes, steps, paths, walked, least[:count, count:].diagonal())


def _summary(
    maze: str,
    settings: RandomShooting | DatasetGuided,
    seed: int,
    bodies: Bodies,
    episodes: Episodes,
    steps: np.ndarray,
    paths: tuple[np.ndarray, ...],
    walked: np.ndarray,
    least: np.ndarray,
) -> PlanningResult:
    # A goal beside its start is reached in a step or two whatever the planner does: its ratio says nothing.
    ratios = np.where(least > 2 * bodies.tolerance, walked / np.maximum(least, 1e-9), np.nan)
    parts = [_task_result(int(task), steps, ratios, episodes.tasks == task) for task in np.unique(episodes.tasks)]
    total = _task_result(0, steps, ratios, np.ones(len(steps), dtype=bool))
    return PlanningResult(maze, settings, seed, bodies.tolerance, total, tuple(parts), paths, episodes.goals)


def _task_result(task: int, steps: np.ndarray, ratios: np.ndarray, chosen: np.ndarray) -> TaskResult:
    from scipy.stats import binomtest  # takes most of a second to load

    reached = chosen & (steps >= 0)
    successes, count = int(reached.sum()), int(chosen.sum())
    told = ratios[reached & np.isfinite(ratios)]
    interval = binomtest(successes, count).proportion_ci(0.95, method="wilson")
    return TaskResult(
        task=task,
        episodes=count,
        successes=successes,
        interval=(float(interval.low), float(interval.high)),
        mean_steps=float(steps[reached].mean()) if successes else float("nan"),
        path_ratio=float(np.median(told)) if len(told) else float("nan"),
    )


def _checked_seed(seed: int) -> int:
    if seed < 0:
        raise InputError(f"The seed is {seed}; it must be 0 or more.")
    return seed


def _as_dict(result: TaskResult) -> dict[str, Any]:
    values = {**asdict(result), "interval": list(result.interval), "success_rate": result.success_rate}
    return {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in values.items()}
