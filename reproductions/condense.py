"""Condense the stores of suites into one small file of raw numbers, without weights: what RESULTS.md stands on.

    python reproductions/condense.py runs/paper reproductions/results/grid.json

A line for every training: what was trained, its final agreement with every truth, Pearson and Ratio CV on the way, and
how planning with it went.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from minaction._files import atomic_write
from minaction.reports._records import Record, read_records


def condensed(record: Record) -> dict[str, Any]:
    """What is kept of a training."""
    kept: dict[str, Any] = {
        "task": record.task,
        "method": record.method,
        "seed": record.seed,
        "steps": record.steps,
        "reached": record.last_step,
        "device": record.device,
        "agreement": _rounded(record.final),
        "curve": {
            truth: [
                [step, *(_rounded(found[truth].get(key)) for key in ("pearson", "ratio_cv"))]
                for step, found in record.curve
            ]
            for truth in record.final
        },
    }
    if record.planning:
        kept["planning"] = {
            kind: _rounded([found["total"], *found["tasks"]]) for kind, found in record.planning.items()
        }
    return kept


def _rounded(value: Any) -> Any:
    """With four decimals, which is more than seeds agree on."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return {key: _rounded(item) for key, item in value.items()} if hasattr(value, "items") else value


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="+", type=Path, help="folders of suites or of runs")
    parser.add_argument("out", type=Path, help="the JSON file to write")
    options = parser.parse_args()
    lines = [json.dumps(condensed(record), separators=(",", ":")) for record in read_records(options.store).records]
    with atomic_write(options.out, "w") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} trainings in {options.out}")


if __name__ == "__main__":
    main()
