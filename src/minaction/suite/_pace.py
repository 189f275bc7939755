"""How long groups take, learned as they are trained: what a task costs times what a method costs."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from ._cells import Group

_ROUNDS = 5  # of fitting tasks and methods in turns

_Names = tuple[str, str]
"""Of a task and a method."""


class Fit:
    """Logarithms that add up to that of every known pace as nearly as can be: of all, of each task, of each method."""

    def __init__(self, paces: Mapping[_Names, float]) -> None:
        self._known = paces
        self._all = fmean(map(math.log, paces.values())) if paces else 0.0
        of_task = defaultdict[str, list[tuple[str, float]]](list)
        of_method = defaultdict[str, list[tuple[str, float]]](list)
        for (task, method), pace in paces.items():
            of_task[task].append((method, math.log(pace) - self._all))
            of_method[method].append((task, math.log(pace) - self._all))
        self._tasks, self._methods = dict.fromkeys(of_task, 0.0), dict.fromkeys(of_method, 0.0)
        for _ in range(_ROUNDS):
            for task, found in of_task.items():
                self._tasks[task] = fmean(value - self._methods[method] for method, value in found)
            for method, found in of_method.items():
                self._methods[method] = fmean(value - self._tasks[task] for task, value in found)

    def __bool__(self) -> bool:
        return bool(self._known)

    def knows_task(self, group: Group) -> bool:
        """Whether something was trained of its task."""
        return group.task in self._tasks

    def knows_method(self, group: Group) -> bool:
        """Whether something was trained with its method."""
        return group.method.label in self._methods

    def pace(self, group: Group) -> float:
        """Seconds per step of the group; its own if it is known. A new task or method is like the others."""
        task, method = _names(group)
        fitted = math.exp(self._all + self._tasks.get(task, 0.0) + self._methods.get(method, 0.0))
        return self._known.get((task, method), fitted)


@dataclass
class _Course:
    """A group at work: when it began, and when it was at which step: first, after data and compilation, and last."""

    group: Group
    began: float
    first: tuple[float, int] | None = None
    last: tuple[float, int] | None = None

    def stepped(self, step: int) -> None:
        """It has come to a step."""
        self.last = time.monotonic(), step
        if self.first is None or step < self.first[1]:  # news of a machine that was lost can come late
            self.first = self.last

    @property
    def start_up(self) -> float:
        """Seconds until something was heard of it."""
        return (self.first[0] if self.first else time.monotonic()) - self.began

    @property
    def pace(self) -> float | None:
        """Seconds per step since; None while there is none."""
        if self.first is None or self.last is None or self.first[1] == self.last[1]:
            return None
        return max(self.last[0] - self.first[0], 1e-6) / (self.last[1] - self.first[1])

    def seconds_left(self, pace: float) -> float:
        """How long it will take at a pace."""
        when, step = self.last or (time.monotonic(), 0)
        return max(0.0, pace * (self.group.steps - step) - (time.monotonic() - when))


class Paces:
    """Told what happens to groups, it knows how long others will take."""

    def __init__(self) -> None:
        self._waiting: dict[str, Group] = {}
        self._running: dict[str, _Course] = {}
        self._finished: dict[_Names, float] = {}
        self._start_ups: list[float] = []
        self._at_once = 1

    def expect(self, groups: Iterable[Group]) -> None:
        """These are going to be trained."""
        self._waiting = {group.name: group for group in groups}

    def began(self, group: Group) -> None:
        """A worker has begun with the group."""
        self._waiting.pop(group.name, None)
        self._running[group.name] = _Course(group, time.monotonic())
        self._at_once = max(self._at_once, len(self._running))

    def stepped(self, group: Group, step: int) -> None:
        """The group has come to a step."""
        if group.name in self._running:
            self._running[group.name].stepped(step)

    def finished(self, group: Group) -> None:
        """The group is trained."""
        course = self._running.get(group.name)
        self.dropped(group)
        if course is not None and course.pace is not None:
            self._finished[_names(group)] = course.pace
            self._start_ups.append(course.start_up)

    def dropped(self, group: Group) -> None:
        """Nobody is at work on the group, and nobody will be."""
        self._waiting.pop(group.name, None)
        self._running.pop(group.name, None)

    def fit(self) -> Fit:
        """What all groups that have come somewhere tell about the others."""
        under_way = {_names(course.group): course.pace for course in self._running.values()}
        return Fit({**self._finished, **{names: pace for names, pace in under_way.items() if pace is not None}})

    def seconds_left(self) -> float | None:
        """Until all groups are trained, by as many workers as there were at once; None while nothing is known."""
        fit = self.fit()
        if not fit:
            return None
        courses = self._running.values()
        start_up = fmean(self._start_ups or [course.start_up for course in courses])
        running = [course.seconds_left(fit.pace(course.group)) for course in courses]
        waiting = [fit.pace(group) * group.steps + start_up for group in self._waiting.values()]
        return max([*running, (sum(running) + sum(waiting)) / self._at_once])


def _names(group: Group) -> _Names:
    return group.task, group.method.label
