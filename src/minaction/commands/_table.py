"""Options for the columns of a table."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from ..trajectories import TableOptions
from ._options import Table


def table_options(options: Table) -> TableOptions | None:
    """The options, or None if none were given."""
    words = table_words(options)
    return TableOptions(**words) if words else None


def table_words(options: Table) -> dict[str, Any]:
    """The options as `minaction.read` takes them; empty if none were given."""
    names = (field.name for field in fields(TableOptions))
    given = TableOptions(**{name: getattr(options, name) for name in names})
    return {} if given == TableOptions() else asdict(given)
