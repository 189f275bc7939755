"""Print a table of RESULTS.md from raw numbers that condense.py wrote.

    python reproductions/print_tables.py reproductions/results/grid.json --truth cells --tasks antmaze

One row per task and method: the mean over seeds, the least and the greatest, and the published value where there is one
(published.json of the package).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import minaction.reports

PUBLISHED = Path(minaction.reports.__file__).with_name("published.json")
MEASURES = {
    "pearson": "Pearson",
    "ratio_cv": "Ratio CV",
    "mean_ratio": "mean ratio",
    "mean_absolute_error": "error, steps",
    "auroc": "AUROC",
    "same_state": "same state",
    "asymmetric_pearson": "one-way pairs",
}
IN_STEPS_ONLY = ("mean_ratio", "mean_absolute_error", "same_state")
NOTHING = "–"


def cell(values: list[float | None]) -> str:
    """The mean over seeds with least and greatest; how many seeds have a value where not all do."""
    known = [value for value in values if value is not None]
    if not known:
        return NOTHING
    text = f"{np.mean(known):.3f} ({min(known):.3f}–{max(known):.3f})"
    return text if len(known) == len(values) else f"{text}, {len(known)} of {len(values)} seeds"


def row(records: list[dict[str, Any]], truth: str, published: dict[str, Any]) -> list[str]:
    """One line of the table: the seeds of a task and method."""
    task, method = records[0]["task"], records[0]["method"]
    known = published.get(task.removeprefix("ogbench-"), {}).get(method, {})
    # A distance in actions has no ratio to one in cells; and the published values are for cells, or the true MAD.
    found = [
        NOTHING
        if truth == "cells" and measure in IN_STEPS_ONLY
        else cell([record["agreement"][truth].get(measure) for record in records])
        for measure in MEASURES
    ]
    reference = f"{known['pearson']} / {known['ratio_cv']}" if known and truth in ("true", "cells") else NOTHING
    return [task, method, str(len(records)), f"{records[0]['steps']:,}", *found, reference]


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="what condense.py wrote")
    parser.add_argument("--truth", required=True, help="true, observed, steps, cells or steps-anywhere")
    parser.add_argument("--tasks", default="", help="only tasks whose names begin so, after ogbench-")
    parser.add_argument("--methods", nargs="+", help="only these methods")
    options = parser.parse_args()
    published = json.loads(PUBLISHED.read_text())["final"]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in json.loads(options.file.read_text()):
        named = record["task"].removeprefix("ogbench-").startswith(options.tasks)
        wanted = options.methods is None or record["method"] in options.methods
        if named and wanted and options.truth in record["agreement"]:
            groups.setdefault((record["task"], record["method"]), []).append(record)
    header = ["task", "method", "seeds", "steps", *MEASURES.values(), "published Pearson / CV"]
    lines = [row(records, options.truth, published) for records in groups.values()]
    keep = [k for k in range(len(header)) if any(line[k] != NOTHING for line in lines)]
    for line in (header, ["---"] * len(header), *lines):
        print("| " + " | ".join(line[k] for k in keep) + " |")


if __name__ == "__main__":
    main()
