"""Tables: the numbers in them are means and standard deviations over seeds, in both renderings."""

from __future__ import annotations

import dataclasses
import io
import math

import numpy as np
import pytest
from rich.console import Console

from minaction.evaluation import Agreement, RangeAgreement
from minaction.reports._tables import Row, agreement_markdown, agreement_table, rows_by_range, rows_by_truth
from minaction.tasks._base import Truth

BASE = Agreement(
    pairs=1332,
    unreachable=0,
    pearson=0.99,
    spearman=0.98,
    ratio_cv=0.08,
    mean_ratio=1.1,
    mean_absolute_error=0.5,
    auroc=math.nan,
)


def truth(name: str, unit: str = "steps") -> Truth:
    return Truth.between(name, unit, np.zeros((2, 1), np.float32), np.zeros((2, 2)))


def seeds(**values: list[float]) -> tuple[Agreement, ...]:
    count = len(next(iter(values.values())))
    return tuple(
        dataclasses.replace(BASE, **{name: series[k] for name, series in values.items()}) for k in range(count)
    )


def cells(markdown: str) -> list[dict[str, str]]:
    lines = [line.strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def terminal(rows: list[Row], width: int = 160) -> str:
    output = io.StringIO()
    Console(file=output, width=width, force_terminal=False).print(agreement_table(rows, title="cliffwalking"))
    return output.getvalue()


def test_a_cell_is_the_mean_and_the_standard_deviation_over_seeds() -> None:
    pearson, error = [0.981, 0.99, 0.996], [4.0, 5.0, 9.0]
    row = Row("true", "steps", seeds(pearson=pearson, mean_absolute_error=error))
    (line,) = cells(agreement_markdown([row]))
    assert line["Pearson ↑"] == "0.989 ± 0.008"  # .0075498 from (.008^2 + .001^2 + .007^2) / 2
    assert line["error ↓"] == "6.00 ± 2.65"  # sqrt((2^2 + 1^2 + 3^2) / 2)
    assert line["Ratio CV ↓"] == "0.080 ± 0.000"
    assert line["truth"] == "true"
    assert line["pairs"] == "1332"


def test_both_renderings_show_the_same_cells() -> None:
    rows = [
        Row("true", "steps", seeds(pearson=[0.9, 0.8])),
        Row("cells", "cells", seeds(pearson=[0.7, 0.75])),
    ]
    text = terminal(rows)
    for line in cells(agreement_markdown(rows)):
        assert all(cell.replace("± ", "±") in text for cell in line.values())
    assert "cliffwalking" in text
    caption = "Mean ± standard deviation over 2 seeds, (k/n) where only k have a value."
    assert caption in text
    assert agreement_markdown(rows).endswith(f"{caption}\n")


def test_in_a_narrow_terminal_no_number_is_cut() -> None:
    spread = seeds(pearson=[0.9, 0.8, math.nan], mean_absolute_error=[310.25, 420.5, 250.75])
    rows = [Row("observed, 10.5 to 14", "steps", spread)]
    text = terminal(rows, width=80)
    assert "…" not in text
    for number in ("observed, 10.5 to 14", "Spearman", "0.850", "±0.071", "(2/3)", "327.17", "±86.13"):
        assert number in text


def test_one_seed_has_no_spread() -> None:
    text = agreement_markdown([Row("true", "steps", (BASE,))])
    assert "±" not in text
    assert cells(text)[0]["Pearson ↑"] == "0.990"


def test_in_cells_neither_ratio_nor_error_is_shown() -> None:
    (line,) = cells(agreement_markdown([Row("cells", "cells", (BASE,))]))
    assert line["mean ratio"] == line["error ↓"] == "–"
    assert line["Ratio CV ↓"] == "0.080"


def test_the_column_for_unreachable_pairs_is_there_only_with_such_pairs() -> None:
    without = Row("true", "steps", (BASE,))
    told_apart = Row("observed", "steps", (dataclasses.replace(BASE, unreachable=5, auroc=0.875),))
    assert "AUROC ↑" not in cells(agreement_markdown([without]))[0]
    lines = cells(agreement_markdown([without, told_apart]))
    assert [line["AUROC ↑"] for line in lines] == ["–", "0.875"]


def test_seeds_without_a_value_are_left_out_of_the_mean_and_that_is_said() -> None:
    row = Row("true", "steps", seeds(pearson=[math.nan, 0.8, 0.9], ratio_cv=[math.nan] * 3))
    (line,) = cells(agreement_markdown([row]))
    assert line["Pearson ↑"] == "0.850 ± 0.071 (2/3)"
    assert line["Spearman ↑"] == "0.980 ± 0.000"
    assert line["Ratio CV ↓"] == "–"


def test_rows_by_truth_keep_the_order_and_units_of_the_truths() -> None:
    better, worse = seeds(pearson=[0.9, 0.5])
    results = [{"cells": better, "true": worse}, {"true": better, "cells": worse}]
    rows = rows_by_truth(results, [truth("true"), truth("cells", "cells")])
    assert rows == [
        Row("true (steps)", "steps", (worse, better)),
        Row("cells", "cells", (better, worse)),
    ]


@pytest.mark.parametrize(("second", "label"), [(3.5, "true, 0 to 3.5"), (4.0, "true, range 1 of 1")])
def test_ranges_are_named_by_their_limits_unless_those_differ_between_seeds(second: float, label: str) -> None:
    results = [[RangeAgreement(0.0, 3.5, BASE)], [RangeAgreement(0.0, second, BASE)]]
    (row,) = rows_by_range(results, truth("true"))
    assert row == Row(label, "steps", (BASE, BASE))


def test_seeds_with_data_of_their_own_may_differ_in_pairs() -> None:
    row = Row("observed", "steps", (BASE, dataclasses.replace(BASE, pairs=1300)))
    assert cells(agreement_markdown([row]))[0]["pairs"] == "1300–1332"
