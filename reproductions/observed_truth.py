"""What the distances of the observed transitions themselves score against the true ones: the ceiling that data sets.

python reproductions/observed_truth.py cliffwalking --seeds 5 --out reproductions/results/observed-truth.json
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from minaction._files import write_json
from minaction.evaluation import agreement
from minaction.reports._fields import on_states
from minaction.tasks import Source


def score(task_name: str, seed: int) -> dict[str, float | int]:
    """The agreement of one data set's observed distances with the true ones, over the pairs that it can tell."""
    truths = {truth.name: truth for truth in Source(task_name, (seed,)).truths(seed)}
    true = truths["true"].distances
    observed = on_states(truths["observed"], truths["true"])
    assert observed is not None, "data without a single state of its world"
    told = np.isfinite(observed) & np.isfinite(true)
    found = agreement(np.where(told, observed, 0.0), np.where(told, true, 0.0))
    reachable = int(((true > 0) & np.isfinite(true)).sum())
    return {"seed": seed, "pairs": reachable, "told": found.pairs, "pearson": found.pearson, "ratio_cv": found.ratio_cv}


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a grid world")
    parser.add_argument("--seeds", type=int, default=5, help="how many data sets")
    parser.add_argument("--out", type=Path, help="a JSON file to write the numbers to")
    options = parser.parse_args()
    rows = [score(options.task, seed) for seed in range(options.seeds)]
    print("| seed | pairs told | Pearson | Ratio CV |\n| --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row['seed']} | {row['told']} of {row['pairs']} | {row['pearson']:.3f} | {row['ratio_cv']:.3f} |")
    if options.out is not None:
        write_json(options.out, {options.task: rows})


if __name__ == "__main__":
    main()
