"""Goal reaching as OGBench judges it: five start-goal pairs per maze, executed in the exact simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import InputError
from ..mazes.layouts import OGBENCH_LAYOUTS, MazeLayout
from ..model import DistanceModel
from .fields import learned_fields, step_truth
from .random_shooting import RandomShooting, ScoreFunction, plan, score_function
from .simulators import ExactBall, TabulatedBall

# Row and column of start and goal, by maze and number of the pair: facts of OGBench's environments.
TASK_CELLS = {
    "medium": (((1, 1), (6, 6)), ((6, 1), (1, 6)), ((5, 3), (4, 2)), ((6, 5), (6, 1)), ((2, 6), (1, 1))),
    "large": (((1, 1), (7, 10)), ((5, 4), (7, 1)), ((7, 4), (1, 10)), ((3, 8), (5, 4)), ((1, 1), (5, 4))),
    "giant": (((1, 1), (10, 14)), ((1, 14), (10, 1)), ((8, 14), (1, 1)), ((8, 3), (5, 12)), ((5, 9), (3, 8))),
}
ALL_TASKS = (1, 2, 3, 4, 5)
NOISE = 1.0  # starts and goals are moved by up to this, in x and in y
TOLERANCE = 1.0  # a goal is reached when the ball is no further from it than this
MOST_STEPS = 1000

Progress = Callable[[int, int], None]
"""Called with the number of steps done and the most there may be."""


@dataclass(frozen=True)
class TaskResult:
    """What came of the episodes of one start-goal pair."""

    task: int
    episodes: int
    successes: int
    interval: tuple[float, float]  # Wilson's 95% interval of the success rate
    mean_steps: float  # of the successful episodes; not a number where there are none
    path_ratio: float  # their steps to the goal, divided by the least possible: the median

    @property
    def success_rate(self) -> float:
        """The share of episodes that reached the goal."""
        return self.successes / self.episodes


@dataclass(frozen=True)
class PlanningResult:
    """What came of all episodes, together and by start-goal pair."""

    maze: str
    settings: RandomShooting
    seed: int
    total: TaskResult  # task 0: all of them together
    tasks: tuple[TaskResult, ...]
    paths: tuple[np.ndarray, ...] = field(repr=False)  # of every episode, (steps + 1, 2), task by task
    goals: np.ndarray = field(repr=False)  # (episodes of all tasks, 2)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it, without the paths; what does not exist is null."""
        return {
            "maze": self.maze,
            "seed": self.seed,
            "settings": asdict(self.settings),
            "total": _as_dict(self.total),
            "tasks": [_as_dict(one) for one in self.tasks],
        }


@dataclass(frozen=True)
class Episodes:
    """Where episodes begin and where they are to end."""

    tasks: np.ndarray  # (n,) number of the pair, 0 for a goal of a person's own
    starts: np.ndarray  # (n, 2)
    goals: np.ndarray  # (n, 2)

    @classmethod
    def draw(cls, maze: str, tasks: Sequence[int], episodes: int, seed: int) -> Episodes:
        """`episodes` for each of the start-goal pairs, moved by noise as the environment moves them."""
        _check_numbers(tasks, episodes)
        random = np.random.default_rng(seed)
        cells = np.array([TASK_CELLS[maze][task - 1] for task in tasks])  # (tasks, start and goal, 2)
        places = np.repeat(OGBENCH_LAYOUTS[maze].centre(cells), episodes, axis=0)
        places = places + random.uniform(-NOISE, NOISE, places.shape)
        return cls(np.repeat(np.array(tasks), episodes), places[:, 0], places[:, 1])

    @classmethod
    def towards(cls, maze: str, goal: Sequence[float], episodes: int, seed: int) -> Episodes:
        """`episodes` from anywhere in the maze to one goal, which must not lie in a wall."""
        _check_numbers((1,), episodes)
        layout, place = OGBENCH_LAYOUTS[maze], np.array(goal, dtype=np.float64)
        if place.shape != (2,):
            raise InputError(f"A goal in a maze is two numbers, x and y, not {len(goal)}.")
        if not np.isfinite(place).all() or not _within(layout, place) or not layout.is_free(place):
            near = layout.centres[np.argmin(np.hypot(*(layout.centres - np.nan_to_num(place)).T))]
            raise InputError(
                f"The goal ({place[0]:g}, {place[1]:g}) lies in a wall of the {maze} maze or outside it; "
                f"the middle of the nearest free cell is ({near[0]:g}, {near[1]:g})."
            )
        starts = layout.random_positions(episodes, np.random.default_rng(seed))
        return cls(np.zeros(episodes, np.int64), starts, np.tile(place, (episodes, 1)))


