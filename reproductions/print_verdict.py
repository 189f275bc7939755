"""Print the verdict of RESULTS.md from raw numbers that condense.py wrote.

    python reproductions/print_verdict.py reproductions/results/grid.json

It is the table that `minaction report` makes of the same trainings' folders, and how often each verdict was reached.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from minaction.evaluation import Evaluation
from minaction.reports import Trial
from minaction.reports._curves import charts_by_task
from minaction.reports._summary import verdict_table
from minaction.reports._trials import Planning, PlanningSummary
from minaction.reports._verdict import verdicts


def trial(record: dict[str, Any]) -> Trial:
    """A training as reports see it, from what is kept of it."""
    seed, unit = record["seed"], ""

    def planning(parts: list[dict[str, Any]]) -> Planning:
        total, *tasks = (PlanningSummary(**part) for part in parts)
        return Planning(total, tasks)

    return Trial(
        task=record["task"],
        method=record["method"],
        objective=record["method"],
        seed=seed,
        steps=record["steps"],
        last_step=record["reached"],
        folder=Path(),
        evaluations=tuple(
            Evaluation(step, seed, truth, unit, {"pearson": pearson, "ratio_cv": ratio_cv})
            for truth, points in record["curve"].items()
            for step, pearson, ratio_cv in points
        ),
        final=tuple(
            Evaluation(record["reached"], seed, truth, unit, found) for truth, found in record["agreement"].items()
        ),
        planning={kind: planning(parts) for kind, parts in record.get("planning", {}).items()},
    )


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="what condense.py wrote")
    found = verdicts(charts_by_task(trial(record) for record in json.loads(parser.parse_args().file.read_text())))
    print(verdict_table(found).markdown())
    nowhere = {"low": float("inf"), "high": -float("inf")}
    for name, all_of_them in (
        ("verdicts", found),
        ("by the means alone", [replace(one, ours=one.ours._replace(**nowhere)) for one in found]),
    ):
        print(f"{name}: {dict(Counter(one.word for one in all_of_them))}")


if __name__ == "__main__":
    main()
