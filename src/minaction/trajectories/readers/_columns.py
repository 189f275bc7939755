"""Which columns of a table are what: the same for CSV, Parquet and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ...errors import InputError, unknown_name
from ._checks import list_names
from ._names import EPISODE, FIRST, LAST, MAYBE_TIME, SUCCESS, TIME, or_several

_OUTCOMES = or_several("reward", *FIRST, *LAST, "success", "is_success")
_LEFT_OUT = {"__index_level_0__", *_OUTCOMES, *(f"next.{name}" for name in _OUTCOMES)}
_NANOSECONDS = {"secs": ("nsecs",), "sec": ("nanosec", "nsec")}  # what ROS puts beside the seconds of a stamp
Missing = Literal["refuse", "drop", "split"]


@dataclass(frozen=True)
class TableOptions:
    """What to make of the columns of a table, or of pictures.

    Attributes:
        episode: the column that says to which episode a row belongs, or several that do so together, such as robot and
            run; `episode` or the like if None. If empty, all rows are one episode.
        time: the column with the clock, numbers or dates; `time`, `timestamp` or the like if None.
        unit: of the clock, such as "s" or "ms"; told from the column's name and values if None ("" for steps). Of
            videos, "frames" counts them instead of seconds.
        states: the columns that make a state; all that are left if empty.
        drop: columns to leave out.
        missing: what to do where a value is missing: refuse the table, drop the row, or split the episode there.
        one_hot: columns of whole numbers from 0 on that name things: each becomes as many numbers, one of them 1.
        resize: of pictures and videos, the height and width to give them; as recorded if None.
        success: the column that says, in any row of an episode, that it succeeded; `success` or the like if None.
    """

    episode: str | Sequence[str] | None = None
    time: str | None = None
    unit: str | None = None
    states: Sequence[str] = ()
    drop: Sequence[str] = ()
    missing: Missing = "refuse"
    one_hot: Sequence[str] = ()
    resize: tuple[int, int] | None = None
    success: str | None = None

    def __post_init__(self) -> None:
        for name in ("episode", "states", "drop", "one_hot"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _as_names(name, given))
        for name in ("time", "success"):
            if getattr(self, name) is not None:
                _as_names(name, getattr(self, name))
        if self.resize is not None:
            object.__setattr__(self, "resize", _as_size(self.resize))
        if self.missing not in ("refuse", "drop", "split"):
            raise InputError(f"Missing values are to 'refuse', 'drop' or 'split', not {self.missing!r}.")


def _as_names(option: str, given: object) -> tuple[str, ...]:
    names: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"Columns are named by text, but {option} is {given!r}; give names, such as 'x'.")
    return names


def _as_size(given: object) -> tuple[int, int]:
    if not isinstance(given, list | tuple) or len(given) != 2 or not all(isinstance(n, int) and n > 0 for n in given):
        raise InputError(f"Pictures are resized to a height and a width, such as 64 64, not to {given!r}.")
    return given[0], given[1]


@dataclass(frozen=True)
class Column:
    """The numbers in one column."""

    name: str
    values: np.ndarray
    """(n, width) float64, NaN where a value is missing; dates are seconds."""
    text: tuple[int, str] | None = None
    """The first row that holds text, and the text."""
    dates: bool = False
    single: bool = False
    """Whether its numbers are kept as float32, in which they were stored."""
    labels: tuple[str, ...] = ()
    """What its parts are called, where it has several."""
    mostly_numbers: bool = False
    """Whether most cells hold numbers, although one holds text."""

    @property
    def parts(self) -> list[str]:
        """One name for each of its numbers."""
        width = self.values.shape[1]
        return [self.name] if width == 1 else list(self.labels or (f"{self.name}[{k}]" for k in range(width)))


def with_nanoseconds(time: Column, nanoseconds: Column) -> Column:
    """A clock whose seconds and nanoseconds are two columns."""
    return replace(time, values=time.values + 1e-9 * nanoseconds.values, text=time.text or nanoseconds.text)


class Roles:
    """The role of each column, by its name; case does not matter."""

    def __init__(self, names: Sequence[str], options: TableOptions) -> None:
        self.names, self.options = list(names), options
        self._plain = [name.strip().lower() for name in names]
        for k, name in enumerate(self._plain):
            if not name and names[k] not in options.drop:
                raise InputError(
                    f"Column {k + 1} has no name; name it, or leave it out if it only counts the rows (--drop '')."
                )
            if name in self._plain[:k]:
                raise InputError(f"There are two columns named {name!r}; rename or remove one.")
        dropped = {self._find(name) for name in options.drop}
        self.episode = self._episode()
        chosen = [self._find(name) for name in options.states]
        if twice := [self.names[k] for place, k in enumerate(chosen) if k in chosen[:place]]:
            raise InputError(f"The column {twice[0]!r} is named twice among the states; name it once (--states).")
        nanoseconds = self._nanoseconds()
        stamps = [k for k in nanoseconds if "stamp" in self._plain[k] and k not in dropped and k not in chosen]
        self.time = self._find(options.time) if options.time is not None else self._named(TIME, dropped)
        if self.time is None and stamps:
            self.time = stamps[0]
        self.nanoseconds = None if self.time is None else nanoseconds.get(self.time)
        """The column to add to the clock, in nanoseconds."""
        named = options.success
        self.success = self._named(SUCCESS, {*dropped, *chosen}) if named is None else self._find(named)
        taken = {*self.episode, self.time, self.nanoseconds, self.success, *dropped}
        if clash := [self.names[k] for k in chosen if k in taken]:
            raise InputError(f"The column {clash[0]!r} cannot be a state and something else too; name it once.")
        self.ids = {self.names[self._find(name)] for name in options.one_hot}
        left_out = {*EPISODE, *TIME, *_LEFT_OUT}
        other_stamps = {*stamps, *(nanoseconds[k] for k in stamps)}
        rest = [k for k, name in enumerate(self._plain) if k not in taken | other_stamps and name not in left_out]
        self.actions = [k for k in rest if self._plain[k].startswith("action") and k not in chosen]
        self.states = chosen or [k for k in rest if k not in self.actions]
        no_clock = self.time is None and not chosen
        self.maybe_time = self._named(MAYBE_TIME, dropped) if no_clock else None
        if not self.states:
            raise InputError(f"There is no column left for the state (there are {list_names(names)}); add some.")

    def _find(self, name: str) -> int:
        plain = name.strip().lower()
        if plain not in self._plain:
            raise unknown_name("column", name, self.names)
        return self._plain.index(plain)

    def _named(self, known: Sequence[str], dropped: set[int]) -> int | None:
        found = (self._plain.index(name) for name in known if name in self._plain)
        return next((k for k in found if k not in dropped), None)

    def _nanoseconds(self) -> dict[int, int]:
        """Of each column of seconds that has one, the column of nanoseconds beside it."""
        places = {name: k for k, name in enumerate(self._plain)}
        return {
            k: places[other]
            for name, k in places.items()
            for ending, others in _NANOSECONDS.items()
            for other in (name.removesuffix(ending) + fraction for fraction in others)
            if name.endswith(ending) and not name.endswith(others) and other in places
        }

    def _episode(self) -> list[int]:
        """The columns that tell episodes apart together; none where all rows are one."""
        if self.options.episode is not None:
            return [self._find(name) for name in self.options.episode]
        found = self._named(EPISODE, set())
        if found is None:
            raise InputError(
                f"There is no column 'episode' (there are {list_names(self.names)}); name the one, or those, that tell "
                "episodes apart (--episode NAME), or none (--episode) if all rows are one episode."
            )
        return [found]