def evaluate_planning(
    distance: DistanceModel | ScoreFunction,
    maze: str,
    episodes: Episodes,
    settings: RandomShooting | None = None,
    seed: int = 0,
    most_steps: int = MOST_STEPS,
    spacing: float | None = 0.1,
    progress: Progress | None = None,
) -> PlanningResult:
    """Let the planner act in all episodes side by side and count how many reach their goal in `most_steps`.

    It looks ahead in the tabulated ball and acts in MuJoCo. A model's distances are interpolated on a lattice of
    this `spacing` (see `fields`); with None every position is encoded. The same seed gives the same paths.
    """
    settings = RandomShooting.for_maze(maze) if settings is None else settings
    score = score_function(distance, state_size=2)
    if isinstance(distance, DistanceModel) and spacing is not None:
        score = learned_fields(distance, OGBENCH_LAYOUTS[maze], episodes.goals, spacing)
    exact, table = ExactBall(maze), TabulatedBall(maze)
    count = len(episodes.starts)
    if seed < 0:
        raise InputError(f"The seed is {seed}; give one from 0 on.")
    positions, memory = episodes.starts.copy(), np.zeros((count, 2))
    visited, steps = [positions.copy()], np.full(count, -1)
    active = planned_for = np.arange(count)
    planned = np.empty((count, settings.interval, 2))
    for now in range(most_steps):
        place = now % settings.interval
        if place == 0:
            planned_for = active
            draws = np.stack(np.broadcast_arrays(seed, active, now), axis=1)
            planned, _ = plan(settings, table, score, positions[active], episodes.goals[active], draws)
        actions = planned[np.searchsorted(planned_for, active), place].astype(np.float64)
        kept = memory[active]
        positions[active] = exact.step(positions[active], actions, kept)
        memory[active] = kept
        visited.append(positions.copy())
        there = np.hypot(*(positions[active] - episodes.goals[active]).T) <= TOLERANCE
        steps[active[there]] = now + 1
        active = active[~there]
        if progress is not None:
            progress(now + 1, most_steps)
        if len(active) == 0:
            break
    walked = np.where(steps >= 0, steps, len(visited) - 1)
    track = np.stack(visited, axis=1)
    paths = tuple(track[k, : walked[k] + 1] for k in range(count))
    return _summary(maze, settings, seed, episodes, steps, paths)


def _summary(
    maze: str,
    settings: RandomShooting,
    seed: int,
    episodes: Episodes,
    steps: np.ndarray,
    paths: tuple[np.ndarray, ...],
) -> PlanningResult:
    truth = step_truth(OGBENCH_LAYOUTS[maze], episodes.goals)
    least = np.asarray(truth(jnp.asarray(episodes.starts, jnp.float32), jnp.asarray(episodes.goals, jnp.float32)))
    parts = [_task_result(int(task), steps, least, episodes.tasks == task) for task in np.unique(episodes.tasks)]
    total = _task_result(0, steps, least, np.ones(len(steps), dtype=bool))
    return PlanningResult(maze, settings, seed, total, tuple(parts), paths, episodes.goals)


def _task_result(task: int, steps: np.ndarray, least: np.ndarray, chosen: np.ndarray) -> TaskResult:
    reached = chosen & (steps >= 0)
    successes, count = int(reached.sum()), int(chosen.sum())
    # A start beside its goal is reached in a step or two, whatever the planner does: its ratio says nothing.
    far = reached & (least > 2 * TOLERANCE / 0.2)
    return TaskResult(
        task=task,
        episodes=count,
        successes=successes,
        interval=wilson_interval(successes, count),
        mean_steps=float(steps[reached].mean()) if successes else float("nan"),
        path_ratio=float(np.median(steps[far] / least[far])) if far.any() else float("nan"),
    )


def wilson_interval(successes: int, count: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's score interval of a probability, at 95% confidence unless told otherwise."""
    if not 0 <= successes <= count or count == 0:
        raise InputError(f"{successes} successes of {count} are no sample; give at least one trial.")
    share, square = successes / count, z * z
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = z / (1 + square / count) * np.sqrt(share * (1 - share) / count + square / (4 * count * count))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def _within(layout: MazeLayout, place: np.ndarray) -> bool:
    rows, columns = layout.walls.shape
    far = layout.centre(np.array([rows - 1, columns - 1]))
    return bool(((place >= np.array(layout.corner_centre)) & (place <= far)).all())


def _check_numbers(tasks: Sequence[int], episodes: int) -> None:
    if episodes < 1:
        raise InputError(f"Cannot plan for {episodes} episodes; give at least 1.")
    unknown = [task for task in tasks if task not in ALL_TASKS]
    if unknown or not tasks:
        shown = unknown[0] if unknown else "none"
        raise InputError(f"OGBench's start-goal pairs are numbered 1 to 5; {shown} is not one of them.")


def _as_dict(result: TaskResult) -> dict[str, Any]:
    values = {**asdict(result), "interval": list(result.interval), "success_rate": result.success_rate}
    return {key: None if isinstance(value, float) and np.isnan(value) else value for key, value in values.items()}
