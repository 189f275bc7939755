"""`minaction tasks` and `minaction objectives`."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table

from .._descriptions import describe, make
from ..tasks import TASKS, get_task
from ._options import Objectives, Tasks
from ._show import make_console


def tasks(options: Tasks) -> int:
    """List every task with its summary."""
    del options
    table = Table(title="Tasks: minaction train NAME", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is")
    for name in TASKS.usable():
        table.add_row(name, escape(get_task(name).summary))
    make_console().print(table)
    return 0


def objectives(options: Objectives) -> int:
    """List every objective with its hyperparameters, then the encoders and quasimetrics."""
    del options
    from ..encoders import ENCODERS
    from ..objectives import OBJECTIVES
    from ..quasimetrics import QUASIMETRICS

    console = make_console()
    titles = {
        "Objectives: minaction train DATA --objective NAME --set SETTING=VALUE": OBJECTIVES,
        "Encoders: --set encoder=NAME encoder.SETTING=VALUE": ENCODERS,
        "Quasimetrics: --set quasimetric=NAME quasimetric.SETTING=VALUE": QUASIMETRICS,
    }
    for title, family in titles.items():
        table = Table(title=title, title_justify="left")
        table.add_column("name", no_wrap=True)
        table.add_column("settings and their defaults")
        for name in family.usable():
            table.add_row(name, escape(_shown(describe(make(family, name)))))
        console.print(table)
    return 0


def _shown(description: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_value(value)}" for key, value in description.items() if key != "name")


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['name']}({_shown(value)})"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
