"""In which order to train: task by task, and of each task first what is likely to take longest.

A long training that is begun last would leave all other workers with nothing to do. How long a method takes is known
from the tasks before; on the first one, methods come as they are listed.
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
        self._took: dict[str, float] = {}

    def began(self, group: Group) -> None:
        """A worker has begun with the group."""
        self._began[group.name] = time.monotonic()

    def finished(self, group: Group) -> None:
        """The group is trained."""
        if group.name in self._began:
            self._took[group.method.label] = time.monotonic() - self._began[group.name]

    def next_of(self, waiting: Sequence[Bundle]) -> Bundle:
        """The bundle to train next; a method that was never timed may take any time."""
        task = waiting[0][0].task
        of_the_task = [bundle for bundle in waiting if bundle[0].task == task]
        return max(of_the_task, key=lambda bundle: self._took.get(bundle[0].method.label, math.inf))
