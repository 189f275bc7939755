"""What several commands print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from ..evaluation import Agreement, RangeAgreement
from ..reports._tables import agreement_table, rows_by_range, rows_by_truth
from ..tasks import Truth


def make_console() -> Console:
    """A console for tables: as wide as the terminal, or wide enough for them where there is none."""
    console = Console()
    return console if console.is_terminal else Console(width=max(120, console.width))


def print_agreement(console: Console, seeds: Sequence[dict[str, Any]], truths: Sequence[Truth]) -> None:
    """The table against every truth, from the `agreement` of a run's results; nothing where no truth is known."""
    if not truths:
        console.print("No truth is known for this data, so there is nothing to compare with.", highlight=False)
        return
    found = [{name: Agreement.from_dict(values) for name, values in seed.items()} for seed in seeds]
    console.print(agreement_table(rows_by_truth(found, truths), title="Agreement with the truth"))


def print_agreement_by_range(
    console: Console, seeds: Sequence[dict[str, list[RangeAgreement]]], truths: Sequence[Truth]
) -> None:
    """A table per truth, apart for each range of true distance."""
    for truth in truths:
        rows = rows_by_range([seed[truth.name] for seed in seeds], truth)
        console.print(agreement_table(rows, title=f"By true distance: {truth.name}", heading="true distance"))
