"""The report as one self-contained file: it opens offline, requests nothing, and can be sent to someone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from .._files import atomic_write
from .._pages import inline_json
from .._progress import OnProgress
from ..runtimes.javascript import SCRIPT
from ..tasks import Source
from ._curves import BEST, Chart, chart_by_range, chart_data, charts_by_ablation, charts_by_task
from ._fields import explorer_data
from ._rendering import TextTable
from ._summary import report_tables
from ._tables import MEASURES
from ._templates import PAGES
from ._trials import Trial, Trials
from ._verdict import paper_truth, published_curve, verdicts

MOST_BYTES = 5 << 20
_SPARE_BYTES = 100 << 10  # of the page, for what is not known before the explorer is made
_FEW_LINES = 12  # a table of final numbers that is this short is shown without being opened
_SCRIPTS = (SCRIPT, "charts.js", "explorer.js")
_SECTIONS = ("explorer", "curves", "verdict", "planning", "ablations", "statistics")


def write_page(
    path: str | Path, found: Trials, *, source: Source | None = None, progress: OnProgress | None = None
) -> list[str]:
    """Write the page; returns notes on what the explorer leaves out, which the page shows too.

    `source` is the data of the trials, if it is loaded already. `progress` is called with the number of models whose
    distances are computed, and their total.
    """
    charts, ablations = charts_by_task(found.main), charts_by_ablation(found.ablations)
    data: dict[str, Any] = {
        "measures": [
            {"key": one.field, "heading": one.heading, "decimals": one.decimals, "best": BEST.get(one.field)}
            for one in MEASURES
        ],
        "charts": [_with_published(chart) for chart in charts],
        "ablations": [chart_data(one) for chart in ablations for one in (chart, chart_by_range(chart)) if one],
    }
    tables = {table.name: table for table in report_tables(charts, ablations)}
    rendered = {name: table.html() for name, table in tables.items()}
    size = len(inline_json(data)) + sum(map(len, rendered.values())) + _SPARE_BYTES
    explorer, notes = explorer_data(found.main or found.trials, max(0, MOST_BYTES - size), source, progress)
    data["explorer"] = explorer
    text = PAGES.page(
        "page.html",
        data,
        _SCRIPTS,
        ["page.css"],
        title=_title(found.main or found.trials),
        subtitle=_subtitle(found.trials),
        sections=[name for name in _SECTIONS if _is_shown(name, data, tables)],
        tables=rendered,
        agreement_is_short="agreement" in tables and len(tables["agreement"].lines) <= _FEW_LINES,
        tally=_tally(charts),
        notes=[*found.notes, *notes],
        version=__version__,
    )
    with atomic_write(path, "w") as file:
        file.write(text)
    return notes


def _with_published(chart: Chart) -> dict[str, Any]:
    """The chart's data, with the published curves of the truth that the paper judges by."""
    published = {
        measure.field: {
            method: known
            for method in chart.groups
            if (known := published_curve(chart.title, method, measure.field)) is not None
        }
        for measure in MEASURES
    }
    return {**chart_data(chart), "published": {"truth": paper_truth(chart.truths), **published}}


def _is_shown(section: str, data: dict[str, Any], tables: dict[str, TextTable]) -> bool:
    if section == "explorer":
        return bool(data["explorer"]["boards"])
    if section in ("curves", "ablations"):
        return any(chart["truths"] for chart in data["charts" if section == "curves" else "ablations"])
    return section in tables


def _tally(charts: Sequence[Chart]) -> str:
    """How many published numbers we match or beat."""
    words = Counter(one.word for one in verdicts(charts))
    early = f"; {words['early']} cannot be compared yet, because we trained for fewer steps" if words["early"] else ""
    return (
        f"Of {words.total()} published numbers, ours are better in {words['better']}, the same in {words['same']} and "
        f"worse in {words['worse']}; {words['within']} lie within the range of our seeds{early}."
    )


def _title(trials: Sequence[Trial]) -> str:
    tasks = list(dict.fromkeys(Path(trial.task).name for trial in trials))
    methods = list(dict.fromkeys(trial.method for trial in trials))
    by = f", learned by {methods[0]}" if len(methods) == 1 else ""
    if len(tasks) == 1:
        return f"Minimum action distance on {tasks[0]}{by}"
    return f"Minimum action distance: {len(tasks)} tasks" + (by or f", {len(methods)} methods")


def _subtitle(trials: Sequence[Trial]) -> str:
    seeds, steps = {trial.seed for trial in trials}, sorted({trial.steps for trial in trials})
    devices = sorted({trial.device for trial in trials} - {""})
    shown = f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}"
    parts = [
        f"{len(trials)} trained model{'s' * (len(trials) > 1)}",
        f"{len(seeds)} seed{'s' * (len(seeds) > 1)}",
        f"{shown} gradient steps",
        *([f"trained on {', '.join(devices)}"] if devices else []),
    ]
    return " · ".join(parts)
