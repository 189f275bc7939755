"""Logs as tables: a column `episode`, perhaps one for the time, and the other columns are the state.

Columns whose names begin with `action` are actions, `success` says which episodes succeeded; rewards and end marks are
ignored. The time is a number or a date
in a column `time`, `timestamp`, `step` or `timestep`. `TableOptions` says otherwise. All columns together are one
array: float32 where every column of the state is stored so, else float64.
"""

from __future__ import annotations

import contextlib
import csv
import operator
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...errors import InputError
from .._dataset import Trajectories
from ._assembly import assemble
from ._checks import naming, parsing
from ._columns import Column, Roles, TableOptions, with_nanoseconds
from ._text import as_seconds

_EMPTY = {"", "na", "n/a", "null", "none", "nan", "-nan"}
_TRUTH = {"true": 1.0, "false": 0.0}
_SEPARATORS = (",", ";", "\t")
_LONGEST_LINE = 1 << 20
_GLANCE = 100  # cells after the first text, by which one that is damaged is told from a column of text


class _Cells:
    """The cells of one column of text as they come in."""

    def __init__(self, name: str, dates: bool, decimal_comma: bool = False) -> None:
        self.name, self.values, self.text = name, array("d"), None
        self._dates, self.has_dates, self._decimal_comma = dates, False, decimal_comma
        self.marked: dict[str, tuple[int, str]] = {}
        """Where a decimal comma is possible: the first cells that have a point, and a comma."""

    def add(self, cell: str) -> None:
        try:
            if "_" in cell:
                raise ValueError  # a name, although Python would read 1_2 as 12
            self.values.append(float(cell))
            if self._decimal_comma and "." in cell:
                self.marked.setdefault(".", (len(self.values) - 1, cell.strip()))
        except ValueError:
            self.values.append(self._other(cell.strip()))

    def _other(self, cell: str) -> float:
        plain = cell.lower()
        if plain in _EMPTY:
            return np.nan
        if plain in _TRUTH:
            return _TRUTH[plain]
        if self._decimal_comma and cell.count(",") == 1:
            try:
                number = float(cell.replace(",", "."))
                self.marked.setdefault(",", (len(self.values), cell))
                return number
            except ValueError:
                pass
        if self._dates and (seconds := as_seconds(cell)) is not None:
            self.has_dates = True
            return seconds
        self.text = self.text or (len(self.values), cell if len(cell) <= 40 else f"{cell[:40]}...")
        return np.nan

    def column(self) -> Column:
        values = np.array(self.values).reshape(-1, 1)
        mostly_numbers = self.text is not None and bool(2 * np.count_nonzero(~np.isnan(values)) > len(values))
        return Column(self.name, values, self.text, self.has_dates, mostly_numbers=mostly_numbers)


def read_csv(path: Path, keep_actions: bool, table: TableOptions | None = None) -> Trajectories:
    """A log whose first line names the columns; commas, semicolons or tabs separate them, whichever it has most of.

    Where it is not the comma, numbers may have a decimal comma.
    """
    with naming(path), parsing(path, "CSV"), _decoding(), open(path, newline="", encoding="utf-8-sig") as file:
        separator = _separator(file)
        rows = csv.reader(file, delimiter=separator)
        names = [name.strip() for name in next(rows, [])]
        _check_names(names, table)
        roles = Roles(names, table or TableOptions())
        clocks = (roles.time, roles.maybe_time)
        actions = roles.actions if keep_actions else []
        used = (roles.time, roles.nanoseconds, roles.success, *roles.states, *actions)
        wanted = [k for k in used if k is not None]
        cells = {k: _Cells(roles.names[k], k in clocks, separator != ",") for k in wanted}
        episodes: list[str] = []
        lines = array("q")
        for row in rows:
            if not row:
                continue  # an empty line, as editors leave at the end
            if len(row) != len(roles.names):
                raise InputError(f"Line {rows.line_num} has {len(row)} cells, not {len(roles.names)}; repair it.")
            identity = [row[k].strip() for k in roles.episode]
            episodes.append(" / ".join(identity))
            lines.append(rows.line_num)
            if "" in identity:
                raise InputError(f"Line {rows.line_num} has no episode; give every row one.")
            for k, column in cells.items():
                column.add(row[k])
        _refuse_two_marks(list(cells.values()), lines)
        return assemble(
            roles,
            np.array(episodes, dtype=object),
            _clock(roles, lambda k: cells[k].column()),
            [cells[k].column() for k in roles.states],
            [cells[k].column() for k in actions],
            None if roles.success is None else cells[roles.success].column(),
            lambda row: f"line {lines[row]}",
        )


