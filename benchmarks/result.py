"""What a benchmark found: a table for people, JSON for programs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def warn_if_busy() -> None:
    """Say so where other processes compute meanwhile: they slow the contenders down, and not all of them alike."""
    import psutil

    busy = psutil.cpu_percent(interval=2.0) / 100 * (psutil.cpu_count() or 1)
    if busy > 0.2:
        Console().print(f"[yellow]Other processes keep {busy:.1f} cores busy; expect the numbers to be off.[/yellow]")


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, its first column to the left and the others to the right."""
    table = Table(title=title, title_justify="left")
    for k, column in enumerate(columns):
        table.add_column(column, justify="right" if k else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.width = console.width if console.is_terminal else 120
    console.print(table)


def write(path: Path | None, findings: dict[str, Any]) -> None:
    """Write the findings, and what they were found on, where a path is given."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), **findings}, indent=2) + "\n")


def machine() -> dict[str, Any]:
    """What a measurement depends on besides the code."""
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("minaction", "jax", "torch", "numpy")},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def gibibytes(size: float) -> str:
    """A size as a person reads it."""
    return f"{size / 2**30:.2f} GiB"
