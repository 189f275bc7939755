"""Which columns of a table are what, and how they become episodes: the same for CSV, Parquet and data frames."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...errors import InputError, unknown_name
from .._dataset import Trajectories
from .._ids import are_ids, some_steps
from ._checks import list_names
from ._layouts import offsets_from_ids

EPISODE = ("episode", "episode_id", "episode_index")
TIME = ("time", "timestamp", "step", "timestep")
MAYBE_TIME = ("stamp", "t")  # the clock where it increases inside every episode; "t" may be a temperature
_STEPS = ("step", "timestep", "steps", "frame", "frame_index")
_LEFT_OUT = {"reward", "rewards", "__index_level_0__"} | {
    name + ending for name in ("terminal", "timeout", "done", "terminated", "truncated") for ending in ("", "s")
}
_UNITS = {"sec": "s", "secs": "s", "second": "s", "seconds": "s", "millis": "ms", "milliseconds": "ms"}
_UNIT = re.compile(rf"(?:^|[_\s.\-(\[])({'|'.join([*_UNITS, 'ns', 'us', 'ms', 's', 'min', 'h'])})[)\]]?$")
_MOST_IDS = 4096  # numbers that an id may become
_FEWEST_GROWING = 20  # transitions in which a column must grow before it is called a likely clock

Missing = Literal["refuse", "drop", "split"]


@dataclass(frozen=True)
class TableOptions:
    """What to make of the columns of a table, or of pictures.

    Attributes:
        episode: the column that says to which episode a row belongs; `episode` or the like if None.
        time: the column with the clock, numbers or dates; `time`, `timestamp` or the like if None.
        unit: of the clock, such as "s" or "ms"; told from the column's name and values if None ("" for steps).
        states: the columns that make a state; all that are left if empty.
        drop: columns to leave out.
        missing: what to do where a value is missing: refuse the table, drop the row, or split the episode there.
        one_hot: columns of whole numbers from 0 on that name things: each becomes as many numbers, one of them 1.
        resize: of pictures and videos, the height and width to give them; as recorded if None.
    """

    episode: str | None = None
    time: str | None = None
    unit: str | None = None
    states: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: Missing = "refuse"
    one_hot: tuple[str, ...] = ()
    resize: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in ("states", "drop", "one_hot"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if self.resize is not None:
            object.__setattr__(self, "resize", _as_size(self.resize))
        if self.missing not in ("refuse", "drop", "split"):
            raise InputError(f"Missing values are to 'refuse', 'drop' or 'split', not {self.missing!r}.")


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

    @property
    def parts(self) -> list[str]:
        """One name for each of its numbers."""
        width = self.values.shape[1]
        return [self.name] if width == 1 else list(self.labels or (f"{self.name}[{k}]" for k in range(width)))


class Roles:
    """The role of each column, by its name; case does not matter."""

    def __init__(self, names: Sequence[str], options: TableOptions) -> None:
        self.names, self.options = list(names), options
        self._plain = [name.strip().lower() for name in names]
        for k, name in enumerate(self._plain):
            if not name and names[k] not in options.drop:
                raise InputError(f"Column {k + 1} has no name; name it, or remove it if it only counts the rows.")
            if name in self._plain[:k]:
                raise InputError(f"There are two columns named {name!r}; rename or remove one.")
        dropped = {self._find(name) for name in options.drop}
        self.episode = self._episode()
        self.time = self._find(options.time) if options.time is not None else self._named(TIME, dropped)
        taken = {self.episode, self.time, *dropped}
        chosen = [self._find(name) for name in options.states]
        if clash := [self.names[k] for k in chosen if k in taken]:
            raise InputError(f"The column {clash[0]!r} cannot be a state and something else too; name it once.")
        self.ids = {self.names[self._find(name)] for name in options.one_hot}
        left_out = {*EPISODE, *TIME, *_LEFT_OUT}
        rest = [k for k, name in enumerate(self._plain) if k not in taken and name not in left_out]
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

    def _episode(self) -> int:
        if self.options.episode is not None:
            return self._find(self.options.episode)
        found = self._named(EPISODE, set())
        if found is None:
            raise InputError(
                f"There is no column 'episode' (there are {list_names(self.names)}); name the one that tells episodes "
                "apart (--episode NAME), or add one, the same in all rows if they are a single episode."
            )
        return found


def assemble(
    roles: Roles,
    ids: np.ndarray,
    time: Column | None,
    states: list[Column],
    actions: list[Column],
    where: Callable[[int], str],
) -> Trajectories:
    """Episodes from columns; `where` says what a row is called in a message, such as "line 7"."""
    offsets = offsets_from_ids(ids)
    if time is None and roles.maybe_time is not None and len(states) > 1:
        time = next(
            (column for column in states if column.name == roles.names[roles.maybe_time] and _grows(column, offsets)),
            None,
        )
        states = [column for column in states if column is not time]
    _refuse_text([*([time] if time else []), *states, *actions], where)
    if not roles.options.states:
        _warn_of_clocks(states, offsets)
    rows, offsets = _kept(roles.options.missing, [*([time] if time else []), *states, *actions], offsets, where)
    times = None if time is None else time.values[:, 0]
    if time is None and len(rows) < len(ids) and roles.options.missing == "drop":
        times = np.arange(len(ids), dtype=np.float64)  # steps go on being counted over the rows that are dropped
    states = [replace(column, values=column.values[rows]) for column in states]
    states = [_one_hot(column) if column.name in roles.ids else column for column in states]
    if not roles.options.states:
        _refuse_ids(states, offsets)
    single = all(column.single for column in states)
    return Trajectories.from_flat(
        np.concatenate([column.values for column in states], axis=1, dtype=np.float32 if single else np.float64),
        offsets,
        None if times is None else times[rows],
        np.concatenate([column.values for column in actions], axis=1)[rows] if actions else None,
        columns=[name for column in states for name in column.parts],
        time_unit="" if time is None else _unit(time, roles.options.unit),
    )


def _one_hot(column: Column) -> Column:
    ids = column.values
    if ids.shape[1] != 1 or (ids != np.round(ids)).any() or ids.min() < 0 or ids.max() >= _MOST_IDS:
        raise InputError(
            f"The column {column.name!r} cannot be one-hot encoded: it must be one whole number from 0 to "
            f"{_MOST_IDS - 1} per row; leave it out of --one-hot."
        )
    count = int(ids.max()) + 1
    rows = np.zeros((len(ids), count), np.float32)
    rows[np.arange(len(ids)), ids[:, 0].astype(np.int64)] = 1.0
    labels = tuple(f"{column.name}={k}" for k in range(count))
    return replace(column, values=rows, single=True, labels=labels)


def _refuse_ids(states: list[Column], offsets: np.ndarray) -> None:
    if len(states) == 1 and are_ids(*some_steps(states[0].values, offsets)):
        name = states[0].name
        raise InputError(
            f"The column {name!r} holds ids: whole numbers, and those that follow each other in value do not in time. "
            f"One-hot encode it (--one-hot {name}), or give what it stands for (row and column, say); if it does "
            f"measure something, say so (--states {name})."
        )


def _refuse_text(columns: list[Column], where: Callable[[int], str]) -> None:
    found = [(column.name, *column.text) for column in columns if column.text is not None]
    if len(found) == 1:
        name, row, cell = found[0]
        raise InputError(
            f"{where(row).capitalize()} has {cell!r} in column {name!r}, not a number; repair it, or leave the column "
            f"out (--drop {name})."
        )
    if found:
        shown = ", ".join(f"{name!r} ({where(row)}: {cell!r})" for name, row, cell in found)
        names = " ".join(name for name, _, _ in found)
        raise InputError(f"These columns hold text, not numbers: {shown}; leave them out (--drop {names}).")


def _warn_of_clocks(states: list[Column], offsets: np.ndarray) -> None:
    if offsets[-1] - len(offsets) + 1 < _FEWEST_GROWING:
        return
    for column in states:
        if column.values.shape[1] == 1 and _grows(column, offsets):
            warnings.warn(
                f"Column {column.name!r} only grows inside every episode, as a clock or a counter does, and is part of "
                f"the state; give --time {column.name} if it is the clock, --drop {column.name} if it is no use, or "
                "name the columns of the state (--states).",
                stacklevel=2,
            )


def _grows(column: Column, offsets: np.ndarray) -> bool:
    """Whether a column increases with every row of every episode."""
    values = column.values[:, 0]
    if column.text is not None or np.isnan(values).any() or len(values) < 2:
        return False
    steps = np.diff(values)
    steps[offsets[1:-1] - 1] = 1.0
    return bool((steps > 0).all())


def _kept(
    missing: Missing, columns: list[Column], offsets: np.ndarray, where: Callable[[int], str]
) -> tuple[np.ndarray, np.ndarray]:
    """The rows to keep, and where episodes begin among them."""
    gaps = {column.name: np.isnan(column.values) for column in columns}
    bad = np.zeros(offsets[-1], dtype=bool)
    for gap in gaps.values():
        bad |= gap.any(axis=1)
    if not bad.any():
        return np.arange(len(bad)), offsets
    if missing == "refuse":
        count = sum(int(gap.sum()) for gap in gaps.values())
        shown = ", ".join(f"{name!r} ({int(gap.sum())})" for name, gap in gaps.items() if gap.any())
        raise InputError(
            f"{count} value{' is' if count == 1 else 's are'} missing, in {shown}, first in "
            f"{where(int(np.argmax(bad)))}; fill them, or choose --missing drop (leaves such rows out) or --missing "
            "split (ends the episode there and begins another)."
        )
    rows = np.flatnonzero(~bad)
    if len(rows) == 0:
        raise InputError("Every row has a missing value; leave out the columns that are empty (--drop).")
    episode = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[rows]
    begins = np.diff(episode) > 0
    if missing == "split":
        begins |= np.diff(rows) > 1
    return rows, np.concatenate([[0], np.flatnonzero(begins) + 1, [len(rows)]])


def _unit(time: Column, given: str | None) -> str:
    """The unit of a clock. Plain numbers of which nothing is known are seconds, as in the logs of ROS and LeRobot."""
    if given is not None:
        return "" if given in _STEPS else _UNITS.get(given, given)
    plain = time.name.strip().lower()
    if time.dates:
        return "s"
    if plain in _STEPS:
        return ""
    if found := _UNIT.search(plain):
        return _UNITS.get(found[1], found[1])
    typical = float(np.nanmedian(np.abs(time.values)))  # of a clock that counts from 1970, its size tells the unit
    return next((unit for unit, low in (("ms", 1e12), ("us", 1e15), ("ns", 1e18)) if low <= typical < 4.2 * low), "s")
