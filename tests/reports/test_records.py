"""Runs and stores of suites are read into the same records, and what is broken is refused with a sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.reports._curves import charts_by_ablation, charts_by_task
from minaction.reports._records import Record, read_records


def test_a_run_gives_a_record_per_seed_with_what_its_files_say(trained: Path) -> None:
    found = read_records([trained / "cliff-maddist"])
    assert [record.seed for record in found.records] == [0, 1]
    lines = [json.loads(line) for line in (trained / "cliff-maddist/metrics.jsonl").read_text().splitlines()]
    for record in found.records:
        assert record.curve == tuple((line["step"], line["agreement"]) for line in lines if line["seed"] == record.seed)
        assert record.final == record.curve[-1][1]
        assert record.model == trained / f"cliff-maddist/seed-{record.seed}.safetensors"
    assert found.notes == ()


def test_runs_and_suites_mix_and_mean_the_same(trained: Path, store: Path) -> None:
    runs, suite = read_records([trained]), read_records([store])
    key = {(record.task, record.objective, record.seed): record for record in runs.records}
    assert len(suite.main) == len(runs.records) == 5
    for record in suite.main:
        same = key[record.task, record.objective, record.seed]
        assert (record.curve, record.final, record.by_range) == (same.curve, same.final, same.by_range)
    # A folder given twice counts once; equal methods of two origins are told apart.
    assert len(read_records([trained, trained / "cliff-maddist"]).records) == 5
    assert len(read_records([trained, store]).main) == 10


def test_equal_methods_of_two_runs_are_told_apart(runs: Path) -> None:
    shutil.copytree(runs / "cliff-maddist", runs / "again")
    methods = {record.method for record in read_records([runs]).records if record.objective == "maddist"}
    assert sum("[again]" in method for method in methods) == 1
    assert sum("[cliff-maddist]" in method for method in methods) == 1


def test_charts_hold_the_tasks_in_order_and_ablations_by_value(store: Path) -> None:
    found = read_records([store])
    assert next(chart.title for chart in charts_by_task(found.main)) == "cliffwalking"
    (study,) = charts_by_ablation(found.ablations)
    assert study.title == "latent-dimension: maddist on cliffwalking"
    assert list(study.groups) == ["latent = 16", "latent = 128"]


def test_a_curve_has_the_mean_and_range_of_its_seeds_and_gaps_where_one_stopped(runs: Path) -> None:
    path = runs / "cliff-tautdist/metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [line for line in lines if not (line["seed"] == 1 and line["step"] > 100)]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    (runs / "cliff-tautdist/results.json").unlink()
    found = read_records([runs / "cliff-tautdist"])
    assert "step 90 of 240" in found.notes[1]
    curve = charts_by_task(found.records)[0].curve(found.records[0].method, "true", "pearson")
    assert curve is not None
    by_step = {step: [x["agreement"]["true"]["pearson"] for x in kept if x["step"] == step] for step in curve.steps}
    mean, low, high = curve.band()
    np.testing.assert_allclose(mean, [np.mean(values) for values in by_step.values()])
    np.testing.assert_allclose(low, [min(values) for values in by_step.values()])
    np.testing.assert_allclose(high, [max(values) for values in by_step.values()])
    assert {len(values) for values in by_step.values()} == {1, 2}


def test_what_was_hardly_begun_is_left_out_with_a_line(runs: Path) -> None:
    for name in ("metrics.jsonl", "results.json"):
        (runs / "maze-maddist" / name).unlink()
    found = read_records([runs])
    assert len(found.records) == 4
    assert any("left out" in note for note in found.notes)


def test_a_goal_of_ones_own_is_no_part_of_the_planning_table(store: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(store, tmp_path / "store"))
    (path,) = copy.rglob("planning-learned.json")
    result = json.loads(path.read_text())
    assert "learned" in maze(read_records([copy]).main).planning
    result["0"]["tasks"] = [{**result["0"]["tasks"][0], "task": 0}]
    path.write_text(json.dumps(result))
    assert set(maze(read_records([copy]).main).planning) == {"truth", "euclidean"}


def maze(records: tuple[Record, ...]) -> Record:
    return next(record for record in records if "pointmaze" in record.task)


def broken(runs: Path, what: str) -> Path:
    """The runs with something wrong in them."""
    run = runs / "cliff-maddist"
    if what == "truncated":
        text = (run / "metrics.jsonl").read_text()
        (run / "metrics.jsonl").write_text(text[: len(text) // 2])
    elif what == "not of this version":
        (run / "config.json").write_text('{"data": "cliffwalking"}')
    elif what == "another version":
        (runs / "suite.json").write_text('{"format": 7, "version": "9.0"}')
    elif what == "not a cell":
        (runs / "suite.json").write_text('{"format": 1}')
        (runs / "cells/a/b/seed-0").mkdir(parents=True)
        (runs / "cells/a/b/seed-0/config.json").write_text('{"task": "cliffwalking"}')
    elif what == "not readable JSON":
        (run / "results.json").write_text("{")
    elif what == "Nothing was measured":
        for name in ("metrics.jsonl", "results.json"):
            (run / name).unlink()
        return run
    elif what == "is not a run or a suite":
        (runs / "empty").mkdir()
        return runs / "empty"
    elif what == "is not a folder":
        return runs / "missing"
    return runs


@pytest.mark.parametrize(
    "what",
    [
        "truncated",
        "not of this version",
        "another version",
        "not a cell",
        "not readable JSON",
        "Nothing was measured",
        "is not a run or a suite",
        "is not a folder",
    ],
)
def test_bad_folders_are_refused_with_one_sentence(runs: Path, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        read_records([broken(runs, what)])
    assert "\n" not in str(caught.value)
