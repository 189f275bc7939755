"""Progress: a bar on a terminal, occasional lines in a log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

Show = Callable[[int, str], None]
OnProgress = Callable[[int, int], None]
"""Called with how many are done and how many there are."""

_SECONDS_BETWEEN_LINES = 10.0


class _SpeedColumn(ProgressColumn):
    """Recent steps per second; empty until the first chunk after compilation is done."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("compiling" if speed is None else _per_second(speed), style="cyan")


@contextlib.contextmanager
def training_progress(steps: int, *, done: int = 0, label: str = "training", shown: bool = True) -> Iterator[Show]:
    """Gives a function to call with the number of steps done and a line on how it goes.

    On a terminal it draws a bar; elsewhere (a log file) it prints a line every ten seconds.
    """
    console = Console(stderr=True)
    if not shown:
        yield lambda step, note: None
        return
    if not console.is_terminal:
        yield _line_printer(console, steps, label)
        return
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:,}/{task.total:,}"),
        _SpeedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(escape(label), total=steps, completed=done, note="")
        yield lambda step, note: progress.update(bar, completed=step, note=note)


@contextlib.contextmanager
def counting_progress(label: str) -> Iterator[OnProgress]:
    """Gives a function to call with how many are done and how many there are.

    On a terminal it draws a bar that goes when all is done; elsewhere (a log file) it prints a line every ten seconds.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _count_printer(console, label)
        return
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task(label, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)


def _count_printer(console: Console, label: str) -> OnProgress:
    last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            console.print(f"{label}: {done:,} of {total:,}", highlight=False, markup=False, soft_wrap=True)

    return show


def _line_printer(console: Console, steps: int, label: str) -> Show:
    began = last = time.monotonic()
    first_step: int | None = None

    def show(step: int, note: str) -> None:
        nonlocal last, first_step, began
        now = time.monotonic()
        if first_step is None:  # the first chunk compiles; speed is counted from its end
            first_step, began = step, now
        if now - last < _SECONDS_BETWEEN_LINES and step < steps:
            return
        last = now
        speed = (step - first_step) / (now - began) if now > began else 0.0
        fast = f", {_per_second(speed)}" if speed else ""
        left = f", {(steps - step) / speed:,.0f} s left" if speed and step < steps else ""
        text = f"{label}: {step:,}/{steps:,} steps{fast}{left}, {note}"
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    return show


def _per_second(speed: float) -> str:
    return f"{speed:,.0f} steps/s" if speed >= 10 else f"{speed:.2g} steps/s"
