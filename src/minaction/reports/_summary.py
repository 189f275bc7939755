"""The tables of a report: agreement, verdicts, planning, statistics over tasks and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ..evaluation._statistics import Estimate, Spread, interquartile_mean, probability_of_improvement, spread
from ._curves import Chart, measures_for
from ._records import Record
from ._rendering import TextTable
from ._tables import MEASURES
from ._verdict import Verdict, published_planning

_NOTHING = "–"
_MARK = {
    "better": "▲ better",
    "worse": "▼ worse",
    "same": "= same",
    "within": "≈ within",
    "early": "– fewer steps",
}
# Errors and ratios have other sizes in every task; these can be averaged over tasks.
_COMPARABLE = [measure for measure in MEASURES if measure.field in ("pearson", "ratio_cv")]
_CONTROLS = {"truth": "control: true distance", "euclidean": "control: Euclidean", "untrained": "control: untrained"}


def agreement_table(charts: Sequence[Chart], name: str, title: str) -> TextTable:
    """Every final measure: the mean over seeds, with least and greatest."""
    records = [record for chart in charts for some in chart.groups.values() for record in some]
    finals = [final for record in records for final in record.final.values()]
    shown = [one for one in MEASURES if one.always_there or any(final.get(one.field) is not None for final in finals)]
    lines = []
    for chart in charts:
        for label, records in chart.groups.items():
            for truth in chart.truths:
                finals = [record.final[truth] for record in records if truth in record.final]
                useful = measures_for(truth)
                cells = [
                    _range(spread([final.get(measure.field) for final in finals]), measure.decimals)
                    if measure in useful
                    else _NOTHING
                    for measure in shown
                ]
                steps = max(record.last_step for record in records)
                lines.append([chart.title, label, truth, str(len(records)), f"{steps:,}", *cells])
    header = ["task", "method", "truth", "seeds", "steps", *(measure.heading for measure in shown)]
    caption = "Mean over seeds (least–greatest). Errors are in actions; a ratio of actions to cells would mean nothing."
    return TextTable(name, title, header, lines, labels=3, caption=caption)


def verdict_table(verdicts: Sequence[Verdict]) -> TextTable:
    """Published, ours, the difference, better or worse."""
    lines = []
    for one in verdicts:
        decimals = one.measure.decimals
        note = f"{one.steps:,}" if one.steps == one.published_steps else f"{one.steps:,} / {one.published_steps:,}"
        signed = f"{one.difference:+.{decimals}f}".replace("-", "−")
        numbers = [f"{one.published:.{decimals}f}", _range(one.ours, decimals), signed]
        lines.append([one.task, one.method, one.measure.heading, one.truth, note, *numbers, _MARK[one.word]])
    header = ["task", "method", "measure", "truth", "steps", "published", "ours", "difference", "verdict"]
    caption = (
        "Ours: mean over seeds (least–greatest), after as many steps as were published or, where we trained for fewer, "
        "beside the published curve at that step; where only its end is known, steps are given as ours / published. "
        "Within: the published value lies between our least and our greatest seed. "
        "Published: read off the figures and table 1 of “Learning the Minimum Action Distance”."
    )
    return TextTable("verdict", "Published and ours", header, lines, labels=4, caption=caption)


def planning_table(charts: Sequence[Chart]) -> TextTable:
    """How often a planner that follows the distance reaches its goal, with controls."""
    lines = []
    for chart in charts:
        for method, records in chart.groups.items():
            runs = [record.planning["learned"] for record in records if "learned" in record.planning]
            if runs:
                lines.append(_planning_line(chart.title, method, runs, published_planning(chart.title, method)))
        everything = [record for records in chart.groups.values() for record in records]
        for kind, label in _CONTROLS.items():
            # A control does not depend on the run it lies beside: the first one says it all.
            runs = [record.planning[kind] for record in everything if kind in record.planning][:1]
            if runs:
                lines.append(_planning_line(chart.title, label, runs, None))
    header = ["task", "distance followed", "seeds", "episodes", "reached ↑", "95%", "of least steps", "published"]
    caption = (
        "Share of goals reached by random shooting on the true simulator, with Wilson's interval, and the median ratio "
        "of steps to the least possible. A planner that may use the simulator is not comparable with learned policies."
    )
    return TextTable("planning", "Planning", header, lines, labels=2, caption=caption)


def _planning_line(task: str, label: str, runs: Sequence[Mapping[str, Any]], published: float | None) -> list[str]:
    successes = sum(run["total"]["successes"] for run in runs)
    episodes = sum(run["total"]["episodes"] for run in runs)
    interval = binomtest(successes, episodes).proportion_ci(method="wilson")
    ratio = spread([run["total"]["path_ratio"] for run in runs])
    return [
        task,
        label,
        str(len(runs)),
        str(episodes),
        f"{successes / episodes:.3f}",
        f"{interval.low:.3f}–{interval.high:.3f}",
        f"{ratio.mean:.2f}" if ratio.runs else _NOTHING,
        _NOTHING if published is None else f"{published:.2f}",
    ]


def statistics_table(charts: Sequence[Chart]) -> TextTable:
    """Mean, range and inter-quartile mean of every method over all its tasks and seeds, against the first truth."""
    lines = []
    for measure in _COMPARABLE:
        for method in _methods(charts):
            scores = [values for chart in charts if (values := _scores(chart, method, measure.field))]
            if scores:
                everything = [value for values in scores for value in values]
                middle = _interval(interquartile_mean(scores), measure.decimals)
                counts = [str(len(scores)), str(len(everything))]
                lines.append([measure.heading, method, *counts, _range(spread(everything), measure.decimals), middle])
    header = ["measure", "method", "tasks", "runs", "mean (least–greatest)", "inter-quartile mean (95%)"]
    caption = (
        "Over all runs, each judged by the first truth of its task. The interval is a percentile bootstrap "
        "that draws seeds anew within every task. Methods that ran on different tasks are not comparable here."
    )
    return TextTable("statistics", "Over all tasks", header, lines, labels=2, caption=caption)


def improvement_table(charts: Sequence[Chart]) -> TextTable:
    """How likely a run of the method in a row has a higher Pearson correlation than one of the method in a column."""
    methods = _methods(charts)
    lines = []
    for one in methods:
        cells = []
        for other in methods:
            shared = [
                (first, second)
                for chart in charts
                if (first := _scores(chart, one, "pearson")) and (second := _scores(chart, other, "pearson"))
            ]
            if one == other or not shared:
                cells.append(_NOTHING)
            else:
                first, second = zip(*shared, strict=True)
                cells.append(_interval(probability_of_improvement(first, second), 2))
        lines.append([one, *cells])
    caption = (
        "The chance that a run of the method in the row has a higher Pearson correlation than one of the method in the "
        "column, averaged over the tasks that both ran on, with its 95% bootstrap interval; 0.5 means no difference."
    )
    return TextTable("improvement", "Probability of improvement", ["", *methods], lines, caption=caption)


def _methods(charts: Iterable[Chart]) -> list[str]:
    return list(dict.fromkeys(method for chart in charts for method in chart.groups))


def _scores(chart: Chart, method: str, measure: str) -> list[float]:
    """The final values of a method's seeds against the first truth, those that have one."""
    values = [_first(record, measure) for record in chart.groups.get(method, ())]
    return [value for value in values if value is not None]


def _first(record: Record, measure: str) -> float | None:
    return next(iter(record.final.values()))[measure] if record.final else None


def _range(values: Spread, decimals: int) -> str:
    if not values.runs:
        return _NOTHING
    text = f"{values.mean:.{decimals}f}"
    return text if values.runs == 1 else f"{text} ({values.low:.{decimals}f}–{values.high:.{decimals}f})"


def _interval(estimate: Estimate, decimals: int) -> str:
    if not np.isfinite(estimate.value):
        return _NOTHING
    return f"{estimate.value:.{decimals}f} ({estimate.low:.{decimals}f}–{estimate.high:.{decimals}f})"
