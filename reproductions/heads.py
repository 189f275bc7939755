"""MadDist with every head: the paper's comparison of quasimetrics on two grid worlds, with MRN, PQE and Deep Norm too.

    python reproductions/heads.py reproductions/results/heads.json
    python reproductions/heads.py reproductions/results/heads.json --table

Raw numbers: one line for every seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import tyro
from pixels import rounded, write

from minaction.objectives import make_objective
from minaction.tasks import get_task
from minaction.training import Finished, Training, train

HEADS = ("simple", "wide-norm", "iqe", "mrn", "pqe", "pqe-gg", "deep-norm")
"""The first is the paper's, which compares it with the next two."""
MEASURES = ("pearson", "ratio_cv")


@dataclass(frozen=True)
class Options:
    """Train MadDist with every head, and write how it agrees with the truth."""

    out: tyro.conf.Positional[Path]
    """The JSON file to write."""
    only: tuple[str, ...] = ("cliffwalking", "keydoor-gridworld")
    """The tasks."""
    heads: tuple[str, ...] = HEADS
    """The quasimetrics."""
    seeds: int = 3
    """Seeds per head."""
    steps: int = 50_000
    """Number of gradient steps."""
    table: bool = False
    """Train nothing; print what the file says."""


def table(rows: list[dict[str, Any]]) -> str:
    """Pearson / Ratio CV, means over the seeds, in Markdown: one column for each task."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    lines = [f"| head | {' | '.join(tasks)} |", "| --- " * (len(tasks) + 1) + "|"]
    for head in dict.fromkeys(row["head"] for row in rows):
        cells = []
        for task in tasks:
            found = [row["agreement"] for row in rows if (row["task"], row["head"]) == (task, head)]
            means = [f"{sum(one[of] for one in found) / len(found):.3f}" for of in MEASURES if found]
            cells.append(" / ".join(means) or "–")
        lines.append(f"| {head} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(options: Options) -> None:
    """Train everything; what is written after every head is complete."""
    if options.table:
        print(table(json.loads(options.out.read_text())))
        return
    rows: list[dict[str, Any]] = []
    seeds = range(options.seeds)
    for name in options.only:
        task = get_task(name)
        data, truths = [task.trajectories(seed) for seed in seeds], [task.truths()] * options.seeds
        for head in options.heads:
            objective = make_objective("maddist", {"encoder.latent": "256", "quasimetric": head})
            for event in train([Training(objective, data, options.steps, seeds, truths, 1, name)]):
                if isinstance(event, Finished):
                    for one in event.results.evaluations:
                        if one.high is None:
                            row = {"task": name, "head": head, "seed": one.seed, "steps": options.steps}
                            row |= {"device": jax.devices()[0].device_kind, "agreement": rounded(one.agreement)}
                            rows.append(row)
                            print(name, head, one.seed, one.agreement["pearson"], flush=True)
            write(options.out, rows)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
