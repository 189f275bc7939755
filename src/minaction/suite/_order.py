"""In which order to train: first something of every task, then what is likely to take longest.

A long training that is begun last would leave all other workers with nothing to do, while short ones fill the gaps that
long ones leave at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._bundles import Bundle
from ._pace import Paces


class LongestFirst:
    """Chooses what to train next, by what is known of how long it will take."""

    def __init__(self, paces: Paces) -> None:
        self._paces = paces
        self._tasks_chosen = set[str]()

    def next_of(self, waiting: Sequence[Bundle]) -> Bundle:
        """The bundle to train next; among equals the first. What was never tried may take any time, and comes first."""
        fit = self._paces.fit()

        def length(bundle: Bundle) -> tuple[bool, bool, bool, float]:
            group = bundle[0]
            untouched = group.task not in self._tasks_chosen
            return untouched, not fit.knows_task(group), not fit.knows_method(group), fit.pace(group) * group.steps

        chosen = max(waiting, key=length)
        self._tasks_chosen.update(group.task for group in chosen)
        return chosen
