"""The report as one self-contained file: it opens offline, asks nobody for anything, and can be sent to somebody."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from .._files import atomic_write
from ._curves import BEST, Chart, chart_by_range, chart_data, charts_by_ablation, charts_by_task
from ._fields import Progress, TruthsOf, explorer_data, task_truths
from ._records import Record, Records
from ._rendering import TextTable
from ._summary import agreement_table, improvement_table, planning_table, statistics_table, verdict_table
from ._tables import MEASURES
from ._verdict import paper_truth, published_curve, verdicts

MOST_BYTES = 5 << 20
_SPARE_BYTES = 100 << 10  # of the page for what is not known before the fields are
_FEW_LINES = 12  # so short a table of final numbers is shown without being asked for
_SCRIPTS = ("page.js", "charts.js", "explorer.js")


def report_tables(charts: Sequence[Chart], ablations: Sequence[Chart]) -> list[TextTable]:
    """Every table that has something in it, as the page and the folder of tables show it."""
    compared = len({method for chart in charts for method in chart.groups}) > 1
    tables = [
        verdict_table(verdicts(charts)),
        planning_table(charts),
        agreement_table(charts, "agreement", "Agreement with the truth"),
        statistics_table(charts) if len(charts) > 1 or compared else None,
        improvement_table(charts) if compared else None,
        agreement_table(ablations, "ablations", "Ablations"),
    ]
    return [table for table in tables if table is not None and table.lines]


def write_page(
    path: str | Path, found: Records, truths_of: TruthsOf = task_truths, progress: Progress | None = None
) -> None:
    """Write the page; `progress` is told how many of the models' fields are computed."""
    charts, ablations = charts_by_task(found.main), charts_by_ablation(found.ablations)
    data = {
        "measures": [
            {"key": one.field, "heading": one.heading, "decimals": one.decimals, "best": BEST.get(one.field)}
            for one in MEASURES
        ],
        "charts": [_with_published(chart) for chart in charts],
        "ablations": [chart_data(one) for chart in ablations for one in (chart, chart_by_range(chart)) if one],
    }
    tables = report_tables(charts, ablations)
    size = len(_json(data)) + sum(len(table.html()) for table in tables) + _SPARE_BYTES
    explorer, notes = explorer_data(found.main or found.records, max(0, MOST_BYTES - size), truths_of, progress)
    text = _page(found, {**data, "explorer": explorer}, tables, [*found.notes, *notes])
    with atomic_write(path, "w") as file:
        file.write(text)


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


def _page(found: Records, data: dict[str, Any], tables: Sequence[TextTable], notes: Sequence[str]) -> str:
    script = "\n".join(map(_asset, _SCRIPTS))
    style = _asset("page.css")
    by_name = {table.name: table for table in tables}
    parts = {
        "title": html.escape(_title(found.main or found.records)),
        "subtitle": html.escape(_subtitle(found.records)),
        "policy": f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}",
        "style": style,
        "script": script,
        "data": _json(data),
        "notes": "".join(f"<li>{html.escape(note)}</li>" for note in notes),
        "open": " open" if "agreement" in by_name and len(by_name["agreement"].lines) <= _FEW_LINES else "",
        "tally": _tally(by_name.get("verdict")),
        "version": html.escape(__version__),
    }
    text = _asset("template.html")
    for name in ("explorer", "curves", "ablations", "verdict", "planning", "statistics", "notes"):
        text = _keep_or_drop(text, name, keep=bool(notes) if name == "notes" else _is_shown(name, data, by_name))
    for name in ("verdict", "planning", "statistics", "improvement", "agreement", "ablations"):
        parts[f"table-{name}"] = by_name[name].html() if name in by_name else ""
    # In one pass, so that a text that looks like a mark is never taken for one.
    return re.sub(r"\{\{([a-z-]+)\}\}", lambda mark: parts[mark.group(1)], text)


def _tally(table: TextTable | None) -> str:
    """How many published numbers we match or beat."""
    words = Counter(line[-1].split()[-1] for line in table.lines) if table else Counter()
    early = f"; {words['steps']} cannot be compared yet, after fewer steps" if words["steps"] else ""
    return (
        f"Of {words.total()} published numbers, ours are better in {words['better']}, the same in {words['same']}, "
        f"worse in {words['worse']}; {words['within']} lie within the range of our seeds{early}."
    )


def _is_shown(name: str, data: dict[str, Any], tables: dict[str, TextTable]) -> bool:
    if name == "explorer":
        return bool(data["explorer"]["boards"])
    if name in ("curves", "ablations"):
        return any(chart["truths"] for chart in data["charts" if name == "curves" else "ablations"])
    return name in tables


def _keep_or_drop(text: str, name: str, *, keep: bool) -> str:
    """The text with everything between <!-- name --> and <!-- /name -->, or without it."""
    pattern = rf"<!-- {name} -->(.*?)<!-- /{name} -->"
    return re.sub(pattern, (lambda found: found.group(1)) if keep else "", text, flags=re.DOTALL)


def _title(records: Sequence[Record]) -> str:
    tasks = list(dict.fromkeys(Path(record.task).name for record in records))
    methods = list(dict.fromkeys(record.method for record in records))
    if len(tasks) == 1:
        return f"{tasks[0]}: how many actions apart" + (f", by {methods[0]}" if len(methods) == 1 else "")
    return f"How many actions apart: {len(tasks)} tasks, {len(methods)} methods"


def _subtitle(records: Sequence[Record]) -> str:
    seeds, steps = {record.seed for record in records}, sorted({record.steps for record in records})
    devices = sorted({record.device for record in records} - {""})
    shown = f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}"
    parts = [
        f"{len(records)} trained model{'s' * (len(records) > 1)}",
        f"{len(seeds)} seed{'s' * (len(seeds) > 1)}",
        f"{shown} gradient steps",
        *([f"trained on {', '.join(devices)}"] if devices else []),
    ]
    return " · ".join(parts)


def _asset(name: str) -> str:
    return (Path(__file__).parent / "page" / name).read_text(encoding="utf-8")


def _json(data: dict[str, Any]) -> str:
    """Compact, and without the characters by which it could end the element that it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    """What a content security policy calls this one script or style by; no other is run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
