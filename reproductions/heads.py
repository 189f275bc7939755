"""The paper's comparison of quasimetrics, on two grid worlds and with every head: MRN, PQE and Deep Norm too.

    python reproductions/heads.py reproductions/results/heads.json
    python reproductions/heads.py reproductions/results/heads.json --table

Raw numbers: one line for every seed. What is in the file already is not trained again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import jax
import tyro
from pixels import rounded, rows_of, write

from minaction.objectives import make_objective
from minaction.tasks import get_task
from minaction.training import Finished, Training, train

HEADS = ("simple", "wide-norm", "iqe", "mrn", "pqe", "pqe-gg", "deep-norm")
"""The first is the paper's, which compares it with the next two."""
OBJECTIVES = ("maddist", "tdmaddist")
MEASURES = ("pearson", "ratio_cv")


@dataclass(frozen=True)
class Options:
    """Train with every head, and write how the distances agree with the truth."""

    out: tyro.conf.Positional[Path]
    """The JSON file to add to."""
    only: tuple[str, ...] = ("cliffwalking", "keydoor-gridworld")
    """The tasks."""
    objectives: tuple[str, ...] = OBJECTIVES
    """What is minimised."""
    heads: tuple[str, ...] = HEADS
    """The quasimetrics."""
    seeds: int = 3
    """Seeds per head."""
    steps: int = 50_000
    """Number of gradient steps."""
    table: bool = False
    """Train nothing; print what the file says."""


def key(row: dict[str, Any]) -> tuple[str, str, str]:
    """What a row is about, whatever its seed."""
    return row["task"], row["objective"], row["head"]


def table(rows: list[dict[str, Any]]) -> str:
    """Pearson / Ratio CV, means over the seeds, in Markdown: one column for each task and objective."""
    columns = list(dict.fromkeys((row["task"], row["objective"]) for row in rows))
    lines = [f"| head | {' | '.join(map(', '.join, columns))} |", "| --- " * (len(columns) + 1) + "|"]
    for head in HEADS:
        cells = []
        for column in columns:
            found = [row["agreement"] for row in rows if key(row) == (*column, head)]
            means = [f"{sum(one[of] for one in found) / len(found):.3f}" for of in MEASURES if found]
            cells.append(" / ".join(means) or "–")
        lines.append(f"| {head} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(options: Options) -> None:
    """Train everything; what is written after every head is complete."""
    if options.table:
        print(table(rows_of(options.out)))
        return
    rows, seeds = rows_of(options.out), range(options.seeds)
    for name, objective, head in product(options.only, options.objectives, options.heads):
        if (name, objective, head) in map(key, rows):
            continue
        task = get_task(name)
        data, truths = [task.trajectories(seed) for seed in seeds], [task.truths()] * options.seeds
        made = make_objective(objective, {"encoder.latent": "256", "quasimetric": head})
        for event in train([Training(made, data, options.steps, seeds, truths, 1, name)]):
            if isinstance(event, Finished):
                for one in event.results.evaluations:
                    if one.high is None:
                        row = {"task": name, "objective": objective, "head": head, "seed": one.seed}
                        row |= {"steps": options.steps, "device": jax.devices()[0].device_kind}
                        rows.append(row | {"agreement": rounded(one.agreement)})
                        print(name, objective, head, one.seed, one.agreement["pearson"], flush=True)
        write(options.out, rows)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
