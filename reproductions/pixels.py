"""Distances learned from frames beside those learned from the states that the frames show; see RESULTS.md.

    python reproductions/pixels.py reproductions/results/pixels.json            # train, with the default objective
    python reproductions/pixels.py reproductions/results/pixels.json --only keydoor-gridworld-pixels --seeds 0
    python reproductions/pixels.py reproductions/results/pixels.json --table

Frames and states are of the same episodes, and judged by the same truths. Rows in the file are replaced by newer ones
of the same task and seed, and others stay; several processes may write to it at a time. What was interrupted goes on
after its last evaluation.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

from minaction._files import atomic_write
from minaction._locks import locked
from minaction.objectives import make_objective
from minaction.tasks import get_task
from minaction.training import Evaluated, Run, RunConfig, Training, train
from minaction.trajectories import Trajectories

MAZES = [f"ogbench-pointmaze-{size}-navigate" for size in ("medium", "giant")]
GRIDS = ["cliffwalking", "keydoor-gridworld", "noisy-gridworld"]
TASKS = (
    *(f"{grid}{seen}" for grid in GRIDS for seen in ("", "-pixels")),
    "noisy-gridworld-clean-pixels",
    *(f"{maze}{seen}" for maze in MAZES for seen in ("", "-pixels", "-distractor")),
)


@dataclass(frozen=True)
class Options:
    """Train from frames and from states, and write how both agree with the truth."""

    out: tyro.conf.Positional[Path]
    """The JSON file to add to: one line for every seed of every training, as of its latest evaluation."""
    only: tuple[str, ...] = TASKS
    """The tasks."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Of the network, and of the data where every seed has its own."""
    steps: int | None = None
    """Number of gradient steps; the objective's own default if None."""
    episodes: int = 100
    """Of a recording."""
    evaluations: int = 5
    """How many times to compare with the truth."""
    runs: Path = Path("runs/pixels")
    """Where run folders are kept, from which an interrupted training goes on."""
    table: bool = False
    """Train nothing; print what the file says."""


def trained(name: str, options: Options) -> Iterator[list[dict[str, Any]]]:
    """After every evaluation, one row for each seed of the task `name`."""
    objective = make_objective("pathdist")
    steps = options.steps or objective.default_steps
    config = RunConfig(name, objective.name, {}, steps, options.seeds, options.evaluations, options.episodes)
    run = Run.create(options.runs / f"{name}-{'-'.join(map(str, options.seeds))}", config)
    if run.finished:
        return
    before = [row["seconds_of_all_seeds"] for row in rows_of(options.out) if key(row) == (name, options.seeds[0])]
    spent = before[0] if run.checkpoints and before else 0.0
    began = time.perf_counter()
    task = get_task(name)
    fresh = task.fresh_data_per_seed
    recordings = [held(task.trajectories(seed, options.episodes)) for seed in (options.seeds if fresh else (0,))]
    data = recordings if fresh else recordings * len(options.seeds)
    truths = [task.truths()] * len(options.seeds)
    made = time.perf_counter()
    for event in train([Training(objective, data, steps, options.seeds, truths, options.evaluations, name, run)]):
        if isinstance(event, Evaluated):
            yield [
                {
                    "task": name,
                    "seed": found.seed,
                    "step": event.step,
                    "steps": steps,
                    "recorded": recording.num_states,
                    "device": jax.devices()[0].device_kind,
                    "seconds_to_make": round(made - began, 1),
                    "seconds_of_all_seeds": round(spent + time.perf_counter() - made, 1),
                    "agreement": {one.truth: rounded(one.agreement) for one in found.evaluations if one.high is None},
                }
                for recording, found in zip(data, event.measurements, strict=True)
            ]


def held(data: Trajectories) -> Trajectories:
    """The same in memory, from where it goes to the device; two gigabytes of frames would stay in a file."""
    return replace(data, states=np.array(data.states)) if data.is_mapped else data


def rounded(agreement: Any) -> dict[str, float | None]:
    """With four decimals, which is more than seeds agree on."""
    return {name: None if value is None else round(value, 4) for name, value in agreement.items()}


def rows_of(out: Path) -> list[dict[str, Any]]:
    """What was written so far."""
    return json.loads(out.read_text()) if out.exists() else []


def key(row: dict[str, Any]) -> tuple[str, int]:
    """What a row is about."""
    return row["task"], row["seed"]


def write(out: Path, rows: list[dict[str, Any]]) -> None:
    """One line for each row."""
    with atomic_write(out, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]\n")


def table(rows: list[dict[str, Any]]) -> str:
    """Mean, least and greatest over the seeds, in Markdown."""
    lines = ["| task | truth | seeds | steps | Pearson | Ratio CV | mean ratio | error |", "| --- " * 8 + "|"]
    for name in dict.fromkeys(row["task"] for row in rows):
        of_task = [row for row in rows if row["task"] == name]
        for truth in of_task[0]["agreement"]:
            found = [row["agreement"][truth] for row in of_task]
            cells = [
                f"{sum(values) / len(values):.4f} ({min(values):.4f}–{max(values):.4f})"
                for values in ([one[of] for one in found] for of in ("pearson", "ratio_cv"))
            ]
            for of in ("mean_ratio", "mean_absolute_error"):
                cells.append(f"{sum(one[of] for one in found) / len(found):.2f}")
            seeds = ", ".join(str(row["seed"]) for row in of_task)
            lines.append(f"| {name} | {truth} | {seeds} | {of_task[0]['step']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def add(out: Path, rows: list[dict[str, Any]]) -> None:
    """Replace rows of the same task and seed, in the order of the tasks, while no other process does."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with locked(out.parent, patience=60.0):
        merged = {key(row): row for row in rows_of(out)} | {key(row): row for row in rows}
        order = {name: place for place, name in enumerate(TASKS)}
        write(out, sorted(merged.values(), key=lambda row: (order.get(row["task"], len(order)), row["seed"])))


def main(options: Options) -> None:
    """Train everything; what is written is complete after every evaluation."""
    if options.table:
        print(table(rows_of(options.out)))
        return
    for name in options.only:
        for rows in trained(name, options):
            add(options.out, rows)
            print(rows[0]["step"], rows[0]["seconds_of_all_seeds"], table(rows).splitlines()[2], flush=True)


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