def csv_columns(path: Path) -> list[str]:
    """What the first line names."""
    with naming(path), parsing(path, "CSV"), _decoding(), open(path, newline="", encoding="utf-8-sig") as file:
        return next(csv.reader(file, delimiter=_separator(file)), [])


def _check_names(names: list[str], table: TableOptions | None) -> None:
    """Refuse a first line that cannot be the names of columns."""
    if not names:
        raise InputError("It is empty; its first line has to name the columns.")
    if all(map(_is_number, names)):
        raise InputError("The first line holds numbers; write a line with the names of the columns above it.")
    if len(names) == 1 and (table is None or table.episode is None):
        raise InputError(
            f"The first line, {names[0][:40]!r}, names a single column; let it name all, separated by commas, "
            "semicolons or tabs."
        )


def _refuse_two_marks(columns: list[_Cells], lines: array[int]) -> None:
    """Refuse 0.5 beside 1,000: the comma may be a decimal mark or separate thousands."""
    found = {mark: (cells.name, *cells.marked[mark]) for cells in columns[::-1] for mark in cells.marked}
    if len(found) == 2:
        (point, at, half), (comma, row, thousand) = found["."], found[","]
        raise InputError(
            f"Line {lines[row]} has {thousand!r} in column {comma!r}, but line {lines[at]} {half!r} in {point!r}: "
            "write all numbers with a decimal point, or all with a decimal comma, none with separators of thousands."
        )


def _clock(roles: Roles, column: Callable[[int], Column]) -> Column | None:
    if roles.time is None or roles.nanoseconds is None:
        return None if roles.time is None else column(roles.time)
    return with_nanoseconds(column(roles.time), column(roles.nanoseconds))


@contextlib.contextmanager
def _decoding() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError("It is not written in UTF-8; save it as such (in a spreadsheet: CSV UTF-8).") from error


def _separator(file: IO[str]) -> str:
    """What separates the names in the first line."""
    first = file.readline(_LONGEST_LINE)
    file.seek(0)
    return max(_SEPARATORS, key=lambda one: _width(first, one))


def _width(line: str, separator: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=separator), []))
    except csv.Error:  # a single cell, longer than any may be: thousands of names that something else separates
        return 1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def from_arrow(
    table: Any, roles: Roles, keep_actions: bool, named: Callable[[Column], Column] = lambda column: column
) -> Trajectories:
    """Episodes from an Arrow table; `named` may say what the parts of a column are called."""
    clocks = (roles.time, roles.maybe_time)

    def columns(wanted: list[int]) -> list[Column]:
        return [named(_column(table.column(roles.names[k]), roles.names[k], k in clocks)) for k in wanted]

    return assemble(
        roles,
        _as_numpy(identities(table, [roles.names[k] for k in roles.episode])),
        _clock(roles, lambda k: columns([k])[0]),
        columns(roles.states),
        columns(roles.actions) if keep_actions else [],
        None if roles.success is None else columns([roles.success])[0],
        lambda row: f"row {row}",
    )


