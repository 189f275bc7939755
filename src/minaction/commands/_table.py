"""Options for the columns of a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..errors import InputError
from ..trajectories import TableOptions, Trajectories
from ._options import Table, all_of


def table_options(options: Table) -> TableOptions | None:
    """The options, or None if none were given."""
    words = table_words(options)
    return TableOptions(**words) if words else None


def table_words(options: Table) -> dict[str, Any]:
    """The options as `minaction.read` takes them; empty if none were given."""
    given = TableOptions(
        episode=all_of(options.episode) if options.episode else None,  # given without a name, all rows are one episode
        time=options.time,
        unit=options.unit,
        states=all_of(options.states),
        drop=all_of(options.drop),
        missing=options.missing,
        one_hot=all_of(options.one_hot),
        resize=options.resize,
        success=options.success,
    )
    return {} if given == TableOptions() else asdict(given)


def check_unit(options: Table, data: Trajectories, name: str) -> None:
    """Refuse a unit of the clock of a recording that has none; frames are what is counted instead of one."""
    if options.unit not in (None, "frames") and data.times is None:
        raise InputError(
            f"{name} has no clock for --unit {options.unit} to be the unit of; name its column with --time, or leave "
            "--unit out."
        )
