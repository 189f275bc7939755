"""MadDist with every head: the paper's comparison of quasimetrics on two grid worlds, with MRN, PQE and Deep Norm too.

    python reproductions/heads.py reproductions/results/heads.json

Raw numbers: one line for every seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import jax
import tyro
from pixels import rounded

from minaction._files import atomic_write
from minaction.objectives import make_objective
from minaction.tasks import get_task
from minaction.training import Finished, Training, train

HEADS = ("simple", "wide-norm", "iqe", "mrn", "pqe", "pqe-gg", "deep-norm")
"""The first is the paper's, which compares it with the next two."""


@dataclass(frozen=True)
class Options:
    """Train MadDist with every head, and write how it agrees with the truth."""

    out: tyro.conf.Positional[Path]
    """The JSON file to write."""
    only: tuple[str, ...] = ("cliffwalking", "keydoor-gridworld")
    """The tasks."""
    seeds: int = 3
    steps: int = 10_000


def main(options: Options) -> None:
    """Train everything; what is written after every head is complete."""
    lines: list[str] = []
    seeds = range(options.seeds)
    for name in options.only:
        task = get_task(name)
        data, truths = [task.trajectories(seed) for seed in seeds], [task.truths()] * options.seeds
        for head in HEADS:
            objective = make_objective("maddist", {"encoder.latent": "256", "quasimetric": head})
            for event in train([Training(objective, data, options.steps, seeds, truths, 1, name)]):
                if isinstance(event, Finished):
                    for one in event.results.evaluations:
                        if one.high is None:
                            row = {"task": name, "head": head, "seed": one.seed}
                            row |= {"steps": options.steps, "device": jax.devices()[0].device_kind}
                            lines.append(json.dumps({**row, "agreement": rounded(one.agreement)}))
                            print(name, head, one.seed, one.agreement["pearson"], flush=True)
            with atomic_write(options.out, "w") as file:
                file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
