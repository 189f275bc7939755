"""Published numbers, those of "Learning the Minimum Action Distance", beside ours, and which are better."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..evaluation import Evaluation
from ..evaluation._statistics import Spread, spread
from ._curves import Chart
from ._tables import MEASURES, Measure
from ._trials import Trial

PLANNING = Measure("planning", "planning success ↑", 2)
_ALMOST = 0.98  # evaluations seldom fall on exactly the published step
_LOWER_IS_BETTER = ("ratio_cv", "mean_absolute_error")
_PLANNING_STEPS = 100_000  # table 1 uses the models at the end of training
_PUBLISHED_AS = {"qrl-long": "qrl"}  # the paper calls both settings of QRL by one name


@dataclass(frozen=True)
class Verdict:
    """One published number, and what we measured for it."""

    task: str
    method: str
    measure: Measure
    truth: str
    published: float
    published_steps: int
    ours: Spread
    steps: int

    @property
    def difference(self) -> float:
        """Ours less published."""
        return self.ours.mean - self.published

    @property
    def word(self) -> str:
        """better or worse; same if equal to as many decimals as are shown; within if the published value lies between
        our worst and best seed; early if worse, but after fewer steps."""
        gain = -self.difference if self.measure.field in _LOWER_IS_BETTER else self.difference
        if abs(gain) < 0.5 * 10.0**-self.measure.decimals:
            return "same"
        if self.ours.low <= self.published <= self.ours.high:
            return "within"
        if gain > 0:
            return "better"
        return "early" if self.steps < _ALMOST * self.published_steps else "worse"


@cache
def _published() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))


def paper_truth(truths: Sequence[str]) -> str | None:
    """The truth that the paper judges by: cells of a maze, the true distances of a grid world."""
    return next((name for name in ("cells", "true") if name in truths), None)


def published_curve(task: str, method: str, measure: str) -> tuple[list[int], list[float]] | None:
    """The published steps and values of a measure, or None; a measure without a published curve has its last point."""
    task, method = task.removeprefix("ogbench-"), _PUBLISHED_AS.get(method, method)
    final = _published()["final"].get(task, {})
    if measure not in final.get(method, {}):
        return None
    points = {int(step): value for step, value in _published()["curves"].get(task, {}).get(method, {}).items()}
    points = {**(points if measure == "pearson" else {}), int(final["steps"]): final[method][measure]}
    return sorted(points), [points[step] for step in sorted(points)]


def published_planning(task: str, method: str) -> float | None:
    """The published share of goals reached."""
    by_method = _published()["planning_success"].get(task.removeprefix("ogbench-"), {})
    return by_method.get(_PUBLISHED_AS.get(method, method))


def verdicts(charts: Sequence[Chart]) -> list[Verdict]:
    """A verdict on every number that was both published and measured, task by task and method by method."""
    found = []
    for chart in charts:
        for method, trials in chart.groups.items():
            found += [verdict for measure in MEASURES if (verdict := _verdict(chart, method, measure)) is not None]
            reached = [trial.planning["learned"].total.success_rate for trial in trials if "learned" in trial.planning]
            published = published_planning(chart.title, method)
            if reached and published is not None:
                steps = max(trial.last_step for trial in trials)
                found.append(
                    Verdict(chart.title, method, PLANNING, "–", published, _PLANNING_STEPS, spread(reached), steps)
                )
    return found


def _verdict(chart: Chart, method: str, measure: Measure) -> Verdict | None:
    truth, known = paper_truth(chart.truths), published_curve(chart.title, method, measure.field)
    if truth is None or known is None:
        return None
    steps, values = known
    reached = [_until(trial, truth, steps[-1]) for trial in chart.groups[method]]
    until = min((one.step for one in reached if one is not None), default=0)
    ours = spread([one.agreement.get(measure.field) for one in reached if one is not None])
    # Before its end a published curve is interpolated; a measure without a curve has its last point alone.
    if not ours.runs or (until < steps[0] and len(steps) > 1):
        return None
    at = max(until, steps[0])
    return Verdict(chart.title, method, measure, truth, float(np.interp(at, steps, values)), at, ours, until)


def _until(trial: Trial, truth: str, step: int) -> Evaluation | None:
    """The last evaluation against a truth that came no later than `step`, or the first where all came later."""
    if trial.last_step <= step:
        return next((one for one in trial.final if one.truth == truth), None)
    points = [one for one in trial.evaluations if one.truth == truth]
    earlier = [one for one in points if one.step <= step]
    return earlier[-1] if earlier else next(iter(points), None)
