"""What a finished run leaves to look at: learning curves, a landscape of distances, and one page with both."""

from __future__ import annotations

import base64
import html
from pathlib import Path

import numpy as np

from ..evaluation import Agreement
from ..files import atomic_write
from ..model import DistanceModel
from ..tasks import Layout, Truth
from ..training.run import RunDirectory
from ..training.session import Source
from .figures import Field, Panel, landscape, learning_curves
from .tables import agreement_cells, rows_by_truth

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1b1e23 }}
  table {{ border-collapse: collapse; display: block; overflow-x: auto }}
  th, td {{ padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #d8dce2 }}
  th:first-child, td:first-child {{ text-align: left }}
  img {{ max-width: 100% }} p.small {{ color: #5a6270; font-size: .9rem }}
</style>
<h1>{title}</h1>
<p>{settings}</p>
{table}
<p class="small">{caption}</p>
{figures}
</html>
"""


def write_report(run: RunDirectory, source: Source) -> list[Path]:
    """The run's pictures and a page that shows them with the table; returns what was written."""
    truths = source.truths(0)
    drawn = []
    if truths and run.metrics():
        drawn.append(run.path / "curves.png")
        _draw_curves(drawn[-1], run, truths)
    layout = source.layout()
    if layout is not None:
        drawn.append(run.path / "landscape.png")
        _draw_landscape(drawn[-1], run, layout, truths)
    page = run.path / "report.html"
    _write_page(page, run, truths, drawn)
    return [*drawn, page]


def _draw_curves(path: Path, run: RunDirectory, truths: list[Truth]) -> None:
    """Pearson and Ratio CV against every truth, over the course of training."""
    rows, seeds = run.metrics(), run.config.seeds

    def series(measure: str) -> dict[str, np.ndarray]:
        return {
            f"{run.config.objective}, {truth.name}": np.array(
                [[row["agreement"][truth.name][measure] for row in rows if row["seed"] == seed] for seed in seeds],
                dtype=float,  # None, a measure without a value, becomes NaN
            )
            for truth in truths
        }

    panels = [
        Panel("Pearson correlation", series("pearson"), best=1.0),
        Panel("Ratio CV", series("ratio_cv"), best=0.0),
    ]
    learning_curves(path, sorted({row["step"] for row in rows}), panels, title=run.config.data)


def _draw_landscape(path: Path, run: RunDirectory, layout: Layout, truths: list[Truth]) -> None:
    """Distances to and from a state in the middle, learned beside true where the truth covers the picture."""
    model = DistanceModel.load(run.model_path(run.config.seeds[0]))
    chosen = len(layout.states) // 2
    state = layout.states[chosen : chosen + 1]
    to = [Field("learned, to the marked state", model.pairwise(layout.states, state)[:, 0])]
    back = [Field("learned, from the marked state", model.pairwise(state, layout.states)[0])]
    for truth in truths[:1]:
        if truth.sources.shape == layout.states.shape and np.array_equal(truth.sources, layout.states):
            to.append(Field("true, to the marked state", truth.distances[:, chosen]))
            back.append(Field("true, from the marked state", truth.distances[chosen]))
    landscape(path, layout, [to, back], chosen, title=f"{run.config.data}: how many actions apart")


def _write_page(path: Path, run: RunDirectory, truths: list[Truth], figures: list[Path]) -> None:
    """One self-contained file: it opens offline and can be sent to somebody."""
    config, results = run.config, run.results()
    seeds = [{name: Agreement.from_dict(v) for name, v in seed.items()} for seed in results["agreement"]]
    header, lines = agreement_cells(rows_by_truth(seeds, truths)) if truths else ([], [])
    cells = [("th", header), *(("td", line) for line in lines)]
    table = "".join(
        "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in line) + "</tr>" for tag, line in cells
    )
    images = [
        f'<p><img alt="{figure.stem}" src="data:image/png;base64,{base64.b64encode(figure.read_bytes()).decode()}"></p>'
        for figure in figures
    ]
    settings = (
        f"{config.objective}, {config.steps:,} steps, seeds {', '.join(map(str, config.seeds))}, "
        f"{results['seconds']:.0f} s on {results['device']}, minaction {results['version']}"
    )
    with atomic_write(path, "w") as file:
        file.write(
            _PAGE.format(
                title=html.escape(f"{config.data}: how many actions apart"),
                settings=html.escape(settings),
                table=f"<table>{table}</table>" if truths else "<p>No truth is known for this data.</p>",
                caption="Mean and standard deviation over seeds. Ratio CV is the spread of learned over true distance, "
                "0 if they are proportional; the mean ratio is 1 if unbiased; errors are in actions.",
                figures="".join(images),
            )
        )
