"""What a finished run leaves in its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from minaction.reports import _run, write_report
from minaction.reports._figures import Field
from minaction.tasks import Layout, Source, Truth
from minaction.training import Run


def test_curves_a_landscape_and_a_page_are_written_and_returned(runs: Path) -> None:
    run = Run.open(runs / "cliff-maddist")
    written = write_report(run, Source("cliffwalking", run.config.seeds))
    assert written == [run.path / name for name in ("curves.png", "landscape.png", "report.html")]
    assert all(imread(path).std() > 0.05 for path in written[:2])
    data = json.loads(written[2].read_text().split('id="data">')[1].split("</script>")[0])
    assert [model["seed"] for model in data["explorer"]["boards"][0]["models"]] == [0, 1]


def test_data_without_a_truth_or_a_layout_has_a_page_alone(runs: Path, change_config: Callable[..., None]) -> None:
    path = runs / "cliff-maddist"
    results = json.loads((path / "results.json").read_text())
    (path / "results.json").write_text(json.dumps({**results, "evaluations": []}))
    (path / "metrics.jsonl").unlink()
    change_config(path, data="log.npz")
    assert write_report(Run.open(path), Source("log.npz")) == [path / "report.html"]
    assert "no truth is known" in (path / "report.html").read_text()


@pytest.mark.parametrize(
    ("units", "shown"),
    [(["time"], ["time", "time"]), (["cells"], ["steps", "cells"]), (["cells", "s"], ["s", "cells"])],
)
def test_the_learned_landscape_has_the_unit_of_the_data(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, units: list[str], shown: list[str]
) -> None:
    drawn: list[list[Field]] = []

    def catch(path: Path, layout: Layout, rows: list[list[Field]], chosen: int, title: str) -> None:
        drawn.extend(rows)

    monkeypatch.setattr(_run, "landscape", catch)
    layout = Source("cliffwalking").layout
    assert layout is not None
    distances = np.ones((len(layout.states), len(layout.states)))
    truths = [Truth.between("true", unit, layout.states, distances) for unit in units]
    model = trained / "cliff-maddist/seed-0.safetensors"
    _run.draw_landscape(tmp_path / "x.png", model, layout, truths, "cliff")
    assert [[one.unit for one in row] for row in drawn] == [shown, shown]
