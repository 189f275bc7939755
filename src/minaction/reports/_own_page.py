"""The page about a person's own recording: what was read, and what the model says of it; no truth is known."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from .. import __version__
from .._files import atomic_write
from .._health import Health
from .._model import DistanceModel
from ..tasks import Source
from ..training._run import Run
from ..validation import check_data
from ._curves import charts_by_task
from ._own_data import column_lines, facts, loss_curves, map_data, timelines
from ._rendering import TextTable
from ._summary import report_tables
from ._templates import PAGES
from ._trials import read_trials

_SCRIPTS = ("explorer.js", "pictures.js", "own.js")


def write_own_page(path: str | Path, run: Run, source: Source) -> None:
    """Write the page of a finished run; `source` is its data, which has to be readable."""
    seed = run.config.seeds[0]
    model, recording = DistanceModel.load(run.model_path(seed)), source.data(seed)
    shown, left_out = timelines(model, recording)
    map_ = map_data(model, recording)
    data = {
        "explorer": {"boards": [], "fields": [map_.pop("field")]},
        "pictures": map_.pop("pictures"),
        "map": map_,
        "timelines": shown,
        "curves": loss_curves(run.metrics),
        "unit": model.unit or "actions",
        "clock": model.unit or "steps",
    }
    (chart,) = charts_by_task(read_trials([run.path]).trials)
    tables = {table.name: table.html() for table in report_tables([chart], [])}
    name = Path(run.config.data).name
    text = PAGES.page(
        "own.html",
        data,
        _SCRIPTS,
        ["page.css"],
        title=f"{name}: how far apart its states are",
        subtitle=f"{run.config.label}, {run.config.steps:,} gradient steps, seed {seed}; distances in {data['unit']}",
        facts=facts(recording, model),
        columns=_column_table(column_lines(recording)),
        warnings=check_data(recording),
        health=model.health,
        health_lines=_health_lines(model.health),
        agreement=tables.get("agreement"),
        left_out=left_out,
        pictures=data["pictures"] is not None,
        version=__version__,
    )
    with atomic_write(path, "w") as file:
        file.write(text)


def _column_table(lines: list[list[str]]) -> Markup | None:
    if not lines:
        return None
    header = ["column", "smallest", "largest"]
    return TextTable("columns", "Columns of the state", header, lines, labels=1).html()


def _health_lines(health: Health | None) -> list[tuple[str, str]]:
    if health is None:
        return []
    numbers = [
        ("a single step measures", health.single_step, "{:.2f} steps; right is 1"),
        ("random pairs measure", health.random_pairs, "{:.1f} steps"),
        ("too long on held-out pairs by", health.excess, "{:.1%}"),
        ("on pairs that are new by", health.novel_excess, "{:.1%}"),
        ("correlation with shortest paths of the recording", health.agreement, "{:.3f}"),
        ("seeds differ by", health.disagreement, "{:.1%}"),
        ("states known from training", health.recorded_share, "{:.0%}"),
    ]
    return [(name, form.format(value)) for name, value, form in numbers if value is not None]
