"""Arenas: the maze of a task as a place to plan in, with its planner and the distances it can follow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .._model import DistanceModel
from .._progress import OnProgress
from ..errors import InputError
from ..mazes._layouts import MazeLayout
from ..tasks import TASKS, Task, get_task, read
from ..tasks._ant_mazes import walking_speed
from ..trajectories import Trajectories
from ._controls import euclidean, untrained, untrained_on
from ._dataset_guided import DatasetGuided
from ._episodes import Episodes
from ._evaluate import PlanningResult, evaluate_ant_planning, evaluate_planning
from ._fields import step_truth, walking_truth
from ._random_shooting import RandomShooting, ScoreFunction, score_function

PlannerDistance = DistanceModel | ScoreFunction
"""What a planner can follow to its goal."""

CONTROLS = ("truth", "euclidean", "untrained")
"""Distances to compare a learned one with: the best possible, and two that know nothing of the maze."""

# The paper's ant repeats these walks, whatever data its distance was learned from.
_WALKS = "ogbench-antmaze-{maze}-navigate"


@dataclass(frozen=True)
class Arena(ABC):
    """What planning needs to know about a task: its maze and the planner for what moves in it."""

    task: Task
    layout: MazeLayout = field(repr=False)
    """The map of the maze."""

    @property
    def maze(self) -> str:
        """The name of the maze, such as "medium"."""
        return self.layout.name

    def check(self, model: DistanceModel) -> None:
        """Refuse a model of other states before anything starts."""
        score_function(model, self.task.state_shape)

    @abstractmethod
    def settings(self, named: Mapping[str, int]) -> RandomShooting | DatasetGuided:
        """The planner's settings: the defaults for this maze, except for those that are named."""

    @abstractmethod
    def control(self, kind: str, episodes: Episodes) -> PlannerDistance:
        """One of `CONTROLS`."""

    @abstractmethod
    def follow(
        self,
        distance: PlannerDistance,
        episodes: Episodes,
        named: Mapping[str, int],
        seed: int,
        progress: OnProgress | None = None,
    ) -> PlanningResult:
        """Let the planner act in all episodes, guided by `distance`."""


class BallArena(Arena):
    """OGBench's ball: random shooting that looks ahead in a table of the simulator."""

    def settings(self, named: Mapping[str, int]) -> RandomShooting:
        return RandomShooting.for_maze(self.maze, **named)

    def control(self, kind: str, episodes: Episodes) -> PlannerDistance:
        if kind == "truth":
            return step_truth(self.layout, episodes.goals)
        return euclidean if kind == "euclidean" else untrained(self.layout)

    def follow(
        self,
        distance: PlannerDistance,
        episodes: Episodes,
        named: Mapping[str, int],
        seed: int,
        progress: OnProgress | None = None,
    ) -> PlanningResult:
        return evaluate_planning(distance, self.maze, episodes, self.settings(named), seed=seed, progress=progress)


class AntArena(Arena):
    """OGBench's ant: it repeats recorded stretches of walking and looks ahead in the simulator itself."""

    def settings(self, named: Mapping[str, int]) -> DatasetGuided:
        if "repeat" in named:
            raise InputError("--repeat is for the ball's planner; the ant's takes its actions from recorded walks.")
        return DatasetGuided(**named)

    def control(self, kind: str, episodes: Episodes) -> PlannerDistance:
        if kind == "truth":
            return walking_truth(self.layout, episodes.goals, walking_speed())
        return euclidean if kind == "euclidean" else untrained_on(self._walks.states)

    def follow(
        self,
        distance: PlannerDistance,
        episodes: Episodes,
        named: Mapping[str, int],
        seed: int,
        progress: OnProgress | None = None,
    ) -> PlanningResult:
        settings = self.settings(named)
        return evaluate_ant_planning(distance, self.maze, self._walks, episodes, settings, seed=seed, progress=progress)

    @cached_property
    def _walks(self) -> Trajectories:
        return read(_WALKS.format(maze=self.maze), keep_actions=True)


_ARENAS: dict[str, type[Arena]] = {"ball": BallArena, "ant": AntArena}
"""By the simulator that a task names."""


def arena_of(task_name: str) -> Arena:
    """Where to plan with a distance that was learned on a task; a task without a simulator is refused.

    >>> arena_of("ogbench-pointmaze-medium-navigate").maze
    'medium'
    """
    task = get_task(task_name) if task_name in TASKS else None
    found = None if task is None else _arena(task)
    if found is None:
        usable = ", ".join(name for name in TASKS.usable() if _arena(get_task(name)) is not None)
        raise InputError(f"There is no simulator to plan in for {task_name}; plan with a run on one of: {usable}.")
    return found


def _arena(task: Task) -> Arena | None:
    layout = getattr(task, "maze", None)
    kind = _ARENAS.get(task.simulator or "")
    return kind(task, layout) if kind is not None and isinstance(layout, MazeLayout) else None
