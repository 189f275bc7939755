"""Runs of `train` and of suites are read into the same trials; what is broken becomes a note, or one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.reports import Trial, charts_by_ablation, charts_by_task, read_trials
from minaction.reports._curves import chart_by_range
from minaction.training import Run


def test_a_run_gives_a_trial_per_seed_with_what_its_files_say(trained: Path) -> None:
    found = read_trials([trained / "cliff-maddist"])
    assert [trial.seed for trial in found.trials] == [0, 1]
    lines = [json.loads(line) for line in (trained / "cliff-maddist/metrics.jsonl").read_text().splitlines()]
    results = json.loads((trained / "cliff-maddist/results.json").read_text())["evaluations"]
    for trial in found.trials:
        own = [line for line in lines if line["seed"] == trial.seed]
        curve = [(one["step"], one["truth"], one["agreement"]) for line in own for one in line["evaluations"]]
        assert [(one.step, one.truth, one.agreement) for one in trial.evaluations] == curve
        assert trial.final == trial.evaluations[-2:]
        assert [one.truth for one in trial.final] == ["true", "observed"]
        ranges = [one["agreement"] for one in results if one["seed"] == trial.seed and one["high"] is not None]
        assert [one.agreement for one in trial.by_range] == ranges
        assert len(ranges) == 8
        assert trial.last_step == trial.steps == 240
        assert trial.model == trained / f"cliff-maddist/seed-{trial.seed}.safetensors"
    assert found.notes == ()


def test_runs_and_suites_mix_and_mean_the_same(trained: Path, suite: Path) -> None:
    runs, found = read_trials([trained]), read_trials([suite])
    key = {(trial.task, trial.objective, trial.seed): trial for trial in runs.trials}
    assert len(found.main) == len(runs.trials) == 5
    for trial in found.main:
        same = key[trial.task, trial.objective, trial.seed]
        assert (trial.evaluations, trial.final, trial.by_range) == (same.evaluations, same.final, same.by_range)
    # A folder given twice counts once, also as a part of another; equal methods of two origins are told apart.
    assert len(read_trials([trained, trained / "cliff-maddist"]).trials) == 5
    assert len(read_trials([suite, suite / "cliffwalking/maddist"]).main) == 5
    assert len(read_trials([trained, suite]).main) == 10


def test_a_run_is_found_at_any_depth_behind_links_and_not_in_hidden_folders(trained: Path, tmp_path: Path) -> None:
    deep = tmp_path / "all" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "run").symlink_to(trained / "cliff-maddist", target_is_directory=True)
    (deep / "round").symlink_to(tmp_path / "all", target_is_directory=True)
    shutil.copytree(trained / "cliff-maddist", tmp_path / "all" / ".old" / "run")
    (tmp_path / "all" / "elsewhere").mkdir()
    (tmp_path / "all" / "elsewhere" / "config.json").write_text('{"somebody": "else"}')
    found = read_trials([tmp_path / "all"])
    assert [trial.folder for trial in found.trials] == [deep / "run"] * 2
    assert found.notes == ()


def test_equal_methods_of_two_runs_are_told_apart(runs: Path) -> None:
    shutil.copytree(runs / "cliff-maddist", runs / "again")
    methods = {trial.method for trial in read_trials([runs]).trials if trial.objective == "maddist"}
    assert sum("[again]" in method for method in methods) == 1
    assert sum("[cliff-maddist]" in method for method in methods) == 1


def test_equal_methods_of_runs_of_the_same_name_are_told_apart_by_their_paths(runs: Path) -> None:
    shutil.copytree(runs / "cliff-maddist", runs / "old" / "cliff-maddist")
    found = [trial for trial in read_trials([runs]).trials if "cliff-maddist" in str(trial.folder)]
    assert len({(trial.method, trial.seed) for trial in found}) == len(found) == 4
    assert all(str(trial.folder.resolve()) in trial.method for trial in found)


def test_equal_methods_of_two_suites_are_told_apart_by_the_suites(suite: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(suite, tmp_path / "other"))
    found = read_trials([suite, copy])
    assert {trial.method for trial in found.main if trial.objective == "tautdist"} == {
        "tautdist [small]",
        "tautdist [other]",
    }
    titles = {chart.title for chart in charts_by_ablation(found.ablations)}
    assert titles == {f"latent-dimension: maddist [{name}] on cliffwalking" for name in ("small", "other")}


def test_charts_hold_the_tasks_in_order_and_ablations_by_value(suite: Path) -> None:
    found = read_trials([suite])
    assert next(chart.title for chart in charts_by_task(found.main)) == "cliffwalking"
    (study,) = charts_by_ablation(found.ablations)
    assert study.title == "latent-dimension: maddist on cliffwalking"
    assert list(study.groups) == ["latent = 16", "latent = 128"]


def test_a_chart_by_range_has_the_first_truths_ranges(suite: Path) -> None:
    (study,) = charts_by_ablation(read_trials([suite]).ablations)
    chart = chart_by_range(study)
    assert chart is not None
    assert chart.units == {"true": "steps"}
    assert chart.axis == "true distance up to (steps)"
    trials = chart.groups["latent = 16"]
    curve = chart.curve("latent = 16", "true", "mean_absolute_error")
    assert curve is not None
    assert curve.steps.tolist() == [one.high for one in trials[0].by_range[:4]]
    for values, trial in zip(curve.values, trials, strict=True):
        assert values.tolist() == [one.agreement["mean_absolute_error"] for one in trial.by_range[:4]]


def test_a_curve_has_the_mean_and_range_of_its_seeds_and_gaps_where_one_stopped(runs: Path) -> None:
    path = runs / "cliff-tautdist/metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [line for line in lines if not (line["seed"] == 1 and line["step"] > 100)]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    (runs / "cliff-tautdist/results.json").unlink()
    found = read_trials([runs / "cliff-tautdist"])
    assert "step 90 of 240" in found.notes[1]
    curve = charts_by_task(found.trials)[0].curve(found.trials[0].method, "true", "pearson")
    assert curve is not None
    by_step = {
        step: [x["evaluations"][0]["agreement"]["pearson"] for x in kept if x["step"] == step] for step in curve.steps
    }
    mean, low, high = curve.band()
    np.testing.assert_allclose(mean, [np.mean(values) for values in by_step.values()])
    np.testing.assert_allclose(low, [min(values) for values in by_step.values()])
    np.testing.assert_allclose(high, [max(values) for values in by_step.values()])
    assert {len(values) for values in by_step.values()} == {1, 2}


def test_what_is_not_measured_yet_is_left_out_with_a_note(runs: Path) -> None:
    for name in ("metrics.jsonl", "results.json"):
        (runs / "maze-maddist" / name).unlink()
    found = read_trials([runs])
    assert len(found.trials) == 4
    assert any("left out" in note for note in found.notes)


def test_a_run_that_failed_is_shown_as_far_as_it_got_with_the_reason(runs: Path) -> None:
    for name in ("cliff-maddist", "maze-maddist"):
        (runs / name / "results.json").unlink()
        Run.open(runs / name).fail("The loss became NaN.\nand more", "Traceback")
    (runs / "maze-maddist/metrics.jsonl").unlink()
    found = read_trials([runs])
    assert [trial.seed for trial in found.trials if trial.objective == "maddist"] == [0, 1]
    first, second, maze = found.notes
    assert first.endswith("seed 0, failed at step 240 of 240: The loss became NaN.")
    assert second.endswith("seed 1, failed at step 240 of 240: The loss became NaN.")
    assert maze.endswith("is left out because it failed: The loss became NaN.")


def test_the_methods_name_is_that_of_the_suite_or_the_changed_settings(runs: Path, suite: Path) -> None:
    (run,) = {trial.method for trial in read_trials([runs / "cliff-tautdist"]).trials}
    assert run == "tautdist (encoder.hidden=32, encoder.latent=16)"
    assert {trial.method for trial in read_trials([suite]).main} == {"maddist", "tautdist"}


def test_a_goal_of_ones_own_is_no_part_of_the_planning_table(suite: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(suite, tmp_path / "suite"))
    (path,) = copy.rglob("planning-learned.json")
    result = json.loads(path.read_text())
    assert "learned" in maze(read_trials([copy]).main).planning
    result["0"]["tasks"] = [{**result["0"]["tasks"][0], "task": 0}]
    path.write_text(json.dumps(result))
    assert set(maze(read_trials([copy]).main).planning) == {"truth", "euclidean"}


def maze(trials: tuple[Trial, ...]) -> Trial:
    return next(trial for trial in trials if "pointmaze" in trial.task)


def break_run(run: Path, what: str, change_config: Callable[..., None]) -> None:
    """Make something wrong with a run."""
    if what == "truncated metrics":
        lines = (run / "metrics.jsonl").read_text().splitlines()
        (run / "metrics.jsonl").write_text("\n".join([*lines[:8], lines[8][:-50], *lines[9:]]) + "\n")
    elif what == "another format":
        change_config(run, format=7)
    elif what == "an older version":
        (run / "config.json").write_text('{"task": "cliffwalking", "method": "maddist", "seed": 0}')
    elif what == "no JSON":
        (run / "config.json").write_text("{")
    elif what == "broken results":
        (run / "results.json").write_text("{")
    elif what == "results of another kind":
        (run / "results.json").write_text('{"agreement": []}')
    elif what == "broken planning":
        (run / "planning-learned.json").write_text('{"0": {"total": 3}}')


BROKEN = {
    "truncated metrics": "Line 9 of .*metrics.jsonl is not as this version",
    "another format": r"another format \(7",
    "an older version": "does not describe a run of this version",
    "no JSON": "does not describe a run of this version",
    "broken results": "results.json is not as this version",
    "results of another kind": "results.json is not as this version",
    "broken planning": "planning-learned.json is not as this version",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_run_becomes_a_note_and_alone_is_refused(
    runs: Path, what: str, change_config: Callable[..., None]
) -> None:
    break_run(runs / "cliff-maddist", what, change_config)
    found = read_trials([runs])
    assert len(found.trials) == 3
    (note,) = found.notes
    assert note.startswith(f"{runs / 'cliff-maddist'} is left out: ")
    with pytest.raises(InputError, match=BROKEN[what]) as caught:
        read_trials([runs / "cliff-maddist"])
    assert str(caught.value) == note
    assert "\n" not in note


def test_folders_without_anything_to_report_are_refused_with_one_sentence(runs: Path) -> None:
    (runs / "empty").mkdir()
    for path, message in ((runs / "empty", "is not a run or a suite"), (runs / "missing", "is not a folder")):
        with pytest.raises(InputError, match=message) as caught:
            read_trials([runs / "cliff-maddist", path])
        assert "\n" not in str(caught.value)
    for name in ("metrics.jsonl", "results.json"):
        (runs / "cliff-maddist" / name).unlink()
    with pytest.raises(InputError, match="Nothing has been measured yet"):
        read_trials([runs / "cliff-maddist"])
