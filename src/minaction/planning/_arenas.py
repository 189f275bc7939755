"""A task's maze as a place to plan in: which planner moves there, and which distances it can follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from .._model import DistanceModel
from ..errors import InputError
from ..mazes._ant import STATE_SIZE
from ..tasks import all_tasks
from ..tasks._ant_mazes import AntTask, walking_speed
from ..tasks._mazes import OgbenchBallTask
from ..trajectories import Trajectories, read
from ._acting import Progress
from ._controls import euclidean, untrained, untrained_on
from ._dataset_guided import DatasetGuided
from ._episodes import TASK_CELLS, Episodes
from ._evaluate import PlanningResult, evaluate_ant_planning, evaluate_planning
from ._fields import step_truth, walking_truth
from ._random_shooting import RandomShooting, ScoreFunction, score_function

Followed = DistanceModel | ScoreFunction
"""What a planner can follow to its goal."""

CONTROLS = ("truth", "euclidean", "untrained")
_ANT_SEGMENTS = (
    "ogbench-antmaze-{maze}-navigate"  # the paper's ant repeats these, whatever its distance was learned from
)


class Course(Protocol):
    """What planning needs to know of a task."""

    @property
    def task(self) -> OgbenchBallTask | AntTask:
        """The task whose maze it is."""
        ...

    def check(self, model: DistanceModel) -> None:
        """Refuse a model of other observations, before anything starts."""
        ...

    def settings(self, named: Mapping[str, int]) -> RandomShooting | DatasetGuided:
        """The planner's, with its defaults for this maze where nothing else is named."""
        ...

    def control(self, kind: str, episodes: Episodes) -> Followed:
        """One of `CONTROLS`: the best there can be, and what a learned distance has to beat."""
        ...

    def follow(
        self, distance: Followed, episodes: Episodes, named: Mapping[str, int], seed: int, progress: Progress
    ) -> PlanningResult:
        """Let the planner act in all episodes."""
        ...


@dataclass(frozen=True)
class BallCourse:
    """OGBench's ball: random shooting, looking ahead in a table of the simulator."""

    task: OgbenchBallTask

    def check(self, model: DistanceModel) -> None:
        score_function(model, state_size=2)

    def settings(self, named: Mapping[str, int]) -> RandomShooting:
        return RandomShooting.for_maze(self.task.recipe.maze, **named)

    def control(self, kind: str, episodes: Episodes) -> Followed:
        if kind == "truth":
            return step_truth(self.task.maze, episodes.goals)
        return euclidean if kind == "euclidean" else untrained(self.task.maze)

    def follow(
        self, distance: Followed, episodes: Episodes, named: Mapping[str, int], seed: int, progress: Progress
    ) -> PlanningResult:
        maze = self.task.recipe.maze
        return evaluate_planning(distance, maze, episodes, self.settings(named), seed=seed, progress=progress)


@dataclass(frozen=True)
class AntCourse:
    """OGBench's ant: it repeats recorded stretches of walking, looking ahead in the simulator itself."""

    task: AntTask

    def check(self, model: DistanceModel) -> None:
        score_function(model, STATE_SIZE)

    def settings(self, named: Mapping[str, int]) -> DatasetGuided:
        if "repeat" in named:
            raise InputError("--repeat is for the ball's planner; the ant's takes its actions from recorded walks.")
        return DatasetGuided(**named)

    def control(self, kind: str, episodes: Episodes) -> Followed:
        if kind == "truth":
            return walking_truth(self.task.maze, episodes.goals, walking_speed())
        return euclidean if kind == "euclidean" else untrained_on(self._walks.states)

    def follow(
        self, distance: Followed, episodes: Episodes, named: Mapping[str, int], seed: int, progress: Progress
    ) -> PlanningResult:
        return evaluate_ant_planning(
            distance, self.task.recipe.maze, self._walks, episodes, self.settings(named), seed=seed, progress=progress
        )

    @cached_property
    def _walks(self) -> Trajectories:
        return read(_ANT_SEGMENTS.format(maze=self.task.recipe.maze), keep_actions=True)


def course_of(task_name: str) -> Course:
    """Where to plan with a distance that was learned on a task."""
    task = all_tasks().get(task_name)
    if isinstance(task, OgbenchBallTask):
        return BallCourse(task)
    if isinstance(task, AntTask) and task.recipe.maze in TASK_CELLS:
        return AntCourse(task)
    usable = ", ".join(name for name in all_tasks() if name.startswith("ogbench") and "teleport" not in name)
    raise InputError(f"There is no simulator to plan in for {task_name}; plan with a run on one of: {usable}.")
