"""Cells of text where numbers are expected: dates, which may be a clock, and what else is refused with ways out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Container
from datetime import UTC, datetime

from ...errors import InputError
from ._checks import list_names
from ._columns import Column

_NUMBER = re.compile(r"[-+]?\.?\d")  # how a number begins


def as_seconds(cell: str) -> float | None:
    """A date as seconds since 1970, of UTC where it says nothing else; None where it is none."""
    try:
        moment = datetime.fromisoformat(cell)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def refuse_text(
    time: Column | None, columns: list[Column], one_hot: Container[str], where: Callable[[int], str]
) -> None:
    """Refuse columns with text, among them perhaps the clock `time`; a person asked for those in `one_hot` as ids."""
    given = columns if time is None else [time, *columns]
    found = [(column, *column.text) for column in given if column.text is not None]
    if not found:
        return
    others = [(column, cell) for column, _, cell in found if as_seconds(cell) is None]
    clock = next((column.name for column, _, cell in found if as_seconds(cell) is not None), None)
    way_out = _way_out(others, one_hot)
    if time is not None and time.text is not None:
        way_out = f"write the clock as numbers or as ISO dates (2024-03-31T09:30:00+01:00), or {way_out}"
    if clock is not None:
        name = shlex.quote(clock)
        way_out = f"if {clock!r} is the clock, say so (--time {name}); {way_out or f'or leave it out (--drop {name})'}"
    if len(found) == 1:
        ((column, row, cell),) = found
        raise InputError(f"{where(row).capitalize()} has {cell!r} in column {column.name!r}, not a number; {way_out}.")
    shown = ", ".join(f"{column.name!r} ({where(row)}: {cell!r})" for column, row, cell in found)
    raise InputError(f"These columns hold text, not numbers: {shown}; {way_out}.")


def _way_out(found: list[tuple[Column, str]], one_hot: Container[str]) -> str:
    """What to do about columns with text that is no date: whoever drops one with a single bad cell loses a state."""
    damaged = [column.name for column, _ in found if column.mostly_numbers]
    text = [column.name for column, _ in found if not column.mostly_numbers]
    ways = []
    if damaged:
        of = f" of {list_names(damaged)}" if text else ""
        ways.append(f"repair such cells{of} (or empty them, and choose --missing drop or --missing split)")
    if ids := [name for name in text if name in one_hot]:
        ways.append(f"number the texts of {list_names(ids)} from 0 on, as --one-hot takes whole numbers alone")
    if left := [name for name in text if name not in one_hot]:
        what = list_names(left) if ways else "it" if len(left) == 1 else "them"
        ways.append(f"leave {what} out (--drop {shlex.join(left)})")
    way_out = ", and ".join(ways)
    if any(_NUMBER.match(cell) for _, cell in found):
        way_out = f"write numbers without units and separators of thousands, or {way_out}"
    return way_out
