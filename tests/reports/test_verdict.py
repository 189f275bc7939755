"""Published beside ours, and the tables made of it: recomputed by hand from the files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import trim_mean

from minaction.evaluation import Evaluation
from minaction.evaluation._statistics import spread
from minaction.reports import Trial, charts_by_task, read_trials
from minaction.reports._summary import improvement_table, planning_table, statistics_table, verdict_table
from minaction.reports._tables import MEASURES
from minaction.reports._verdict import Verdict, published_curve, published_planning, verdicts

PEARSON, RATIO_CV = (next(one for one in MEASURES if one.field == name) for name in ("pearson", "ratio_cv"))


def make_trial(task: str, method: str, seed: int, steps: int, pearson: float, ratio_cv: float, truth: str) -> Trial:
    """A trial that reached these values, half as good half-way."""
    values = {one.field: None for one in MEASURES} | {"pearson": pearson, "ratio_cv": ratio_cv}
    unit = "cells" if truth == "cells" else "steps"
    half = Evaluation(steps // 2, seed, truth, unit, {**values, "pearson": pearson / 2})
    final = Evaluation(steps, seed, truth, unit, values)
    return Trial(task, method, method, seed, steps, steps, Path("x"), (half, final), (final,))


def test_the_published_numbers_are_those_of_the_paper() -> None:
    assert published_curve("cliffwalking", "maddist", "ratio_cv") == ([50_000], [0.078])
    steps, values = published_curve("ogbench-pointmaze-giant-stitch", "qrl-long", "pearson") or ([], [])
    assert (steps[0], values[0], steps[-1], values[-1]) == (2000, 0.876, 100_000, 0.944)
    assert published_curve("cliffwalking", "tautdist", "pearson") is None
    assert published_planning("ogbench-pointmaze-giant-navigate", "tdmaddist") == 0.99


@pytest.mark.parametrize(
    ("measure", "published", "ours", "steps", "word"),
    [
        (PEARSON, 0.97, 0.98, 100, "better"),
        (PEARSON, 0.97, 0.96, 100, "worse"),
        (PEARSON, 0.97, 0.9704, 100, "same"),
        (RATIO_CV, 0.10, 0.09, 100, "better"),
        (RATIO_CV, 0.10, 0.11, 100, "worse"),
        (RATIO_CV, 0.10, 0.11, 50, "early"),
        (RATIO_CV, 0.10, 0.09, 50, "better"),
    ],
)
def test_the_verdict_knows_which_way_is_better(measure, published: float, ours: float, steps: int, word: str) -> None:
    verdict = Verdict("task", "method", measure, "true", published, 100, spread([ours]), steps)
    assert verdict.word == word
    assert verdict.difference == pytest.approx(ours - published)


@pytest.mark.parametrize(
    ("seeds", "word"), [((0.95, 0.98), "within"), ((0.95, 0.96), "worse"), ((0.98, 0.99), "better")]
)
def test_a_published_value_between_our_seeds_is_no_difference(seeds: tuple[float, float], word: str) -> None:
    assert Verdict("task", "method", PEARSON, "true", 0.97, 100, spread(seeds), 100).word == word


def test_ours_is_compared_after_as_many_steps_as_were_published() -> None:
    """Trained for twice as long, the half-way value counts; for fewer steps, the published curve is read there."""
    long = [make_trial("cliffwalking", "maddist", seed, 100_000, 0.99, 0.05, "true") for seed in (0, 1)]
    found = {one.measure.field: one for one in verdicts(charts_by_task(long))}
    assert found["pearson"].ours.mean == pytest.approx(0.495)
    assert (found["pearson"].published, found["pearson"].steps) == (0.991, 50_000)
    brief = [make_trial("cliffwalking", "maddist", 0, 7500, 0.99, 0.05, "true")]
    found = {one.measure.field: one for one in verdicts(charts_by_task(brief))}
    assert found["pearson"].published == pytest.approx((0.973 + 0.978) / 2)
    assert found["ratio_cv"].published == 0.078
    tiny = [make_trial("cliffwalking", "maddist", 0, 100, 0.99, 0.5, "true")]
    assert [one.word for one in verdicts(charts_by_task(tiny))] == ["early"]  # no published Pearson so early


def test_mazes_are_compared_in_cells() -> None:
    one = make_trial("ogbench-pointmaze-giant-stitch", "maddist", 0, 100_000, 0.9, 0.2, "cells")
    (cells,) = one.final
    steps = replace(cells, truth="steps", unit="steps", agreement={**cells.agreement, "pearson": 0.1})
    both = replace(one, final=(steps, cells))
    found = verdicts(charts_by_task([both]))
    assert {verdict.truth for verdict in found} == {"cells"}
    line = verdict_table(found).lines[0]
    assert line[5:] == ["0.978", "0.900", "−0.078", "▼ worse"]


def test_the_planning_table_pools_episodes_and_shows_controls(suite: Path) -> None:
    charts = charts_by_task(read_trials([suite]).main)
    lines = {line[1]: line for line in planning_table(charts).lines}
    # Wilson's interval of 30 out of 50, by its formula.
    share, count, z = 30 / 50, 50, 1.959963984540054
    middle, scale = share + z * z / (2 * count), 1 + z * z / count
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    low, high = (middle - half) / scale, (middle + half) / scale
    assert lines["maddist"][2:] == ["1", "50", "0.600", f"{low:.3f}–{high:.3f}", "1.25", "1.00"]
    assert lines["control: true distance"][4] == "1.000"
    assert lines["control: Euclidean"][4] == "0.200"


def test_the_statistics_are_those_of_the_final_numbers(suite: Path) -> None:
    charts = charts_by_task(read_trials([suite]).main)
    finals: dict[str, list[float]] = {}
    for path in suite.glob("*/*/seed-*/results.json"):
        if "-latent-" not in str(path):
            first = json.loads(path.read_text())["evaluations"][0]
            finals.setdefault(path.parent.parent.name, []).append(first["agreement"]["pearson"])
    lines = {line[1]: line for line in statistics_table(charts).lines if line[0].startswith("Pearson")}
    assert set(lines) == set(finals) == {"maddist", "tautdist"}
    for method, values in finals.items():
        assert lines[method][3] == str(len(values))
        assert lines[method][4].startswith(f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f}")
        assert lines[method][5].startswith(f"{trim_mean(values, 0.25):.3f} (")
    table = improvement_table(charts)
    there, back = (float(table.lines[k][2 - k].split()[0]) for k in (0, 1))
    assert there + back == pytest.approx(1.0)
