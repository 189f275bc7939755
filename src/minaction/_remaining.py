"""`Progress`: how far along an episode is, how long it has to go, and where time was lost."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from .errors import InputError

_SAME_PLACE = 0.1  # of a usual episode's time: how near two ends of episodes are that count as one place
_WINDOW = 5  # rows that are looked at together: single rows are noisy
_LEAST_GAIN = 0.5  # of the time that passes around a row: where less is gained, the row is wasted
_NEAR = 0.05  # of the time that was to go at first: what may be left where an episode counts as finished


class Recorded(Protocol):
    """What has columns and a clock: an episode, or several."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def time_unit(self) -> str: ...

    @property
    def times(self) -> np.ndarray | None: ...


def check_same_kind(columns: tuple[str, ...], unit: str, recorded: Recorded) -> None:
    """Refuse a recording of other columns, or of another unit of time, than a model learned from."""
    if columns and recorded.columns and columns != recorded.columns:
        raise InputError(
            f"The model learned from the columns {', '.join(columns)}, but this recording has "
            f"{', '.join(recorded.columns)}; name the same ones in the same order (--states {shlex.join(columns)})."
        )
    unknown = recorded.times is not None and not recorded.time_unit  # a person who gives times alone may mean the same
    if unit != recorded.time_unit and not unknown:
        raise InputError(
            f"The model counts in {unit or 'steps'}, but this recording in {recorded.time_unit or 'steps'}; name the "
            "clock and its unit as they were for the model (--time, --unit)."
        )


def at_usual_place(between: np.ndarray, durations: np.ndarray) -> np.ndarray:
    """Which of some ends, whose distances are (n, n), lie where most do, (n,) bool; all where no two are together."""
    near = np.maximum(between, between.T) <= _SAME_PLACE * np.median(durations)
    company = near.sum(axis=1)
    return company >= max(1.0, 0.5 * company.max())


@dataclass(frozen=True)
class Stretch:
    """Rows start:stop of an episode that came no nearer to the goal, and the time lost in them."""

    start: int
    stop: int
    lost: float


@dataclass(frozen=True, eq=False)
class Progress:
    """An episode on its way to a goal, T states long.

    Attributes:
        times: when each state was recorded, (T,).
        remaining: the time from each to the goal, (T,), along the fastest way that the recordings show.
        unit: the unit of both; "" for actions.
    """

    times: np.ndarray
    remaining: np.ndarray
    unit: str = ""

    @cached_property
    def _best(self) -> np.ndarray:
        """The least that remained so far, of a running median: a detour gains nothing until it has been made up for."""
        half = min(_WINDOW // 2, (len(self.remaining) - 1) // 2)
        padded = np.pad(self.remaining, half, mode="edge")
        smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=1)
        return np.minimum.accumulate(smooth)

    @property
    def done(self) -> np.ndarray:
        """The share of the way that is done, (T,), from 0 to at most 1; it never falls."""
        best = self._best
        return np.clip(1 - best / best[0], 0, 1) if best[0] > 0 else np.ones(len(best))

    @cached_property
    def waste(self) -> np.ndarray:
        """Of the time that passes around each state, the share in which it came no nearer, (T,), from 0 to 1."""
        rows = np.arange(len(self.times))
        before, after = np.maximum(rows - _WINDOW // 2, 0), np.minimum(rows + _WINDOW // 2, len(rows) - 1)
        passed, gained = self.times[after] - self.times[before], self._best[before] - self._best[after]
        return np.clip(1 - np.divide(gained, passed, out=np.ones_like(passed), where=passed > 0), 0, 1)

    @property
    def wasted(self) -> np.ndarray:
        """Whether each state belongs to a stretch that was wasted, (T,) bool."""
        return self.waste > 1 - _LEAST_GAIN

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Where time was lost, in order."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], self.wasted, [False]]).astype(np.int8)))
        found = []
        for start, stop in edges.reshape(-1, 2).tolist():
            before, after = max(start - 1, 0), min(stop, len(self.times) - 1)
            passed, gained = self.times[after] - self.times[before], self._best[before] - self._best[after]
            found.append(Stretch(start, stop, max(0.0, float(passed - gained))))
        return tuple(found)

    @property
    def lost(self) -> float:
        """The time that passed in excess of what the progress made would have taken."""
        passed = float(self.times[-1] - self.times[0])
        return max(0.0, passed - float(self._best[0] - self._best[-1]))

    @property
    def finished(self) -> bool:
        """Whether it got to the goal: hardly anything, or less than a usual step, remains at the least."""
        return self.finished_at is not None

    @property
    def finished_at(self) -> int | None:
        """The first row at which it is there, None where it never is."""
        step = float(np.median(np.diff(self.times))) if len(self.times) > 1 else 0.0
        there = self.remaining <= max(_NEAR * float(self.remaining[0]), step)
        return int(np.argmax(there)) if there.any() else None

    def __repr__(self) -> str:
        unit, count = self.unit or "actions", len(self.stretches)
        return (
            f"Progress({self.done[-1]:.0%} done, {self.remaining[-1]:.4g} {unit} to go, {self.lost:.4g} {unit} lost in "
            f"{count} stretch{'' if count == 1 else 'es'})"
        )
