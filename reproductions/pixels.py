"""Distances learned from frames beside those learned from the states that the frames show; see RESULTS.md.

    python reproductions/pixels.py reproductions/results/pixels.json

Every task is trained twice with the default objective, on the same episodes and judged by the same truths: once as
frames and once as states.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import tyro

from minaction._files import atomic_write
from minaction.objectives import make_objective
from minaction.tasks import get_task
from minaction.tasks._pixels import PixelTask
from minaction.training import Finished, Training, train

MEDIUM, GIANT = (f"ogbench-pointmaze-{size}-navigate" for size in ("medium", "giant"))
TASKS = (
    "cliffwalking-pixels",
    "keydoor-gridworld-pixels",
    "noisy-gridworld-pixels",
    "noisy-gridworld-clean-pixels",
    f"{MEDIUM}-pixels",
    f"{MEDIUM}-distractor",
    f"{GIANT}-pixels",
    f"{GIANT}-distractor",
)


@dataclass(frozen=True)
class Options:
    """Train from frames and from states, and write how both agree with the truth."""

    out: tyro.conf.Positional[Path]
    """The JSON file to write; one line for every training, added as it ends."""
    only: tuple[str, ...] = TASKS
    """The tasks."""
    seeds: int = 3
    """Seeds per task."""
    steps: int | None = None
    """Number of gradient steps; the objective's own default if None."""
    episodes: int | None = None
    """Of a task's recording; its own default if None."""
    states: bool = True
    """Whether to train from states as well."""
    evaluations: int = 5
    """How many times to compare with the truth."""


def trained(name: str, task: str, options: Options, episodes: int) -> Iterator[dict[str, Any]]:
    """One line for each seed of the task `name`."""
    seeds = range(options.seeds)
    began = time.perf_counter()
    made_by = get_task(name)
    fresh = made_by.fresh_data_per_seed
    recordings = [made_by.trajectories(seed, episodes) for seed in (seeds if fresh else (0,))]
    data = recordings if fresh else recordings * len(seeds)
    truths = [made_by.truths()] * len(seeds)
    made = time.perf_counter()
    objective = make_objective("pathdist")
    steps = options.steps or objective.default_steps
    for event in train([Training(objective, data, steps, seeds, truths, options.evaluations, name)]):
        if isinstance(event, Finished):
            ended = time.perf_counter()
            for seed in seeds:
                mine = [one for one in event.results.evaluations if one.seed == seed and one.high is None]
                yield {
                    "task": task,
                    "learned_from": name,
                    "seed": seed,
                    "steps": steps,
                    "frames_recorded": data[seed].num_states,
                    "device": jax.devices()[0].device_kind,
                    "seconds_to_make": round(made - began, 1),
                    "seconds_of_all_seeds": round(ended - made, 1),
                    "steps_per_second": event.results.steps_per_second,
                    "agreement": {one.truth: rounded(one.agreement) for one in mine},
                }


def rounded(agreement: Any) -> dict[str, float | None]:
    """With four decimals, which is more than seeds agree on."""
    return {name: None if value is None else round(value, 4) for name, value in agreement.items()}


def main(options: Options) -> None:
    """Train everything; what is written after every task is complete."""
    lines: list[str] = []
    of_states: set[str] = set()
    for name in options.only:
        task = get_task(name)
        assert isinstance(task, PixelTask)
        episodes = options.episodes or task.default_episodes
        names = [name] if task.base.name in of_states or not options.states else [name, task.base.name]
        of_states.add(task.base.name)
        for learned_from in names:
            for row in trained(learned_from, name, options, episodes):
                lines.append(json.dumps(row, separators=(",", ":")))
                first = next(iter(row["agreement"].items()))
                print(learned_from, row["seed"], first[0], first[1]["pearson"], row["seconds_of_all_seeds"], flush=True)
            with atomic_write(options.out, "w") as file:
                file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
