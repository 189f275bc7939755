"""The tables of a report: agreement, verdicts, planning, statistics over tasks and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import binomtest

from ..evaluation._statistics import Estimate, Spread, interquartile_mean, probability_of_improvement, spread
from ._curves import Chart
from ._rendering import TextTable
from ._tables import MEASURES, measures_for, truth_label
from ._trials import Planning
from ._verdict import Verdict, published_planning, verdicts

_NOTHING = "–"
_MARK = {
    "better": "▲ better",
    "worse": "▼ worse",
    "same": "= same",
    "within": "≈ within",
    "early": "– fewer steps",
}
# Errors and ratios differ in size from task to task; these can be averaged over tasks.
_COMPARABLE = [measure for measure in MEASURES if measure.field in ("pearson", "ratio_cv")]
_CONTROLS = {"truth": "control: true distance", "euclidean": "control: Euclidean", "untrained": "control: untrained"}


def report_tables(charts: Sequence[Chart], ablations: Sequence[Chart]) -> list[TextTable]:
    """Every table that has something in it, as the page and the folder of tables show it."""
    compared = len(_methods(charts)) > 1
    tables = [
        verdict_table(verdicts(charts)),
        planning_table(charts),
        final_table(charts, "agreement", "Agreement with the truth"),
        statistics_table(charts) if len(charts) > 1 or compared else None,
        improvement_table(charts) if compared else None,
        final_table(ablations, "ablations", "Ablations"),
    ]
    return [table for table in tables if table is not None and table.lines]


def final_table(charts: Sequence[Chart], name: str, title: str) -> TextTable:
    """Every final measure: the mean over seeds, with minimum and maximum."""
    finals = [one for chart in charts for trials in chart.groups.values() for trial in trials for one in trial.final]
    shown = [
        measure
        for measure in MEASURES
        if measure.always_there or any(one.agreement.get(measure.field) is not None for one in finals)
    ]
    lines = []
    for chart in charts:
        for label, trials in chart.groups.items():
            steps = max(trial.last_step for trial in trials)
            for truth, unit in chart.units.items():
                found = [one.agreement for trial in trials for one in trial.final if one.truth == truth]
                useful = measures_for(unit)
                numbers = [
                    _range(spread([one.get(measure.field) for one in found]), measure.decimals)
                    if measure in useful
                    else _NOTHING
                    for measure in shown
                ]
                lines.append([chart.title, label, truth_label(truth, unit), str(len(trials)), f"{steps:,}", *numbers])
    header = ["task", "method", "truth", "seeds", "steps", *(measure.heading for measure in shown)]
    caption = (
        "Mean over seeds (minimum–maximum). Errors are in the unit of the truth. Against distances in maze cells there "
        "is neither an error nor a mean ratio, because learned distances are not in cells."
    )
    return TextTable(name, title, header, lines, labels=3, caption=caption)


def verdict_table(found: Sequence[Verdict]) -> TextTable:
    """Every published number beside ours: the difference, and whether ours is better or worse."""
    lines = []
    for one in found:
        decimals = one.measure.decimals
        note = f"{one.steps:,}" if one.steps == one.published_steps else f"{one.steps:,} / {one.published_steps:,}"
        signed = f"{one.difference:+.{decimals}f}".replace("-", "−")
        numbers = [f"{one.published:.{decimals}f}", _range(one.ours, decimals), signed]
        lines.append([one.task, one.method, one.measure.heading, one.truth, note, *numbers, _MARK[one.word]])
    header = ["task", "method", "measure", "truth", "steps", "published", "ours", "difference", "verdict"]
    caption = (
        "Ours: mean over seeds (minimum–maximum), at the last published step or, where we trained for fewer steps, "
        "against the published curve at our last step; where only its end is known, steps are ours / published. "
        "Within: the published value lies between our worst and our best seed. "
        "Published: read off the figures and table 1 of “Learning the Minimum Action Distance”."
    )
    return TextTable("verdict", "Published and ours", header, lines, labels=4, caption=caption)


def planning_table(charts: Sequence[Chart]) -> TextTable:
    """How often a planner that follows the distance reaches its goal, with controls."""
    lines = []
    for chart in charts:
        for method, trials in chart.groups.items():
            learned = [trial.planning["learned"] for trial in trials if "learned" in trial.planning]
            if learned:
                lines.append(_planning_line(chart.title, method, learned, published_planning(chart.title, method)))
        everything = [trial for trials in chart.groups.values() for trial in trials]
        for kind, label in _CONTROLS.items():
            # A control does not depend on the run in whose folder it is: the first one found is enough.
            control = [trial.planning[kind] for trial in everything if kind in trial.planning][:1]
            if control:
                lines.append(_planning_line(chart.title, label, control, None))
    header = ["task", "distance followed", "seeds", "episodes", "reached ↑", "95%", "path ratio ↓", "published"]
    caption = (
        "The share of goals that a planner reaches in the true simulator by following the distance, with its Wilson "
        "interval, and the median ratio of path length to the shortest possible. Because the planner uses the "
        "simulator, these numbers cannot be compared with those of learned policies."
    )
    return TextTable("planning", "Planning", header, lines, labels=2, caption=caption)


def _planning_line(task: str, label: str, seeds: Sequence[Planning], published: float | None) -> list[str]:
    successes = sum(one.total.successes for one in seeds)
    episodes = sum(one.total.episodes for one in seeds)
    interval = binomtest(successes, episodes).proportion_ci(method="wilson")
    ratio = spread([one.total.path_ratio for one in seeds])
    return [
        task,
        label,
        str(len(seeds)),
        str(episodes),
        f"{successes / episodes:.3f}",
        f"{interval.low:.3f}–{interval.high:.3f}",
        f"{ratio.mean:.2f}" if ratio.runs else _NOTHING,
        _NOTHING if published is None else f"{published:.2f}",
    ]


def statistics_table(charts: Sequence[Chart]) -> TextTable:
    """Mean, range and interquartile mean of every method over all its tasks and seeds, against the first truth."""
    lines = []
    for measure in _COMPARABLE:
        for method in _methods(charts):
            scores = [values for chart in charts if (values := _scores(chart, method, measure.field))]
            if scores:
                everything = [value for values in scores for value in values]
                middle = _interval(interquartile_mean(scores), measure.decimals)
                counts = [str(len(scores)), str(len(everything))]
                lines.append([measure.heading, method, *counts, _range(spread(everything), measure.decimals), middle])
    header = ["measure", "method", "tasks", "trials", "mean (minimum–maximum)", "interquartile mean (95%)"]
    caption = (
        "Over all trials, each against the first truth of its task. The interval is a percentile bootstrap that "
        "resamples seeds within every task. Methods that were trained on different tasks cannot be compared here."
    )
    return TextTable("statistics", "Over all tasks", header, lines, labels=2, caption=caption)


def improvement_table(charts: Sequence[Chart]) -> TextTable:
    """The probability that a trial of the row's method has a higher Pearson correlation than one of the column's."""
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
        "The probability that a trial of the method in the row has a higher Pearson correlation than one of the method "
        "in the column, averaged over the tasks that both were trained on, with its 95% bootstrap interval; 0.5 means "
        "no difference."
    )
    return TextTable("improvement", "Probability of improvement", ["", *methods], lines, caption=caption)


def _methods(charts: Iterable[Chart]) -> list[str]:
    return list(dict.fromkeys(method for chart in charts for method in chart.groups))


def _scores(chart: Chart, method: str, measure: str) -> list[float]:
    """The final values of a method's trials against the first truth; those without a value are left out."""
    values = [trial.final[0].agreement.get(measure) for trial in chart.groups.get(method, ()) if trial.final]
    return [value for value in values if value is not None]


def _range(values: Spread, decimals: int) -> str:
    if not values.runs:
        return _NOTHING
    text = f"{values.mean:.{decimals}f}"
    return text if values.runs == 1 else f"{text} ({values.low:.{decimals}f}–{values.high:.{decimals}f})"


def _interval(estimate: Estimate, decimals: int) -> str:
    if not np.isfinite(estimate.value):
        return _NOTHING
    return f"{estimate.value:.{decimals}f} ({estimate.low:.{decimals}f}–{estimate.high:.{decimals}f})"
