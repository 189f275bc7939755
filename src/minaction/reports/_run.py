"""What a finished run leaves to look at: learning curves, a landscape of distances, and the page of one run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._model import DistanceModel
from ..tasks import Layout, Truth
from ..training._run import RunDirectory
from ..training._session import Source
from ._curves import charts_by_task
from ._figures import Field, landscape
from ._gallery import draw_chart
from ._records import read_records
from ._webpage import write_page


def write_report(run: RunDirectory, source: Source) -> list[Path]:
    """The run's pictures and its page; returns what was written."""
    found, truths, drawn = read_records([run.path]), source.truths(0), []
    if truths:
        drawn.append(run.path / "curves.png")
        draw_chart(drawn[-1], charts_by_task(found.records)[0], truths[0].name, ("pearson", "ratio_cv"))
    layout = source.layout()
    if layout is not None:
        drawn.append(run.path / "landscape.png")
        draw_landscape(drawn[-1], run.model_path(run.config.seeds[0]), layout, truths, name=run.config.data)
    page = run.path / "report.html"
    write_page(page, found, truths_of=lambda record: source.truths(run.config.seeds.index(record.seed)))
    return [*drawn, page]


def draw_landscape(path: Path, model_path: Path, layout: Layout, truths: list[Truth], name: str) -> None:
    """Distances to and from a state in the middle, learned beside true where the truth covers the picture."""
    model = DistanceModel.load(model_path)
    chosen = len(layout.states) // 2
    state = layout.states[chosen : chosen + 1]
    to = [Field("learned, to the marked state", model.pairwise(layout.states, state)[:, 0])]
    back = [Field("learned, from the marked state", model.pairwise(state, layout.states)[0])]
    for truth in truths[:1]:
        if truth.sources.shape == layout.states.shape and np.array_equal(truth.sources, layout.states):
            to.append(Field("true, to the marked state", truth.distances[:, chosen]))
            back.append(Field("true, from the marked state", truth.distances[chosen]))
    landscape(path, layout, [to, back], chosen, title=f"{name}: how many actions apart")
