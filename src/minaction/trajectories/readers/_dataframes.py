"""Data frames of other libraries, and columns in a dictionary: tables that were never a file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._checks import list_names, parsing
from ._columns import Roles, TableOptions
from ._tables import from_arrow

_INDEX = "__index_level_0__"  # what Arrow calls the index of pandas where it has no name
_PLACE = "__place__"  # of a data frame in a list


def from_dataframe(frame: Any, keep_actions: bool, table: TableOptions) -> Trajectories:
    """A data frame of a library that speaks Arrow's interface or the older interchange protocol, or one per episode."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("Reading a data frame", "tables") from None
    if isinstance(frame, list | tuple) and frame:
        tables = [_as_arrow(one, f"data frame {k}") for k, one in enumerate(frame)]
        frame, table = _one_below_the_other(tables), replace(table, episode=_PLACE)
    read = _as_arrow(frame, "the data frame")
    with parsing("The data frame", "a table"):
        return from_arrow(*_with_index(read, table), keep_actions)


def from_columns(columns: Mapping[str, Any]) -> Trajectories:
    """A table given as a dictionary of its columns; actions are kept."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("Reading a dictionary of columns", "tables") from None
    with _converting("the dictionary"):
        read = pa.table(dict(columns))
    return from_dataframe(read, True, TableOptions())


def _as_arrow(frame: Any, named: str) -> Any:
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe as interchanged

    if getattr(frame, "ndim", 2) == 1:
        raise InputError(f"A {type(frame).__name__} is a single column; give the data frame, with a column 'episode'.")
    with _converting(named):
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if hasattr(frame, "__dataframe__"):
            return interchanged(frame)
    raise InputError(
        f"A {type(frame).__name__} is not a data frame; give one of pandas, Polars or Arrow, a list of them, one per "
        "episode, or arrays to Trajectories.from_episodes."
    )


@contextlib.contextmanager
def _converting(named: str) -> Iterator[None]:
    """Columns of mixed types, of different lengths or of equal names are what Arrow cannot hold."""
    try:
        yield
    except Exception as error:
        reason = "; ".join(map(str, error.args)) or type(error).__name__
        raise InputError(f"Arrow cannot hold {named} ({reason}); convert or remove that column.") from error


def _one_below_the_other(tables: list[Any]) -> Any:
    """The rows of tables with the same columns, in any order, and a column that says from which they are."""
    import pyarrow as pa

    names = tables[0].column_names
    for k, table in enumerate(tables):
        if other := set(names) ^ set(table.column_names):
            raise InputError(f"Data frames 0 and {k} differ in {list_names(sorted(other))}; give all the same columns.")
    with _converting("all data frames in one"):
        rows = pa.concat_tables([table.select(names) for table in tables], promote_options="permissive")
    return rows.append_column(_PLACE, [np.repeat(np.arange(len(tables)), [table.num_rows for table in tables])])


def _with_index(table: Any, options: TableOptions) -> tuple[Any, Roles]:
    """The table and its roles; a nameless index of dates, as pandas has them, is its clock."""
    import pyarrow.types as types

    roles = Roles(table.column_names, options)
    if roles.time is None and _INDEX in roles.names and types.is_timestamp(table.column(_INDEX).type):
        roles = Roles(table.column_names, replace(options, time=_INDEX))
    return table, roles
