"""Turn the raw numbers of reproductions/results into the tables of RESULTS.md.

    python reproductions/print_tables.py cliffwalking --truth true

prints one Markdown table: a row per task and objective, the mean over seeds and their range, the published value where
there is one (published.json of the package) and the steps after which Pearson first passed it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import minaction.reports

HERE = Path(__file__).parent
PUBLISHED = Path(minaction.reports.__file__).with_name("published.json")
MEASURES = ("pearson", "spearman", "ratio_cv", "mean_ratio", "mean_absolute_error", "auroc", "same_state")
HEADINGS = ("Pearson", "Spearman", "Ratio CV", "mean ratio", "error, steps", "AUROC", "same state")


def records(entry: str) -> list[dict[str, Any]]:
    """Everything that was measured for an entry, the objectives in alphabetical order."""
    found = [json.loads(path.read_text()) for path in sorted((HERE / "results").glob(f"{entry}-*.json"))]
    return [record for group in found for record in group]


def cell(values: list[float | None], decimals: int = 3) -> str:
    """The mean over seeds with least and greatest; how many seeds have a value where not all do."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    text = f"{np.mean(known):.{decimals}f} ({min(known):.{decimals}f}–{max(known):.{decimals}f})"
    return text if len(known) == len(values) else f"{text}, {len(known)} of {len(values)} seeds"


def row(record: dict[str, Any], truth: str, published: dict[str, Any]) -> list[str]:
    """One line of the table."""
    last = record["curve"][-1]["agreement"]
    known = published.get(record["task"].removeprefix("ogbench-"), {}).get(record["objective"], {})
    # A distance in actions has no ratio to one in cells; and the published values are for cells, or the true MAD.
    shown = [
        measure for measure in MEASURES if truth != "cells" or measure not in ("mean_ratio", "mean_absolute_error")
    ]
    values = [cell([one[truth].get(measure) for one in last]) if measure in shown else "–" for measure in MEASURES]
    reference = f"{known['pearson']} / {known['ratio_cv']}" if known and truth in ("true", "cells") else ""
    return [record["task"], record["objective"], f"{record['steps']:,}", *values, reference]


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entry", help="an entry of measure.py")
    parser.add_argument("--truth", required=True, help="true, observed, steps, cells or steps-anywhere")
    options = parser.parse_args()
    published = json.loads(PUBLISHED.read_text())["final"]
    header = ["task", "objective", "steps", *HEADINGS, "published Pearson / CV"]
    lines = [row(record, options.truth, published) for record in records(options.entry)]
    keep = [k for k in range(len(header)) if any(line[k] not in ("–", "") for line in lines)]
    for line in (header, ["---"] * len(header), *lines):
        print("| " + " | ".join(line[k] for k in keep) + " |")


if __name__ == "__main__":
    main()
