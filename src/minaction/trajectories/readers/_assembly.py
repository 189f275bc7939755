"""Columns become episodes: the same for CSV, Parquet and data frames. What they cannot become is refused here."""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from ...errors import InputError
from .._dataset import Trajectories
from .._ids import are_ids, some_steps
from ._checks import list_names
from ._columns import Column, Missing, Roles
from ._ends import offsets_from_ids
from ._text import refuse_text

_STEPS = ("step", "timestep", "steps", "frame", "frames", "frame_index")
_WORDS = {
    "ns": "nanos nanosecond nanoseconds nsec",
    "us": "µs micros microsecond microseconds usec",
    "ms": "millis millisecond milliseconds msec",
    "s": "sec secs second seconds",
    "min": "mins minute minutes",
    "h": "hr hrs hour hours",
    "d": "day days",
}
_UNITS = {word: unit for unit, words in _WORDS.items() for word in (unit, *words.split())}
_UNIT = re.compile(rf"(?:^|[_\s.\-(\[])({'|'.join(_UNITS)})[)\]]?$")
_MOST_NAMES = 100_000  # of episodes; of more than that nobody looks at one by its name
_MOST_IDS = 4096  # numbers that an id may become
_FEWEST_GROWING = 20  # transitions in which a column must grow before it is called a likely clock


def assemble(
    roles: Roles,
    ids: np.ndarray,
    time: Column | None,
    states: list[Column],
    actions: list[Column],
    success: Column | None,
    where: Callable[[int], str],
) -> Trajectories:
    """Episodes from columns; `where` says what a row is called in a message, such as "line 7"."""
    if len(ids) == 0:
        raise InputError("There are no rows below the column names; record at least two states.")
    order = _rows_together(ids)
    if order is not None:
        unordered = where
        ids, where = ids[order], lambda row: unordered(int(order[row]))
        time, success = (one and _in_order(one, order) for one in (time, success))
        states, actions = ([_in_order(one, order) for one in many] for many in (states, actions))
    offsets = offsets_from_ids(ids)
    if time is None and roles.maybe_time is not None and len(states) > 1:
        time = next(
            (column for column in states if column.name == roles.names[roles.maybe_time] and _grows(column, offsets)),
            None,
        )
        states = [column for column in states if column is not time]
    if order is not None:
        _refuse_order(order, offsets, time, where)
    refuse_text(time, [*states, *actions], roles.ids, where)
    if not roles.options.states:
        _warn_of_clocks(states, offsets)
    succeeded = None if success is None else _succeeded(success, offsets, roles.options.success is not None, where)
    whole = offsets
    rows, offsets = _kept(roles.options.missing, [*([time] if time else []), *states, *actions], offsets, where)
    times = None if time is None else time.values[:, 0]
    if time is not None:
        _refuse_standing_clock(time, rows, offsets, where)
    if order is not None:
        _warn_of_order()
    if time is None and len(rows) < len(ids) and roles.options.missing == "drop":
        times = np.arange(len(ids), dtype=np.float64)  # steps go on being counted over the rows that are dropped
    states = [replace(column, values=column.values[rows]) for column in states]
    _refuse_infinite(states, lambda row: where(int(rows[row])))
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
        episode_names=_names(ids[rows[offsets[:-1]]]),
        succeeded=None if succeeded is None else _of_pieces(succeeded, whole, rows[offsets[:-1]]),
    )


def _succeeded(column: Column, offsets: np.ndarray, named: bool, where: Callable[[int], str]) -> np.ndarray | None:
    """Which episodes have a row that says so, (E,) bool; blanks say no. None for other numbers, if nobody named it."""
    said = column.values[:, 0]
    strange = ~np.isin(said, (0.0, 1.0)) & ~np.isnan(said)
    if column.text is None and not strange.any():
        return np.logical_or.reduceat(said == 1, offsets[:-1])
    if not named:
        return None
    row, value = column.text or (int(np.argmax(strange)), f"{said[strange][0]:g}")
    raise InputError(
        f"The column {column.name!r} says {value!r} at {where(row)}; whether an episode succeeded is true or false, or "
        "1 or 0 (--success)."
    )


