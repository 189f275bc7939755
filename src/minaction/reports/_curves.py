"""Learning curves from trials: each label's values for every truth and measure, over steps and seeds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evaluation import Evaluation
from ..training._run import Ablation
from ._tables import measures_for
from ._trials import Trial

# A curve with more evaluations is thinned out for the page: a screen cannot show more.
_MOST_POINTS = 40
_SIGNIFICANT = 4

BEST = {"pearson": 1.0, "spearman": 1.0, "ratio_cv": 0.0, "mean_absolute_error": 0.0, "auroc": 1.0}
"""What a perfect model scores, where that is the end of the axis."""


@dataclass(frozen=True)
class Curve:
    """One measure over training (or over true distance); NaN where a seed has no value."""

    steps: np.ndarray  # (points,)
    values: np.ndarray  # (seeds, points)

    def band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, minimum and maximum over the seeds that have a value, each (points,)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # about a point without any value, which stays NaN
            return tuple(f(self.values, axis=0) for f in (np.nanmean, np.nanmin, np.nanmax))  # type: ignore[return-value]


@dataclass(frozen=True)
class Chart:
    """What is drawn together: trials of one task under their labels."""

    title: str
    groups: Mapping[str, Sequence[Trial]]
    by_range: bool = False
    """Whether the final models are shown over true distance, against the first truth, rather than over training."""

    @property
    def units(self) -> dict[str, str]:
        """The unit of every truth that any trial was compared with, in the task's order."""
        trials = [trial for trials in self.groups.values() for trial in trials]
        if self.by_range:
            return {one.truth: one.unit for trial in trials for _, one in self._points(trial)}
        return {one.truth: one.unit for trial in trials for one in trial.final}

    @property
    def truths(self) -> list[str]:
        """The names of those truths."""
        return list(self.units)

    @property
    def axis(self) -> str:
        """What the horizontal axis shows."""
        return f"true distance up to ({', '.join(set(self.units.values()))})" if self.by_range else "gradient steps"

    def steps(self, label: str) -> np.ndarray:
        """Where on the horizontal axis any seed of a label was evaluated."""
        return np.array(sorted({step for trial in self.groups[label] for step, _ in self._points(trial)}))

    def curve(self, label: str, truth: str, measure: str) -> Curve | None:
        """The curve of a label over its `steps`, or None where nothing has a value."""
        points = [
            {step: one.agreement.get(measure) for step, one in self._points(trial) if one.truth == truth}
            for trial in self.groups[label]
        ]
        steps = self.steps(label)
        values = np.array([[seed.get(step) for step in steps] for seed in points], dtype=np.float64)
        return Curve(steps, values) if np.isfinite(values).any() else None

    def _points(self, trial: Trial) -> list[tuple[float, Evaluation]]:
        if not self.by_range:
            return [(one.step, one) for one in trial.evaluations]
        return [
            (one.high, one) for one in trial.by_range if one.truth == trial.by_range[0].truth and one.high is not None
        ]


def charts_by_task(trials: Iterable[Trial]) -> list[Chart]:
    """One chart per task, with a label per method."""
    tasks: dict[str, dict[str, list[Trial]]] = {}
    for trial in trials:
        tasks.setdefault(trial.task, {}).setdefault(trial.method, []).append(trial)
    return [Chart(task, methods) for task, methods in tasks.items()]


def charts_by_ablation(trials: Iterable[Trial]) -> list[Chart]:
    """One chart per ablation, task and method that is varied, with a label per value, in the order of the values."""
    studies: dict[str, dict[tuple[int, float, str], list[Trial]]] = {}
    for trial in trials:
        if (study := trial.ablation) is not None:
            method = trial.method.replace(f"-{study.parameter}-{study.value}", "", 1)
            title = f"{study.name}: {method} on {trial.task}"
            studies.setdefault(title, {}).setdefault(_value_key(study.value), []).append(trial)
    return [
        Chart(title, {_value_label(values[key][0].ablation): values[key] for key in sorted(values)})
        for title, values in studies.items()
    ]


def chart_by_range(chart: Chart) -> Chart | None:
    """The same trials over ranges of true distance, or None where those were not measured."""
    measured = {label: [trial for trial in trials if trial.by_range] for label, trials in chart.groups.items()}
    groups = {label: trials for label, trials in measured.items() if trials}
    return Chart(f"{chart.title}, by true distance", groups, by_range=True) if groups else None


def _value_label(study: Ablation | None) -> str:
    return "" if study is None else f"{study.parameter} = {study.value}"


def _value_key(value: Any) -> tuple[int, float, str]:
    """Numbers by size, then everything else by its text."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, float(value), "") if number else (1, 0.0, str(value))


def chart_data(chart: Chart) -> dict[str, Any]:
    """The chart as the page's script takes it: for every truth, measure and label [mean, low, high] over its steps."""
    return {
        "title": chart.title,
        "axis": chart.axis,
        "labels": {
            label: {"seeds": len(trials), "steps": _shortened(_thinned(chart.steps(label)))}
            for label, trials in chart.groups.items()
        },
        "truths": {
            truth: {
                measure.field: {
                    label: _numbers(curve)
                    for label in chart.groups
                    if (curve := chart.curve(label, truth, measure.field)) is not None
                }
                for measure in measures_for(unit)
            }
            for truth, unit in chart.units.items()
        },
    }


def _numbers(curve: Curve) -> list[list[float | None]]:
    mean, low, high = map(_thinned, curve.band())
    return [_shortened(row) for row in ([mean] if len(curve.values) == 1 else [mean, low, high])]


def _thinned(row: np.ndarray) -> np.ndarray:
    """At most `_MOST_POINTS` of a curve's points, the first and the last among them."""
    places = np.linspace(0, len(row) - 1, min(len(row), _MOST_POINTS)).round().astype(int)
    return row[places]


def _shortened(row: np.ndarray) -> list[float | None]:
    return [_short(float(value)) if np.isfinite(value) else None for value in row]


def _short(value: float) -> float:
    return int(value) if value.is_integer() else float(f"{value:.{_SIGNIFICANT}g}")
