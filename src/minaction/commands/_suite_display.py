"""Progress of a suite: bars with the time left on a terminal, lines in a log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ..suite import Tally, Update
from ..training import RunConfig

_SECONDS_BETWEEN_LINES = 30.0

Show = Callable[[Tally, RunConfig, Update], None]


@contextlib.contextmanager
def displayed(total: int) -> Iterator[Show]:
    """A function that shows a suite's updates, within the block."""
    console = Console(stderr=True)
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:,.0f}/{task.total:,}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield _Display(console, progress, total).show


class _Display:
    def __init__(self, console: Console, progress: Progress, total: int) -> None:
        self._console, self._progress = console, progress
        self._suite = progress.add_task("suite", total=total, note="")
        self._bars: dict[Path, TaskID] = {}
        self._shares: dict[Path, float] = {}
        self._last_line = time.monotonic()

    def show(self, tally: Tally, config: RunConfig, update: Update) -> None:
        """Show an update of a run."""
        name = f"{config.method} on {config.data}, seed {config.seeds[0]}"
        if (
            update.kind == "started" and update.run not in self._bars
        ):  # otherwise its machine was lost and it starts again
            self._bars[update.run] = self._progress.add_task(name, total=config.steps, note="preparing")
            self._line(f"{name}: {config.steps:,} steps")
        elif update.kind == "progressed" and update.run in self._bars:
            self._shares[update.run] = update.step / config.steps
            self._progress.update(self._bars[update.run], completed=update.step, note=update.text)
            if time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
                self._line(f"{name}: {update.step:,} of {config.steps:,} steps, {update.text}; {tally}")
        elif update.is_end:
            self._shares.pop(update.run, None)
            if update.run in self._bars:
                self._progress.remove_task(self._bars.pop(update.run))
            if update.kind == "finished":
                self._line(f"{name}: finished; {tally}")
            else:
                self._print(f"{name} {update.kind}: {update.text}")
        done = tally.done + tally.failed + tally.skipped + sum(self._shares.values())
        self._progress.update(self._suite, completed=done, note=str(tally))

    def _line(self, text: str) -> None:
        if not self._console.is_terminal:
            self._print(text)
            self._last_line = time.monotonic()

    def _print(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
