"""Tables: the numbers in them are means and standard deviations over seeds, in both renderings."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import pytest
from rich.console import Console

from minaction.evaluation import Agreement, Evaluation
from minaction.reports import Row, agreement_table, rows_by_range, rows_by_truth
from minaction.reports._tables import agreement_cells

Values = dict[str, int | float | None]

BASE = Agreement(
    pairs=1332,
    unreachable=0,
    pearson=0.99,
    spearman=0.98,
    ratio_cv=0.08,
    mean_ratio=1.1,
    mean_absolute_error=0.5,
    auroc=math.nan,
).as_dict()


def seeds(**values: Sequence[float | None]) -> tuple[Values, ...]:
    count = len(next(iter(values.values())))
    return tuple({**BASE, **{name: series[k] for name, series in values.items()}} for k in range(count))


def cells(rows: Sequence[Row]) -> list[dict[str, str]]:
    header, lines = agreement_cells(rows)
    return [dict(zip(header, line, strict=True)) for line in lines]


def terminal(rows: list[Row], width: int = 160) -> str:
    output = io.StringIO()
    Console(file=output, width=width, force_terminal=False).print(agreement_table(rows, title="cliffwalking"))
    return output.getvalue()


def test_a_cell_is_the_mean_and_the_standard_deviation_over_seeds() -> None:
    pearson, error = [0.981, 0.99, 0.996], [4.0, 5.0, 9.0]
    row = Row("true", "steps", seeds(pearson=pearson, mean_absolute_error=error))
    (line,) = cells([row])
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
    for line in cells(rows):
        assert all(cell.replace("± ", "±") in text for cell in line.values())
    assert "cliffwalking" in text
    caption = "Mean ± standard deviation over 2 seeds; (k/n) where only k have a value."
    assert caption in text


def test_in_a_narrow_terminal_no_number_is_cut() -> None:
    spread = seeds(pearson=[0.9, 0.8, None], mean_absolute_error=[310.25, 420.5, 250.75])
    rows = [Row("observed, 10.5 to 14", "steps", spread)]
    text = terminal(rows, width=80)
    assert "…" not in text
    for number in ("observed, 10.5 to 14", "Spearman", "0.850", "±0.071", "(2/3)", "327.17", "±86.13"):
        assert number in text


def test_one_seed_has_no_spread() -> None:
    rows = [Row("true", "steps", (BASE,))]
    assert "±" not in terminal(rows)
    assert cells(rows)[0]["Pearson ↑"] == "0.990"


def test_in_cells_neither_ratio_nor_error_is_shown() -> None:
    (line,) = cells([Row("cells", "cells", (BASE,))])
    assert line["mean ratio"] == line["error ↓"] == "–"
    assert line["Ratio CV ↓"] == "0.080"


def test_the_column_for_unreachable_pairs_is_there_only_with_such_pairs() -> None:
    without = Row("true", "steps", (BASE,))
    told_apart = Row("observed", "steps", ({**BASE, "unreachable": 5, "auroc": 0.875},))
    assert "AUROC ↑" not in cells([without])[0]
    lines = cells([without, told_apart])
    assert [line["AUROC ↑"] for line in lines] == ["–", "0.875"]


def test_seeds_without_a_value_are_left_out_of_the_mean_and_that_is_said() -> None:
    row = Row("true", "steps", seeds(pearson=[None, 0.8, 0.9], ratio_cv=[None] * 3))
    (line,) = cells([row])
    assert line["Pearson ↑"] == "0.850 ± 0.071 (2/3)"
    assert line["Spearman ↑"] == "0.980 ± 0.000"
    assert line["Ratio CV ↓"] == "–"


def test_rows_by_truth_keep_the_order_and_units_of_the_truths() -> None:
    better, worse = seeds(pearson=[0.9, 0.5])
    by_range = Evaluation(1, 0, "true", "steps", BASE, 0.0, 1.0)
    first = [Evaluation(1, 0, "true", "steps", worse), Evaluation(1, 0, "cells", "cells", better), by_range]
    second = [Evaluation(1, 1, "true", "steps", better), Evaluation(1, 1, "cells", "cells", worse)]
    assert rows_by_truth([first, second]) == [
        Row("true (steps)", "steps", (worse, better)),
        Row("cells", "cells", (better, worse)),
    ]


@pytest.mark.parametrize(("second", "label"), [(3.5, "true, 0 to 3.5"), (4.0, "true, range 1 of 1")])
def test_ranges_are_named_by_their_limits_unless_those_differ_between_seeds(second: float, label: str) -> None:
    one, other = (Evaluation(1, seed, "true", "time", BASE, 0.0, high) for seed, high in ((0, 3.5), (1, second)))
    (row,) = rows_by_range([[one], [other]])
    assert row == Row(label, "time", (BASE, BASE))


def test_in_every_unit_but_cells_ratio_and_error_are_shown() -> None:
    """Learned distances are in the data's time unit, and so are its truths."""
    for unit in ("steps", "time", "s"):
        (line,) = cells([Row("observed", unit, (BASE,))])
        assert (line["mean ratio"], line["error ↓"]) == ("1.10", "0.50")


def test_seeds_with_data_of_their_own_may_differ_in_pairs() -> None:
    row = Row("observed", "steps", (BASE, {**BASE, "pairs": 1300}))
    assert cells([row])[0]["pairs"] == "1300–1332"
