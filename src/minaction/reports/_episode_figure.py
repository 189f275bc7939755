"""One episode over time: what remains, what is done, and the stretches in which time was lost."""

from __future__ import annotations

from pathlib import Path

from .._remaining import Progress
from ._figures import COLOURS, checked_suffix, finish_figure

_WASTED = "#E9A23B"


def draw_episode(path: str | Path, along: Progress, title: str | None = None) -> None:
    """Draw the time that remains and the share that is done; wasted stretches are shaded, each with what it cost."""
    from matplotlib.figure import Figure

    suffix, unit = checked_suffix(path), along.unit or "actions"
    clock = along.times - along.times[0]
    figure = Figure(figsize=(7.0, 3.2), layout="constrained", facecolor="white")
    left = figure.subplots()
    right = left.twinx()
    for stretch in along.stretches:
        start, stop = clock[stretch.start], clock[min(stretch.stop, len(clock) - 1)]
        left.axvspan(start, stop, color=_WASTED, alpha=0.3, linewidth=0)
        left.text(
            0.5 * (start + stop),
            0.98,
            f"-{stretch.lost:.3g}",
            transform=left.get_xaxis_transform(),
            ha="center",
            va="top",
            fontsize=8,
        )
    left.plot(clock, along.remaining, color=COLOURS[0])
    right.plot(clock, along.done, color=COLOURS[1], linestyle="--")
    if along.finished_at is not None:
        left.axvline(clock[along.finished_at], color=COLOURS[2], linestyle=":")
    left.set(xlabel=f"time ({along.unit or 'steps'})", xlim=(0, max(clock[-1], 1e-9)), ylim=(0, None))
    left.set_ylabel(f"remaining ({unit})", color=COLOURS[0])
    right.set_ylabel("share done", color=COLOURS[1])
    right.set_ylim(0, 1.02)
    finish_figure(figure, path, suffix, title)
