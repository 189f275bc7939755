"""Tables of agreement over seeds: the same rows as a Rich table for the terminal, or as Markdown for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..evaluation import Evaluation

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Measure:
    """A column: which field of `Agreement` it shows, its heading and the number of decimals."""

    field: str
    heading: str
    decimals: int
    needs_same_unit: bool = False
    always_there: bool = True
    """Whether its column is shown even if no row has a value."""


MEASURES = (
    Measure("pearson", "Pearson ↑", 3),
    Measure("spearman", "Spearman ↑", 3),
    Measure("ratio_cv", "Ratio CV ↓", 3),
    Measure("mean_ratio", "mean ratio", 2, needs_same_unit=True),
    Measure("mean_absolute_error", "error ↓", 2, needs_same_unit=True),
    Measure("auroc", "AUROC ↑", 3, always_there=False),
    Measure("same_state", "same state ↓", 2, needs_same_unit=True, always_there=False),
    Measure("asymmetric_pearson", "one-way ↑", 3, always_there=False),
)

_NOTHING = "–"


def measures_for(unit: str) -> list[Measure]:
    """The measures that mean something against a truth in this unit.

    Learned distances are in the data's time unit. Their ratio to cells is a property of the maze and not an error.
    """
    return [measure for measure in MEASURES if unit != "cells" or not measure.needs_same_unit]


@dataclass(frozen=True)
class Row:
    """One line of a table: what was compared, in which unit the truth is, and the agreement of every seed."""

    label: str
    unit: str
    agreements: tuple[Mapping[str, float | None], ...]


def rows_by_truth(seeds: Sequence[Sequence[Evaluation]]) -> list[Row]:
    """A row per truth, from the overall evaluations of every seed."""
    overall = [one for seed in seeds for one in seed if one.high is None]
    return [
        Row(truth_label(name, unit), unit, tuple(one.agreement for one in overall if one.truth == name))
        for name, unit in {one.truth: one.unit for one in overall}.items()
    ]


def rows_by_range(seeds: Sequence[Sequence[Evaluation]]) -> list[Row]:
    """A row per range of true distance, from the evaluations by range of every seed, all against one truth.

    Where every seed has its own data, the ranges of the observed truth differ from seed to seed. The first range of one
    seed is then put beside the first of another, and the row is named by its place.
    """
    rows = []
    for place, parts in enumerate(zip(*seeds, strict=True), start=1):
        first = parts[0]
        same = all((part.low, part.high) == (first.low, first.high) for part in parts)
        name = f"{first.low:.4g} to {first.high:.4g}" if same else f"range {place} of {len(seeds[0])}"
        rows.append(Row(f"{first.truth}, {name}", first.unit, tuple(part.agreement for part in parts)))
    return rows


def truth_label(name: str, unit: str) -> str:
    """A truth's name with its unit, unless they are the same."""
    return name if name == unit else f"{name} ({unit})"


def agreement_table(rows: Sequence[Row], title: str | None = None, heading: str = "truth") -> Table:
    """The rows as a table for the terminal."""
    from rich import box
    from rich.table import Table

    header, lines = agreement_cells(rows, heading)
    table = Table(title=title, caption=_caption(rows), box=box.SIMPLE_HEAD, padding=(0, 1))
    table.title_justify = table.caption_justify = "left"
    for k, name in enumerate(header):
        longest_word = max(len(word) for word in name.split())
        table.add_column(name, justify="left" if k == 0 else "right", no_wrap=k < 2, min_width=longest_word)
    for line in lines:
        # A narrow terminal breaks text at spaces: the spread may move to the next line, but keeps its sign.
        table.add_row(*(cell.replace("± ", "±") for cell in line))
    return table


def agreement_cells(rows: Sequence[Row], heading: str = "truth") -> tuple[list[str], list[list[str]]]:
    """The header and the lines as text; measures that only some tasks have appear where there is a value."""
    agreements = [one for row in rows for one in row.agreements]
    measures = [
        measure
        for measure in MEASURES
        if measure.always_there or any(one.get(measure.field) is not None for one in agreements)
    ]
    header = [heading, "pairs", *(measure.heading for measure in measures)]
    lines = []
    for row in rows:
        pairs = sorted({int(one.get("pairs") or 0) for one in row.agreements})
        count = f"{pairs[0]}" if len(pairs) == 1 else f"{pairs[0]}–{pairs[-1]}"
        lines.append([row.label, count, *(_mean_and_spread(row, measure) for measure in measures)])
    return header, lines


def _mean_and_spread(row: Row, measure: Measure) -> str:
    """Mean and standard deviation over the seeds that have a value, and how many have one if not all do."""
    if measure not in measures_for(row.unit):
        return _NOTHING
    values = np.array([one.get(measure.field) for one in row.agreements], dtype=np.float64)
    usable = values[np.isfinite(values)]
    if usable.size == 0:
        return _NOTHING
    text = f"{usable.mean():.{measure.decimals}f}"
    if usable.size > 1:
        text += f" ± {usable.std(ddof=1):.{measure.decimals}f}"
    return text if usable.size == values.size else f"{text} ({usable.size}/{values.size})"


def _caption(rows: Sequence[Row]) -> str | None:
    seeds = max((len(row.agreements) for row in rows), default=0)
    return f"Mean ± standard deviation over {seeds} seeds; (k/n) where only k have a value." if seeds > 1 else None
