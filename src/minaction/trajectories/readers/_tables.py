"""Logs as tables: a column `episode`, perhaps one for the time, and the other columns are the state.

Columns whose names begin with `action` are actions; rewards and end marks are ignored. The time is a number or a date
in a column `time`, `timestamp`, `step` or `timestep`. `TableOptions` says otherwise. All columns together are one
array: float32 where every column of the state is stored so, else float64.
"""

from __future__ import annotations

import csv
import operator
from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._checks import naming, parsing
from ._columns import Column, Roles, TableOptions, assemble

_EMPTY = {"", "na", "n/a", "null", "none", "nan", "-nan"}


class _Cells:
    """The cells of one column of text as they come in."""

    def __init__(self, name: str, dates: bool) -> None:
        self.name, self.values, self.text = name, array("d"), None
        self._dates, self.has_dates = dates, False

    def add(self, cell: str) -> None:
        try:
            self.values.append(float(cell))
        except ValueError:
            self.values.append(self._other(cell.strip()))

    def _other(self, cell: str) -> float:
        if cell.lower() in _EMPTY:
            return np.nan
        if self._dates:
            try:
                moment = datetime.fromisoformat(cell)
                self.has_dates = True
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
            except ValueError:
                pass
        self.text = self.text or (len(self.values), cell if len(cell) <= 40 else f"{cell[:40]}...")
        return np.nan

    def column(self) -> Column:
        return Column(self.name, np.array(self.values).reshape(-1, 1), self.text, self.has_dates)


def read_csv(path: Path, keep_actions: bool, table: TableOptions | None = None) -> Trajectories:
    """A comma-separated log whose first line names the columns."""
    with naming(path), parsing(path, "CSV"), open(path, newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        roles = Roles(next(rows, []), table or TableOptions())
        clocks = (roles.time, roles.maybe_time)
        actions = roles.actions if keep_actions else []
        wanted = [k for k in (roles.time, *roles.states, *actions) if k is not None]
        cells = {k: _Cells(roles.names[k], k in clocks) for k in wanted}
        episodes: list[str] = []
        lines = array("q")
        for row in rows:
            if not row:
                continue  # an empty line, as editors leave at the end
            if len(row) != len(roles.names):
                raise InputError(f"Line {rows.line_num} has {len(row)} cells, not {len(roles.names)}; repair it.")
            episodes.append(row[roles.episode].strip())
            lines.append(rows.line_num)
            if not episodes[-1]:
                raise InputError(f"Line {rows.line_num} has no episode; give every row one.")
            for k, column in cells.items():
                column.add(row[k])
        if not episodes:
            raise InputError("There are no rows below the column names; record at least two states.")
        return assemble(
            roles,
            np.array(episodes, dtype=object),
            None if roles.time is None else cells[roles.time].column(),
            [cells[k].column() for k in roles.states],
            [cells[k].column() for k in actions],
            lambda row: f"line {lines[row]}",
        )


def from_dataframe(frame: Any, keep_actions: bool, table: TableOptions) -> Trajectories:
    """A data frame of any library that speaks Arrow's interface or the older interchange protocol."""
    try:
        import pyarrow as pa
        from pyarrow.interchange import from_dataframe as interchanged
    except ImportError:
        raise MissingExtra("Reading a data frame", "tables") from None
    with parsing("The data frame", "a table"):
        if hasattr(frame, "__arrow_c_stream__"):
            read = pa.table(frame)
        elif hasattr(frame, "__dataframe__"):
            read = interchanged(frame)
        else:
            raise InputError(
                f"A {type(frame).__name__} is not a data frame; give one of pandas, Polars or Arrow, or arrays to "
                "Trajectories.from_episodes."
            )
        return from_arrow(read, Roles(read.column_names, table), keep_actions)


def from_arrow(
    table: Any, roles: Roles, keep_actions: bool, named: Callable[[Column], Column] = lambda column: column
) -> Trajectories:
    """Episodes from an Arrow table; `named` may say what the parts of a column are called."""
    clocks = (roles.time, roles.maybe_time)

    def columns(wanted: list[int]) -> list[Column]:
        return [named(_column(table.column(roles.names[k]), roles.names[k], k in clocks)) for k in wanted]

    return assemble(
        roles,
        _identities(table.column(roles.names[roles.episode]), roles.names[roles.episode]),
        None if roles.time is None else columns([roles.time])[0],
        columns(roles.states),
        columns(roles.actions) if keep_actions else [],
        lambda row: f"row {row}",
    )


def _identities(chunks: Any, name: str) -> np.ndarray:
    import pyarrow.types as types

    column = _joined(chunks)
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"Row {row} of column {name!r} has no episode; give every row one.")
    if types.is_dictionary(column.type):  # the number of a name does as well as the name
        column = column.indices
    if types.is_nested(column.type):
        raise InputError(f"The column {name!r} holds {column.type}; give one value per row.")
    return column.to_numpy(zero_copy_only=False)


def _column(chunks: Any, name: str, clock: bool) -> Column:
    import pyarrow.types as types

    column = _joined(chunks)
    kind = column.type
    if types.is_date(kind) or types.is_timestamp(kind):
        return Column(name, _seconds(column), dates=True) if clock else _text(column, name)
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
    nanoseconds = column.cast("timestamp[ns]").to_numpy(zero_copy_only=False).astype("datetime64[ns]")
    seconds = nanoseconds.astype(np.int64) / 1e9
    return np.where(np.isnat(nanoseconds), np.nan, seconds)[:, None]


def _text(column: Any, name: str, clock: bool = False) -> Column:
    cells = _Cells(name, clock)
    for value in map(operator.methodcaller("as_py"), column):  # one by one, as the first text may be enough
        if not clock and cells.text is not None:
            break
        cells.add("" if value is None else str(value))
    found = cells.column()
    return found if clock else Column(name, np.full((len(column), 1), np.nan), found.text or (0, str(column.type)))


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