def identities(table: Any, names: list[str]) -> Any:
    """An Arrow array of what tells the rows' episodes apart: one column, several together, or one value for all."""
    import pyarrow as pa
    import pyarrow.compute as compute

    columns = [_identity(table.column(name), name) for name in names]
    if not columns:
        return pa.array(np.zeros(table.num_rows, np.int8))
    if len(columns) == 1:
        return columns[0]
    return compute.binary_join_element_wise(*(column.cast("string") for column in columns), " / ")  # type: ignore[attr-defined]


def _identity(chunks: Any, name: str) -> Any:
    import pyarrow.types as types

    column = _joined(chunks)
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"Row {row} of column {name!r} has no episode; give every row one.")
    if types.is_nested(column.type):
        raise InputError(f"The column {name!r} holds {column.type}; give one value per row.")
    return column


def _as_numpy(column: Any) -> np.ndarray:
    import pyarrow.types as types

    if not types.is_dictionary(column.type):
        return column.to_numpy(zero_copy_only=False)
    return column.dictionary.to_numpy(zero_copy_only=False)[column.indices.to_numpy()]  # each name once in memory


def _column(chunks: Any, name: str, clock: bool) -> Column:
    import pyarrow.types as types

    column = _joined(chunks)
    kind = column.type
    if types.is_date(kind) or types.is_timestamp(kind):
        return Column(name, _seconds(column), dates=True) if clock else _text(column, name)
    if types.is_duration(kind):
        return Column(name, _seconds(column), dates=clock)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _of_lists(column, name)
    if types.is_null(kind):
        return Column(name, np.full((len(column), 1), np.nan))
    if not _is_numeric(kind):
        return _text(column, name, clock)
    return Column(name, _numbers(column)[:, None], single=_is_single(kind))


def _joined(chunks: Any) -> Any:
    """One array; texts stay numbers of the entries of a dictionary, so that repeated ones cost nothing."""
    return chunks.unify_dictionaries().combine_chunks() if hasattr(chunks, "unify_dictionaries") else chunks


def _seconds(column: Any) -> np.ndarray:
    import pyarrow.types as types

    kind = "duration[ns]" if types.is_duration(column.type) else "timestamp[ns]"
    nanoseconds = column.cast(kind).to_numpy(zero_copy_only=False)
    seconds = nanoseconds.astype(np.int64) / 1e9
    return np.where(np.isnat(nanoseconds), np.nan, seconds)[:, None]


def _text(column: Any, name: str, clock: bool = False) -> Column:
    cells = _Cells(name, clock)
    for value in map(operator.methodcaller("as_py"), column):  # one by one, as few tell what the column holds
        if not clock and cells.text is not None and len(cells.values) > cells.text[0] + _GLANCE:
            break
        cells.add("" if value is None else str(value))
    found = cells.column()
    return found if clock or found.text is None else replace(found, values=np.full((len(column), 1), np.nan))


def _of_lists(column: Any, name: str) -> Column:
    present = ~column.is_null().to_numpy(zero_copy_only=False)
    widths = set(column.value_lengths().drop_null().to_pylist()) or {1}
    if len(widths) > 1 or 0 in widths:
        raise InputError(f"The lists of column {name!r} have different lengths; make them equal.")
    flat = column.flatten()
    if not _is_numeric(flat.type):
        raise InputError(f"The column {name!r} holds {column.type}, not numbers; convert or remove it.")
    values = np.full((len(column), widths.pop()), np.nan)
    values[present] = _numbers(flat).reshape(int(present.sum()), -1)
    return Column(name, values, single=_is_single(flat.type))


def _is_single(kind: Any) -> bool:
    """Whether float32 holds all its values."""
    import pyarrow.types as types

    return types.is_float32(kind) or types.is_float16(kind)


def _is_numeric(kind: Any) -> bool:
    import pyarrow.types as types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def _numbers(column: Any) -> np.ndarray:
    """float64, NaN where a value is missing."""
    import pyarrow.types as types

    if types.is_boolean(column.type):
        column = column.cast("uint8")
    return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