def _of_pieces(succeeded: np.ndarray, whole: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Of an episode that was split, only the last piece got to where it succeeded."""
    episode = np.searchsorted(whole, begins, side="right") - 1
    return succeeded[episode] & np.append(episode[1:] != episode[:-1], True)


def _names(ids: np.ndarray) -> list[str]:
    """What the log calls its episodes; pieces of one that was split are numbered. None where they are 0, 1, 2, ..."""
    if len(ids) > _MOST_NAMES or len(ids) == 1:
        return []
    names, seen = list(map(str, ids.tolist())), Counter[str]()
    for k, name in enumerate(names):
        seen[name] += 1
        names[k] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return [] if names == [str(k) for k in range(len(names))] else names


def _rows_together(ids: np.ndarray) -> np.ndarray | None:
    """An order of the rows in which those of every episode are together, as they came; None where they are."""
    begins = np.concatenate([[0], np.flatnonzero(ids[1:] != ids[:-1]) + 1])
    if len(set(ids[begins].tolist())) == len(begins):
        return None
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    return np.argsort(first[which], kind="stable")


def _in_order(column: Column, order: np.ndarray) -> Column:
    text = column.text and (int(np.argmax(order == column.text[0])), column.text[1])
    return replace(column, values=column.values[order], text=text)


def _refuse_order(order: np.ndarray, offsets: np.ndarray, time: Column | None, where: Callable[[int], str]) -> None:
    """Logs of several robots come in turns, which a clock can tell from ids that are used again."""
    apart = np.diff(order) != 1
    apart[offsets[1:-1] - 1] = False
    if time is None:
        raise InputError(
            f"The rows of an episode are not together: one goes on at {where(int(np.argmax(apart)) + 1)} after another "
            "episode; name the clock (--time), or sort the rows by episode."
        )


def _warn_of_order() -> None:
    warnings.warn(
        "The rows of different episodes take turns; those of each were put together, and its clock tells how far they "
        "are apart. If the log uses a name for several episodes, name the columns that tell them apart (--episode).",
        stacklevel=3,
    )


def _refuse_standing_clock(time: Column, rows: np.ndarray, offsets: np.ndarray, where: Callable[[int], str]) -> None:
    values = time.values[rows, 0]
    steps = np.diff(values)
    steps[offsets[1:-1] - 1] = 1.0
    if not (steps <= 0).any():
        return
    row = int(np.argmax(steps <= 0)) + 1
    before, at = (
        datetime.fromtimestamp(value, UTC).isoformat() if time.dates else f"{value:.15g}"
        for value in values[[row - 1, row]].tolist()
    )
    raise InputError(
        f"The clock {time.name!r} says {at} at {where(int(rows[row]))}, after {before} before it in the same episode; "
        "sort the rows, remove those that stand twice, or name the columns that tell episodes apart (--episode)."
    )


def _refuse_infinite(columns: list[Column], where: Callable[[int], str]) -> None:
    most = np.finfo(np.float32).max  # networks compute in float32
    for column in columns:
        if column.values.max() > most or column.values.min() < -most:
            row, part = np.argwhere(np.abs(column.values) > most)[0].tolist()
            value = column.values[row, part]
            raise InputError(
                f"{where(row).capitalize()} has {value:g} in column {column.name!r}, infinite or too large for "
                "float32; remove or repair that row."
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
        name = shlex.quote(states[0].name)
        raise InputError(
            f"The column {states[0].name!r} holds ids: whole numbers, and those that follow each other in value do not "
            f"in time. One-hot encode it (--one-hot {name}), or give what it stands for (row and column, say); if it "
            f"does measure something, say so (--states {name})."
        )


def _warn_of_clocks(states: list[Column], offsets: np.ndarray) -> None:
    if offsets[-1] - len(offsets) + 1 < _FEWEST_GROWING:
        return
    for column in states:
        if column.values.shape[1] == 1 and _grows(column, offsets):
            name = shlex.quote(column.name)
            warnings.warn(
                f"Column {column.name!r} only grows inside every episode, as a clock or a counter does, and is part of "
                f"the state; give --time {name} if it is the clock, --drop {name} if it is no use, or "
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
        if empty := [name for name, gap in gaps.items() if gap.all()]:
            raise InputError(
                f"There is no value at all in {list_names(empty)}; leave {'it' if len(empty) == 1 else 'them'} out "
                f"(--drop {shlex.join(empty)})."
            )
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


def as_unit(given: str) -> str:
    """A unit that a person names, as it is written everywhere: "ms" for milliseconds, "" for steps."""
    return "" if given in _STEPS else _UNITS.get(given, given)


def _unit(time: Column, given: str | None) -> str:
    """The unit of a clock. Plain numbers of which nothing is known are seconds, as in the logs of ROS and LeRobot."""
    if given is not None:
        return as_unit(given)
    plain = time.name.strip().lower()
    if time.dates:
        return "s"
    if plain == "%time":
        return "ns"  # of `rostopic echo -p`, whether it counts from 1970 or a simulation's start
    if plain in _STEPS:
        return ""
    if found := _UNIT.search(plain):
        return _UNITS[found[1]]
    typical = float(np.nanmedian(np.abs(time.values)))  # of a clock that counts from 1970, its size tells the unit
    return next((unit for unit, low in (("ms", 1e12), ("us", 1e15), ("ns", 1e18)) if low <= typical < 4.2 * low), "s")
