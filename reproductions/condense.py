"""Condense the folders of suites into one small file of raw numbers, without weights: what RESULTS.md is based on.

    python reproductions/condense.py runs/paper reproductions/results/grid.json

A line for every training: what was trained, its final agreement with every truth, Pearson and Ratio CV on the way, and
how planning with it went. A file that this wrote can stand among the folders; what comes later replaces what was known
about the same method on the same task.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from minaction._files import atomic_write
from minaction.reports import Trial, read_trials


def condensed(trial: Trial) -> dict[str, Any]:
    """What is kept of a training."""
    kept: dict[str, Any] = {
        "task": trial.task,
        "method": trial.method,
        "seed": trial.seed,
        "steps": trial.steps,
        "reached": trial.last_step,
        "device": trial.device,
        "agreement": {last.truth: _rounded(last.agreement) for last in trial.final},
        "curve": {
            last.truth: [
                [one.step, *(_rounded(one.agreement.get(key)) for key in ("pearson", "ratio_cv"))]
                for one in trial.evaluations
                if one.truth == last.truth
            ]
            for last in trial.final
        },
    }
    if trial.planning:
        kept["planning"] = {
            kind: [_rounded(asdict(part)) for part in (found.total, *found.tasks)]
            for kind, found in trial.planning.items()
        }
    return kept


def records(store: Path) -> list[dict[str, Any]]:
    """One for every training in a folder, or in a file that this wrote."""
    if store.is_file():
        return json.loads(store.read_text())
    return [condensed(trial) for trial in read_trials([store]).trials]


def by_cell(found: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The seeds of every task and method."""
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in found:
        cells.setdefault((record["task"], record["method"]), []).append(record)
    return cells


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
    parser.add_argument("store", nargs="+", type=Path, help="folders of suites or of runs, or files that this wrote")
    parser.add_argument("out", type=Path, help="the JSON file to write")
    options = parser.parse_args()
    known: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for store in options.store:
        known |= by_cell(records(store))
    lines = [json.dumps(record, separators=(",", ":")) for cell in known.values() for record in cell]
    with atomic_write(options.out, "w") as file:
        file.write("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} trainings in {options.out}")


if __name__ == "__main__":
    main()
