"""Learning curves from records: for every truth and measure, each label's values over steps and seeds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..suite._cells import Ablation
from ._records import Record
from ._tables import MEASURES, Measure

# A curve of more evaluations is thinned out for the page: a screen shows no more.
_MOST_POINTS = 40
_SIGNIFICANT = 4

BEST = {"pearson": 1.0, "spearman": 1.0, "ratio_cv": 0.0, "mean_absolute_error": 0.0, "auroc": 1.0}
"""What a perfect model scores, where that is the end of the axis."""


@dataclass(frozen=True)
class Curve:
    """One measure over the course of training, NaN where a seed was not evaluated at a step or has no value."""

    steps: np.ndarray  # (points,)
    values: np.ndarray  # (seeds, points)

    def band(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, least and greatest over the seeds that have a value, each (points,)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a point without any value, which stays NaN
            return tuple(f(self.values, axis=0) for f in (np.nanmean, np.nanmin, np.nanmax))  # type: ignore[return-value]


@dataclass(frozen=True)
class Chart:
    """What is drawn together: records under labels, all of one task."""

    title: str
    groups: Mapping[str, Sequence[Record]]
    axis: str = "gradient steps"

    @property
    def truths(self) -> list[str]:
        """The truths that any record was compared with, in the task's order."""
        return list(dict.fromkeys(name for records in self.groups.values() for one in records for name in one.final))

    def steps(self, label: str) -> np.ndarray:
        """The steps at which any seed of a label was evaluated."""
        return np.array(sorted({step for record in self.groups[label] for step, _ in record.curve}))

    def curve(self, label: str, truth: str, measure: str) -> Curve | None:
        """The curve of a label over its `steps`, or None where nothing has a value."""
        points = [
            {step: agreement[truth].get(measure) for step, agreement in record.curve if truth in agreement}
            for record in self.groups[label]
        ]
        steps = self.steps(label)
        values = np.array([[seed.get(step) for step in steps] for seed in points], dtype=np.float64)
        return Curve(steps, values) if np.isfinite(values).any() else None


def unit_of(truth: str) -> str:
    """What a truth counts: the one between cells counts those, all others count actions."""
    return "cells" if truth == "cells" else "steps"


def measures_for(truth: str) -> list[Measure]:
    """The measures that mean something against this truth: predictions are in actions."""
    return [measure for measure in MEASURES if unit_of(truth) == "steps" or not measure.needs_same_unit]


def charts_by_task(records: Iterable[Record]) -> list[Chart]:
    """One chart per task, a label per method."""
    tasks: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        tasks.setdefault(record.task, {}).setdefault(record.method, []).append(record)
    return [Chart(task, methods) for task, methods in tasks.items()]


def charts_by_ablation(records: Iterable[Record]) -> list[Chart]:
    """One chart per study, task and method that is varied, a label per value, in the order of the values."""
    studies: dict[str, dict[tuple[int, float, str], list[Record]]] = {}
    for record in records:
        if (study := record.ablation) is not None:
            method = record.method.removesuffix(f"-{study.parameter}-{study.value}")
            title = f"{study.name}: {method} on {record.task}"
            studies.setdefault(title, {}).setdefault(_value_key(study.value), []).append(record)
    return [
        Chart(title, {_value_label(values[key][0].ablation): values[key] for key in sorted(values)})
        for title, values in studies.items()
    ]


def chart_by_range(chart: Chart) -> Chart | None:
    """The same records, judged apart for each range of the first truth, or None where that was not measured."""
    groups: dict[str, list[Record]] = {}
    for label, records in chart.groups.items():
        for record in records:
            name, ranges = next(iter(record.by_range.items()), ("", ()))
            points = tuple((part["high"], {name: part}) for part in ranges if part["high"] is not None)
            if points:
                groups.setdefault(label, []).append(replace(record, curve=points, final={name: record.final[name]}))  # type: ignore[arg-type]
    return Chart(f"{chart.title}, by true distance", groups, axis="true distance up to") if groups else None


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
            label: {"seeds": len(records), "steps": _shortened(_thinned(chart.steps(label)))}
            for label, records in chart.groups.items()
        },
        "truths": {
            truth: {
                measure.field: {
                    label: _numbers(curve)
                    for label in chart.groups
                    if (curve := chart.curve(label, truth, measure.field)) is not None
                }
                for measure in measures_for(truth)
            }
            for truth in chart.truths
        },
    }


def _numbers(curve: Curve) -> list[list[float | None]]:
    mean, low, high = map(_thinned, curve.band())
    return [_shortened(row) for row in ([mean] if len(curve.values) == 1 else [mean, low, high])]


def _thinned(row: np.ndarray) -> np.ndarray:
    """At most so many of a curve's points, the first and the last among them."""
    places = np.linspace(0, len(row) - 1, min(len(row), _MOST_POINTS)).round().astype(int)
    return row[places]


def _shortened(row: np.ndarray) -> list[float | None]:
    return [_short(float(value)) if np.isfinite(value) else None for value in row]


def _short(value: float) -> float:
    return int(value) if value.is_integer() else float(f"{value:.{_SIGNIFICANT}g}")
