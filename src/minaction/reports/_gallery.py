"""Figures for papers, as PNG and SVG: the learning curves of every task, and of every ablation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ._curves import BEST, Chart, chart_by_range
from ._figures import Panel, learning_curves
from ._tables import measures_for
from ._verdict import paper_truth, published_curve

_DRAWN = ("pearson", "spearman", "ratio_cv")  # what the paper draws


def write_figures(folder: Path, charts: Sequence[Chart], ablations: Sequence[Chart]) -> list[Path]:
    """Draw every chart against each of its truths; returns the files."""
    written = []
    ranges = [chart for one in ablations if (chart := chart_by_range(one)) is not None]
    for prefix, some in (("curves", charts), ("ablation", [*ablations, *ranges])):
        for chart in some:
            for truth in chart.truths:
                name = file_name(f"{prefix}-{Path(chart.title).stem if prefix == 'curves' else chart.title}-{truth}")
                paths = [folder / f"{name}{suffix}" for suffix in (".png", ".svg")]
                for path in paths:
                    draw_chart(path, chart, truth)
                written += paths
    return written


def draw_chart(path: Path, chart: Chart, truth: str, measures: Sequence[str] = _DRAWN) -> None:
    """Draw the chart's curves against one truth, a panel per measure, with the published values."""
    panels = []
    for measure in (one for one in measures_for(chart.units[truth]) if one.field in measures):
        found = {label: chart.curve(label, truth, measure.field) for label in chart.groups}
        curves = {label: curve for label, curve in found.items() if curve is not None}
        published = {
            label: known[1][-1]
            for label in curves
            if truth == paper_truth(chart.truths) and (known := published_curve(chart.title, label, measure.field))
        }
        panels.append(
            Panel(
                measure.heading,
                {label: curve.values for label, curve in curves.items()},
                best=BEST.get(measure.field),
                published=published,
                steps={label: curve.steps for label, curve in curves.items()},
                axis=chart.axis,
            )
        )
    learning_curves(path, (), panels, title=f"{chart.title}, against the truth {truth!r}")


def file_name(text: str) -> str:
    """Text as a file name: letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "unnamed"
