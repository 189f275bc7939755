"""What a person sees of a suite at work: what is done, running and failed, and the time left; lines in a log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from ._cells import Group
from ._pace import Paces
from ._work import Event

_SECONDS_BETWEEN_LINES = 30.0


@dataclass
class Tally:
    """How the cells of a suite stand."""

    total: int
    done: int
    failed: int = 0
    skipped: int = 0
    running: int = 0

    def __str__(self) -> str:
        parts = [f"{self.done} of {self.total} cells done", f"{self.running} running", f"{self.failed} failed"]
        return ", ".join([*parts, f"{self.skipped} skipped"] if self.skipped else parts)


@dataclass
class Display:
    """Shows events and the tally as they come."""

    console: Console
    tally: Tally
    paces: Paces
    _progress: Progress
    _overall_bar: TaskID
    _bars: dict[str, TaskID] = field(default_factory=dict)
    _last_line: float = field(default_factory=time.monotonic)

    def show(self, group: Group, event: Event) -> None:
        """Show what happened to a group."""
        if event.kind == "started":
            self._start(group)
        elif event.kind == "step" and group.name in self._bars:
            self._step(group, event)
        elif event.kind in ("finished", "failed", "skipped"):
            self._end(group, event)

    def _start(self, group: Group) -> None:
        if group.name in self._bars:  # its machine was lost and it starts anew
            return
        self.tally.running += len(group.cells)
        self._bars[group.name] = self._progress.add_task(group.name, total=group.steps, note="preparing")
        self._line(f"{group.name}: {group.steps:,} steps, {_seeds(group)}")

    def _step(self, group: Group, event: Event) -> None:
        self._progress.update(self._bars[group.name], completed=event.step, note=event.text)
        self._overall()
        if time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._line(f"{group.name}: {event.step:,} of {group.steps:,} steps, {event.text}; {self._summary()}")

    def _end(self, group: Group, event: Event) -> None:
        if group.name in self._bars:
            self.tally.running -= len(group.cells)
            self._progress.remove_task(self._bars.pop(group.name))
        said = f"{event.kind}: {event.text}" if event.text else event.kind
        if event.kind == "finished":
            self._line(f"{group.name}: finished; {self._summary()}")
        else:
            self.console.print(f"{group.name} {said}", highlight=False, markup=False, soft_wrap=True)
        self._overall()

    def _line(self, text: str) -> None:
        if not self.console.is_terminal:
            self.console.print(text, highlight=False, markup=False, soft_wrap=True)
            self._last_line = time.monotonic()

    def _overall(self) -> None:
        self._progress.update(self._overall_bar, completed=self.tally.done, note=self._summary())

    def _summary(self) -> str:
        seconds = self.paces.seconds_left()
        return f"{self.tally}, about {timedelta(seconds=round(seconds))} left" if seconds else str(self.tally)


def _seeds(group: Group) -> str:
    seeds = ", ".join(str(cell.seed) for cell in group.cells)
    return f"seeds {seeds}" if len(group.cells) > 1 else f"seed {seeds}"


@contextlib.contextmanager
def displayed(tally: Tally, paces: Paces) -> Iterator[Display]:
    """A display for the length of a block: bars on a terminal, lines elsewhere."""
    console = Console(stderr=True)
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:,}/{task.total:,}"),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("suite", total=tally.total, completed=tally.done, note=str(tally))
        yield Display(console, tally, paces, progress, bar)
