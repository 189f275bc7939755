"""`minaction tasks` and `minaction objectives`: what there is to choose from."""

from __future__ import annotations

from dataclasses import fields

from rich.table import Table

from ..tasks import all_tasks
from ._show import make_console


def tasks() -> int:
    """Every task with its one line."""
    table = Table(title="Tasks: minaction train NAME", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is")
    for name, task in all_tasks().items():
        table.add_row(name, task.summary)
    make_console().print(table)
    return 0


def objectives() -> int:
    """Every objective with what can be set."""
    from ..objectives import PRESETS

    table = Table(title="Objectives: minaction train DATA --objective NAME --set SETTING=VALUE", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("settings and their defaults")
    for name, objective in PRESETS.items():
        settings = [(field.name, getattr(objective, field.name)) for field in fields(objective)]
        shown = [f"{key}={value}" for key, value in settings if key != "network"]
        network = [f"{field.name}={getattr(objective.network, field.name)}" for field in fields(objective.network)]
        table.add_row(name, ", ".join(shown) + "\n[dim]" + ", ".join(network).replace("[", r"\[") + "[/dim]")
    make_console().print(table)
    return 0
