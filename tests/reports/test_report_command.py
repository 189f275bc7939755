"""`minaction report`: what it writes, and what it says to bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

from minaction.commands._options import Report
from minaction.commands._report import report
from minaction.errors import InputError


def page_data(text: str) -> dict[str, Any]:
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_a_page_with_figures_and_tables(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, figures, tables = tmp_path / "new/report.html", tmp_path / "figures", tmp_path / "tables"
    assert report(Report((suite,), page, figures, tables)) == 0
    said = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert {Path(path) for kind, path in said if kind != "report"} == {*figures.iterdir(), *tables.iterdir()}
    names = {path.name for path in figures.iterdir()}
    assert {"curves-cliffwalking-true.png", "curves-cliffwalking-true.svg"} <= names
    assert "ablation-latent-dimension-maddist-on-cliffwalking-true.svg" in names
    assert imread(figures / "curves-cliffwalking-true.png").std() > 0.05
    assert "<svg" in (figures / "curves-cliffwalking-true.svg").read_text()
    assert "| task | method |" in (tables / "agreement.md").read_text()
    assert r"\toprule" in (tables / "planning.tex").read_text()
    assert not list(tmp_path.rglob(".*"))  # nothing half-written


def break_line(metrics: Path, number: int) -> None:
    """Cut a line short, and add one behind it: a last line that breaks off is only what a kill leaves."""
    lines = metrics.read_text().splitlines()
    metrics.write_text("\n".join([*lines[: number - 1], lines[number - 1][:-50], lines[0]]) + "\n")


def test_bad_input_ends_in_one_sentence_and_exit_code_2(runs: Path, tmp_path: Path) -> None:
    metrics = runs / "cliff-maddist/metrics.jsonl"
    break_line(metrics, 16)
    command = [sys.executable, "-m", "minaction", "report", str(metrics.parent), "-o", str(tmp_path / "report.html")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert f"Line 16 of {metrics}" in result.stderr
    assert not (tmp_path / "report.html").exists()


def test_a_broken_run_is_named_and_the_others_are_reported(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = runs / "cliff-maddist/metrics.jsonl"
    break_line(metrics, 16)
    assert report(Report((runs,), tmp_path / "report.html")) == 0
    said = capsys.readouterr().out
    assert f"{metrics.parent} is left out: Line 16 of {metrics}" in said
    text = (tmp_path / "report.html").read_text()
    assert str(metrics) in text
    labels = [label for chart in page_data(text)["charts"] for label in chart["labels"]]
    assert [label.split()[0] for label in labels] == ["tautdist", "maddist"]


def test_a_model_of_a_newer_version_is_named_and_the_others_are_explored(runs: Path, tmp_path: Path) -> None:
    model = runs / "cliff-maddist/seed-1.safetensors"
    newer = model.read_bytes().replace(b'\\"format\\": 2', b'\\"format\\": 9')
    assert newer != model.read_bytes()
    model.write_bytes(newer)
    assert report(Report((runs,), tmp_path / "report.html")) == 0
    text = (tmp_path / "report.html").read_text()
    assert f"cannot be explored: {model} was written by a newer version" in text
    boards = page_data(text)["explorer"]["boards"]
    models = [(one["method"].split()[0], one["seed"]) for board in boards for one in board["models"]]
    assert sorted(models) == [("maddist", 0), ("maddist", 0), ("tautdist", 0), ("tautdist", 1)]


def test_runs_are_given_and_the_page_is_named_html(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to report"):
        report(Report((), tmp_path / "report.html"))
    with pytest.raises(InputError, match=r"\.html"):
        report(Report((runs,), tmp_path / "report.pdf"))


def test_an_unfinished_run_is_shown_with_a_note(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "cliff-maddist/results.json").unlink()
    shutil.rmtree(runs / "cliff-tautdist")
    assert report(Report(tuple(runs.iterdir()), tmp_path / "report.html")) == 0
    assert "is not finished: it is at step 240 of 240" in capsys.readouterr().out
    text = (tmp_path / "report.html").read_text()
    assert "is not finished" in text
    data = page_data(text)
    assert data["charts"][0]["title"] == "cliffwalking"
    assert [board["task"] for board in data["explorer"]["boards"]] == ["ogbench-pointmaze-medium-stitch"]
