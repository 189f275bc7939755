"""Train what a table of RESULTS.md needs and write the raw numbers.

    python reproductions/measure.py cliffwalking            one entry
    python reproductions/measure.py --list                  what there is
    python reproductions/measure.py cliffwalking --only qrl  one objective of it

Each objective's numbers go to reproductions/results/ENTRY-OBJECTIVE.json as soon as they are there.
`reproductions/print_tables.py` makes the tables from them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from minaction import __version__
from minaction.evaluation import evaluate
from minaction.files import write_json
from minaction.objectives import make_objective
from minaction.tasks import get_task
from minaction.training import Trainer
from minaction.trajectories import Trajectories, read

RESULTS = Path(__file__).parent / "results"
PAPER = ("maddist", "tdmaddist", "plandist-simple", "plandist", "hilbert", "qrl")


@dataclass(frozen=True)
class Entry:
    """Tasks whose states have the same size, trained side by side with each objective."""

    tasks: tuple[str, ...]
    objectives: dict[str, int]
    """Objective -> steps."""
    seeds: int


ENTRIES = {
    "giant-stitch": Entry(("ogbench-pointmaze-giant-stitch",), {"maddist": 100_000, "tautdist": 50_000}, 3),
    "cliffwalking": Entry(("cliffwalking",), {"tautdist": 50_000} | dict.fromkeys(PAPER, 50_000), 5),
}


def load(name: str, seed: int, folder: Path | None) -> Trajectories:
    """A task's data: from `folder`/NAME.safetensors where it is, for machines without simulators; else made."""
    path = None if folder is None else folder / f"{name}.safetensors"
    return Trajectories.load(path) if path is not None and path.exists() else read(name, seed=seed)


def measure(
    entry: Entry, objective: str, steps: int, folder: Path | None = None, evaluations: int = 10
) -> list[dict[str, Any]]:
    """One record per task: the agreement of every seed with every truth, over the course of training."""
    data: list[Trajectories] = []
    for name in entry.tasks:
        fresh = get_task(name).fresh_data_per_seed
        first = load(name, 0, folder)
        data += [load(name, seed, folder) if fresh else first for seed in range(entry.seeds)]
    shared = len({id(item) for item in data}) == 1
    truths = [get_task(name).truths(data[k * entry.seeds]) for k, name in enumerate(entry.tasks)]
    if get_task(entry.tasks[0]).fresh_data_per_seed:
        per_seed = [get_task(entry.tasks[0]).truths(item) for item in data]
    else:
        per_seed = [truths[k] for k in range(len(entry.tasks)) for _ in range(entry.seeds)]
    seeds = list(range(entry.seeds)) * len(entry.tasks)
    trainer = Trainer(make_objective(objective), data[0] if shared else data, steps=steps, seeds=seeds)
    records = [
        {"task": name, "objective": objective, "steps": steps, "seeds": entry.seeds, "curve": []}
        for name in entry.tasks
    ]
    seconds, counted = 0.0, 0
    while trainer.step < steps:
        began = time.monotonic()
        before = trainer.step
        terms = trainer.advance(steps // evaluations)
        if before:  # the first call compiles
            seconds, counted = seconds + time.monotonic() - began, counted + trainer.step - before
        found = [evaluate(model, truth) for model, truth in zip(trainer.models(), per_seed, strict=True)]
        for k, record in enumerate(records):
            lanes = slice(k * entry.seeds, (k + 1) * entry.seeds)
            record["curve"].append({"step": trainer.step, "agreement": [_rounded(one) for one in found[lanes]]})
            record["terms"] = {name: round(float(np.mean(values[lanes])), 6) for name, values in terms.items()}
        print(_line(trainer.step, records), flush=True)
    for record in records:
        record["seed_steps_per_second"] = round(len(seeds) * counted / seconds) if seconds else None
        record["trained_side_by_side"] = len(seeds)
        record["device"] = jax.devices()[0].device_kind
        record["version"] = __version__
    return records


def _rounded(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: round(value, 5) if isinstance(value, float) else value for key, value in one.as_dict().items()}
        for name, one in found.items()
    }


def _line(step: int, records: Sequence[dict[str, Any]]) -> str:
    parts = []
    for record in records:
        last = record["curve"][-1]["agreement"]
        name = next(iter(last[0]))
        values = [[one[name][key] or 0.0 for one in last] for key in ("pearson", "ratio_cv", "mean_ratio")]
        parts.append("/".join(f"{np.mean(value):.4f}" for value in values))
    return f"  {records[0]['objective']} {step}: {'  '.join(parts)}"


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entries", nargs="*", choices=[*ENTRIES, []], help="what to measure")
    parser.add_argument("--list", action="store_true", help="list the entries and leave")
    parser.add_argument("--only", nargs="*", help="these objectives alone")
    parser.add_argument("--data", type=Path, help="folder with TASK.safetensors files, instead of making the data")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the raw numbers")
    options = parser.parse_args()
    if options.list or not options.entries:
        for name, entry in ENTRIES.items():
            print(f"{name}: {', '.join(entry.tasks)}; {entry.objectives}; {entry.seeds} seeds")
        sys.exit(0)
    for name in options.entries:
        for objective, steps in ENTRIES[name].objectives.items():
            if options.only and objective not in options.only:
                continue
            began = time.monotonic()
            print(f"{name}, {objective}, {steps} steps", flush=True)
            records = measure(ENTRIES[name], objective, steps, options.data)
            write_json(options.out / f"{name}-{objective}.json", records)
            print(f"  {records[0]['seed_steps_per_second']} seed-steps/s, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
