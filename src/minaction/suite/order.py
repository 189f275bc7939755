"""In which order to train: first something of every task, then what is likely to take longest.

A long training that is begun last would leave all other workers with nothing to do, while short ones fill the gaps that
long ones leave at the end. How long a task and a method take is known from what was trained before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from .bundles import Bundle
from .cells import Group


class LongestFirst:
    """Learns from groups as they are trained what to train next."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._tasks_chosen = set[str]()
        self._task_took: dict[str, float] = {}
        self._method_took: dict[str, float] = {}

    def began(self, group: Group) -> None:
        """A worker has begun with the group."""
        self._began[group.name] = time.monotonic()

    def finished(self, group: Group) -> None:
        """The group is trained."""
        if group.name in self._began:
            took = time.monotonic() - self._began[group.name]
            self._task_took[group.task] = self._method_took[group.method.label] = took

    def next_of(self, waiting: Sequence[Bundle]) -> Bundle:
        """The bundle to train next: of the task that took longest, with the method that did.

        What was never timed may take any time; among equals the first comes first.
        """

        def length(bundle: Bundle) -> tuple[bool, float, float]:
            task, method = bundle[0].task, bundle[0].method.label
            untouched = task not in self._tasks_chosen
            return untouched, self._task_took.get(task, math.inf), self._method_took.get(method, math.inf)

        chosen = max(waiting, key=length)
        self._tasks_chosen.update(group.task for group in chosen)
        return chosen
