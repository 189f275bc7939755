"""Logs as tables, CSV or Parquet: a column `episode`, perhaps one for the time, and the other columns are the state.

Columns whose names begin with `action` are actions; rewards and end marks are ignored. The time is a number or a date
in a column `time`, `timestamp`, `step` or `timestep`. All columns together are one array, so states are float64.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._checks import list_names, naming, parsing, refuse_if_too_large
from ._layouts import offsets_from_ids

_EPISODE = ("episode", "episode_id")
_TIME = ("time", "timestamp", "step", "timestep")
_LEFT_OUT = {"reward", "rewards", "__index_level_0__"} | {
    name + ending for name in ("terminal", "timeout", "done", "terminated", "truncated") for ending in ("", "s")
}


class _Columns:
    """The role of each column, by its name; case does not matter."""

    def __init__(self, names: list[str]) -> None:
        plain = [name.strip().lower() for name in names]
        for k, name in enumerate(plain):
            if not name:
                raise InputError(f"Column {k + 1} has no name; name it, or remove it if it only counts the rows.")
            if name in plain[:k]:
                raise InputError(f"There are two columns named {name!r}; rename or remove one.")
        episode = next((plain.index(name) for name in _EPISODE if name in plain), None)
        if episode is None:
            raise InputError(
                f"There is no column 'episode' (there are {list_names(names)}); add one, the same in all "
                "rows if they are a single episode."
            )
        self.names = names
        self.episode = episode
        self.time = next((plain.index(name) for name in _TIME if name in plain), None)
        rest = [k for k, name in enumerate(plain) if name not in (*_EPISODE, *_TIME) and name not in _LEFT_OUT]
        self.actions = [k for k in rest if plain[k].startswith("action")]
        self.states = [k for k in rest if k not in self.actions]
        if not self.states:
            raise InputError(f"There is no column left for the state (there are {list_names(names)}); add some.")

    def used(self, keep_actions: bool) -> list[str]:
        """The names of the columns that are read."""
        time = [] if self.time is None else [self.time]
        return [self.names[k] for k in (self.episode, *time, *self.states, *(self.actions if keep_actions else ()))]


def read_csv(path: Path, keep_actions: bool) -> Trajectories:
    """A comma-separated log whose first line names the columns."""
    with naming(path), parsing(path, "CSV"), open(path, newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        columns = _Columns(next(rows, []))
        episodes: list[str] = []
        times, states, actions = array("d"), array("d"), array("d")
        for row in rows:
            if not row:
                continue  # an empty line, as editors leave at the end
            if len(row) != len(columns.names):
                raise InputError(f"Line {rows.line_num} has {len(row)} cells, not {len(columns.names)}; repair it.")
            episodes.append(row[columns.episode].strip())
            if not episodes[-1]:
                raise InputError(f"Line {rows.line_num} has no episode; give every row one.")
            if columns.time is not None:
                times.append(_time(row[columns.time], rows.line_num))
            _append_numbers(states, row, columns.states, columns, rows.line_num)
            if keep_actions:
                _append_numbers(actions, row, columns.actions, columns, rows.line_num)
        if not episodes:
            raise InputError("There are no rows below the column names; record at least two states.")
        return Trajectories.from_flat(
            np.array(states).reshape(len(episodes), -1),
            offsets_from_ids(np.array(episodes, dtype=object)),
            None if columns.time is None else np.array(times),
            np.array(actions).reshape(len(episodes), -1) if keep_actions and columns.actions else None,
        )


def read_parquet(path: Path, keep_actions: bool) -> Trajectories:
    """A Parquet log; a column of equally long lists counts as several columns."""
    with naming(path), parsing(path, "Parquet"), _opened(path) as file:
        columns = _Columns(file.schema_arrow.names)
        wanted = columns.used(keep_actions)
        _check_types(file.schema_arrow, columns, wanted)
        groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
        every = (group.column(k) for group in groups for k in range(group.num_columns))
        pieces = [piece for piece in every if _belongs(piece.path_in_schema, wanted)]
        # Encodings shrink repeated values to almost nothing, so the stored size says little about the size in memory.
        unpacked = max(sum(piece.total_uncompressed_size for piece in pieces), 8 * sum(p.num_values for p in pieces))
        refuse_if_too_large(path, "the table", unpacked, path.stat().st_size)
        table = file.read(columns=wanted)  # names of episodes stay as they are stored, each once
        states = _numbers(table, columns, columns.states)
        return Trajectories.from_flat(
            states,
            offsets_from_ids(_identities(table, columns)),
            None if columns.time is None else _times(table, columns),
            _numbers(table, columns, columns.actions) if keep_actions and columns.actions else None,
        )


def _opened(path: Path) -> Any:
    """A Parquet file, whose texts are read as a dictionary and numbers of its entries: repeated ones cost nothing."""
    try:
        import pyarrow.parquet as parquet
        import pyarrow.types as types
    except ImportError:
        raise MissingExtra(f"Reading {path}", "tables") from None
    schema = parquet.read_schema(path)
    texts = [field.name for field in schema if types.is_string(field.type) or types.is_binary(field.type)]
    return parquet.ParquetFile(path, read_dictionary=texts)


def _check_types(schema: Any, columns: _Columns, wanted: list[str]) -> None:
    """Refuse columns that hold no numbers before any of them is unpacked."""
    import pyarrow.types as types

    for k in (*columns.states, *columns.actions):
        kind = schema.field(k).type
        while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            kind = kind.value_type
        if columns.names[k] in wanted and not _is_numeric(kind):
            shown = kind.value_type if types.is_dictionary(kind) else kind
            raise InputError(f"The column {columns.names[k]!r} holds {shown}, not numbers; convert or remove it.")


def _belongs(path: str, wanted: list[str]) -> bool:
    """Whether a stored column is one of those wanted, or a part of one."""
    return any(path == name or path.startswith(f"{name}.") for name in wanted)


def _append_numbers(values: array, row: list[str], wanted: Iterable[int], columns: _Columns, line: int) -> None:
    for k in wanted:
        try:
            values.append(float(row[k]))
        except ValueError:
            raise InputError(
                f"Line {line} has {row[k]!r} in column {columns.names[k]!r}, not a number; repair it."
            ) from None


def _time(cell: str, line: int) -> float:
    try:
        return float(cell)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(cell.strip())
    except ValueError:
        raise InputError(f"Line {line} has the time {cell!r}, neither a number nor a date; repair it.") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _column(table: Any, columns: _Columns, k: int) -> Any:
    column = table.column(columns.names[k]).unify_dictionaries().combine_chunks()
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"Row {row} of column {columns.names[k]!r} is empty; fill or remove it.")
    return column


def _identities(table: Any, columns: _Columns) -> np.ndarray:
    import pyarrow.types as types

    column = _column(table, columns, columns.episode)
    if types.is_dictionary(column.type):  # the number of a name does as well as the name
        column = column.indices
    if types.is_nested(column.type):
        raise InputError(f"The column {columns.names[columns.episode]!r} holds {column.type}; give one value per row.")
    return column.to_numpy(zero_copy_only=False)


def _times(table: Any, columns: _Columns) -> np.ndarray:
    import pyarrow.types as types

    assert columns.time is not None
    column = _column(table, columns, columns.time)
    if types.is_timestamp(column.type):
        return column.cast("timestamp[ns]").cast("int64").to_numpy() / 1e9
    return _numeric(column, columns.names[columns.time])


def _numbers(table: Any, columns: _Columns, wanted: list[int]) -> np.ndarray:
    import pyarrow.types as types

    blocks = []
    for k in wanted:
        column = _column(table, columns, k)
        width = 1
        if types.is_list(column.type) or types.is_large_list(column.type) or types.is_fixed_size_list(column.type):
            widths = set(column.value_lengths().to_pylist()) if len(column) else {1}
            if len(widths) > 1 or 0 in widths:
                raise InputError(f"The lists of column {columns.names[k]!r} have different lengths; make them equal.")
            width = widths.pop()
            column = column.flatten()
        blocks.append(_numeric(column, columns.names[k]).reshape(-1, width))
    return np.concatenate(blocks, axis=1)


def _numeric(column: Any, name: str) -> np.ndarray:
    import pyarrow.types as types

    kind = column.type
    numeric = _is_numeric(kind)
    if not numeric or column.null_count:
        described = f"{kind}, not numbers" if not numeric else "lists with empty places"
        raise InputError(f"The column {name!r} holds {described}; convert or remove it.")
    if types.is_boolean(kind):
        column = column.cast("uint8")
    return column.cast("float64", safe=False).to_numpy(zero_copy_only=False)


def _is_numeric(kind: Any) -> bool:
    import pyarrow.types as types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
