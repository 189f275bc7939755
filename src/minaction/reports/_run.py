"""What a finished run leaves to look at: learning curves, a map of distances, and its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._model import DistanceModel
from ..errors import InputError
from ..tasks import Layout, Source, Truth
from ..training._run import Run
from ._curves import charts_by_task
from ._figures import Field, landscape
from ._gallery import draw_chart
from ._own_page import write_own_page
from ._trials import read_trials
from ._webpage import write_page


def write_report(run: Run, source: Source) -> list[Path]:
    """Write the figures and the page of a finished run into its folder; returns the files.

    `source` is the run's data.
    """
    found, seed, drawn = read_trials([run.path]), run.config.seeds[0], []
    # An ablation's run is reported like any other: there is nothing beside it to compare with.
    (chart,) = charts_by_task(found.trials)
    if chart.truths:
        drawn.append(run.path / "curves.png")
        draw_chart(drawn[-1], chart, chart.truths[0], ("pearson", "ratio_cv"))
    if source.layout is not None:
        drawn.append(run.path / "landscape.png")
        draw_landscape(drawn[-1], run.model_path(seed), source.layout, source.truths(seed), name=run.config.data)
    page = run.path / "report.html"
    if is_own(source):
        write_own_page(page, run, source)
    else:
        write_page(page, found, source=source)
    return [*drawn, page]


def is_own(source: Source) -> bool:
    """Whether the data is a person's own recording, and can still be read."""
    try:
        return source.task is None and source.data(source.seeds[0]) is not None
    except InputError:
        return False


def draw_landscape(path: Path, model_path: Path, layout: Layout, truths: Sequence[Truth], name: str) -> None:
    """Draw the distances to and from a state in the middle, learned beside true where the truth covers the layout."""
    model = DistanceModel.load(model_path)
    chosen = len(layout.states) // 2
    state = layout.states[chosen : chosen + 1]
    # The learned distances are in the data's time unit, and so is every truth but that in cells.
    unit = next((truth.unit for truth in truths if truth.unit != "cells"), "steps")
    to = [Field("learned, to the marked state", model.pairwise(layout.states, state)[:, 0], unit)]
    back = [Field("learned, from the marked state", model.pairwise(state, layout.states)[0], unit)]
    for truth in truths[:1]:
        if np.array_equal(truth.sources, layout.states):
            to.append(Field("true, to the marked state", truth.distances[:, chosen], truth.unit))
            back.append(Field("true, from the marked state", truth.distances[chosen], truth.unit))
    landscape(path, layout, [to, back], chosen, title=f"{name}: learned distances")
