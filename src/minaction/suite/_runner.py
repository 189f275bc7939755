"""The suite itself: finds out what is left, has it trained, and puts what comes back into the store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from ..errors import InputError
from ._bundles import Bundle, bundled
from ._cells import Cell, Group
from ._display import Display, Tally, displayed
from ._order import LongestFirst
from ._pace import Paces
from ._store import Store, disk_is_full
from ._work import Backend, Event


def run_suite(store: Store, name: str, cells: Sequence[Cell], backend: Backend) -> Tally:
    """Train every cell that the store does not hold; how they stand in the end. A failure stops no other cell."""
    store.check(cells)
    with _disk_errors(store), store.opened(name):
        tally = Tally(total=len(cells), done=sum(map(store.has, cells)))
        paces = Paces()
        with displayed(tally, paces) as display:
            _Suite(store, cells, backend, display, paces).run()
        return tally


class _Suite:
    def __init__(self, store: Store, cells: Sequence[Cell], backend: Backend, display: Display, paces: Paces) -> None:
        self._store, self._cells, self._backend, self._display, self._paces = store, cells, backend, display, paces
        self._given_up: set[str] = set()
        self._tasks_not_here: set[str] = set()
        self._order = LongestFirst(paces)

    def run(self) -> None:
        # More than once: what was under way is trained with its own seeds before others of its name.
        while groups := [group for group in self._store.left(self._cells) if group.name not in self._given_up]:
            self._train(groups)

    def _train(self, groups: list[Group]) -> None:
        at_work = {group.name: group for group in groups}
        self._paces.expect(groups)
        bundles = bundled(groups, self._backend.lanes, self._store.step)
        with contextlib.closing(self._backend.run(self._possible(bundles), self._store.prepare)) as events:
            for event in events:
                if event.group not in at_work:  # news from another machine can come late
                    continue
                group = at_work[event.group]
                self._pace(group, event)
                if event.is_end:
                    self._settle(at_work.pop(event.group), event)
                self._display.show(group, event)

    def _pace(self, group: Group, event: Event) -> None:
        """Learn from what happened how long groups take."""
        if event.kind == "started":
            self._paces.began(group)
        elif event.kind == "step":
            self._paces.stepped(group, event.step)
        elif event.kind == "finished":
            self._paces.finished(group)
        else:
            self._paces.dropped(group)

    def _settle(self, group: Group, event: Event) -> None:
        """Put what became of a group into the store and the tally."""
        tally = self._display.tally
        if event.kind == "finished":
            self._store.keep(group)
            tally.done = sum(map(self._store.has, self._cells))
        elif event.kind == "failed":
            self._store.note_failure(group, event.text, event.details)
            self._given_up.add(group.name)
            tally.failed += len(group.cells)
        elif event.kind == "skipped":
            self._skip(group)
            self._tasks_not_here.add(group.task)
        else:
            raise InputError(_DISK_FULL.format(event.text.partition(";")[0]))

    def _possible(self, bundles: list[Bundle]) -> Iterator[Bundle]:
        """The bundles, asked for one by one, without groups of a task that turned out to need a missing extra."""
        waiting = list(bundles)
        while waiting:
            bundle = self._order.next_of(waiting)
            waiting.remove(bundle)
            possible = [group for group in bundle if group.task not in self._tasks_not_here]
            for group in bundle:
                if group.task in self._tasks_not_here:
                    self._skip(group)
            if possible:
                yield tuple(possible)

    def _skip(self, group: Group) -> None:
        self._paces.dropped(group)
        self._given_up.add(group.name)
        self._display.tally.skipped += len(group.cells)


_DISK_FULL = "The disk is full ({}); make room, and the same command goes on where this one stopped."


@contextlib.contextmanager
def _disk_errors(store: Store) -> Iterator[None]:
    try:
        yield
    except (OSError, InputError) as error:
        if not disk_is_full(error):
            raise
        raise InputError(_DISK_FULL.format(f"cannot write to {store.path}")) from error
