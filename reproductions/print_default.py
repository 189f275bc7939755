"""The default objective beside MadDist and TautDist, line by line, from the raw numbers in `results/`.

python reproductions/print_default.py
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

RESULTS = Path(__file__).parent / "results"
METHODS = ("pathdist", "maddist", "tautdist")
MEASURES = (("pearson", 4), ("ratio_cv", 3), ("mean_ratio", 2), ("mean_absolute_error", 2))
Agreements = dict[tuple[str, str], dict[str, list[dict[str, Any]]]]


def read() -> tuple[Agreements, dict[tuple[str, str], int]]:
    """By task and truth, and by method, the agreement of every seed; and how long each method was trained on a task."""
    found: Agreements = defaultdict(lambda: defaultdict(list))
    steps: dict[tuple[str, str], int] = {}
    for name in ("default.json", "default_beside.json", "grid.json"):
        for row in json.loads((RESULTS / name).read_text()):
            if row["method"] in METHODS:
                steps[row["task"], row["method"]] = row["steps"]
                for truth, agreement in row["agreement"].items():
                    found[row["task"], truth][row["method"]].append(agreement)
    return found, steps


def cell(seeds: list[dict[str, Any]], truth: str) -> str:
    """Mean over seeds: Pearson with its range, Ratio CV, mean ratio and error where they mean something."""
    parts = []
    for measure, decimals in MEASURES if truth != "cells" else MEASURES[:2]:
        values = [one[measure] for one in seeds if one.get(measure) is not None]
        if not values:
            continue
        text = f"{fmean(values):.{decimals}f}"
        parts.append(
            f"{text} ({min(values):.{decimals}f}–{max(values):.{decimals}f})" if measure == "pearson" else text
        )
    return " / ".join(parts)


def main() -> None:
    """Print the table."""
    found, steps = read()
    print("| task | truth | PathDist | MadDist | TautDist |")
    print("| --- | --- | --- | --- | --- |")
    for (task, truth), methods in found.items():
        if "pathdist" not in methods:
            continue
        cells = [
            f"{cell(methods[method], truth)}; {steps[task, method]:,}" if methods.get(method) else "–"
            for method in METHODS
        ]
        print(f"| {task} | {truth} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
