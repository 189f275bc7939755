"""What stopping early costs: the default objective at its pauses, and with a single fall of its learning rate.

`python -m benchmarks.stopping` trains on 90% of the episodes of tasks with a truth and scores the models as a training
that may stop early does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import tyro
from jaxtyping import Array, Float

from minaction.evaluation import judge
from minaction.objectives import PathDist
from minaction.tasks import Source
from minaction.training import Trainer
from minaction.training._stopping import PathJudge
from minaction.validation import HELD_OUT, split_all

from . import result

_CHUNKS = 80  # of a training; all pauses are ends of one


@dataclass(frozen=True)
class Options:
    """Train every task with both schedules, all seeds side by side."""

    tasks: tuple[str, ...] = (
        "ogbench-pointmaze-giant-stitch",
        "parts-2",
        "one-way-ring",
        "keydoor-gridworld",
        "cliffwalking",
    )
    seeds: int = 3
    steps: int = PathDist.default_steps
    out: Path | None = None
    """A JSON file to write the findings to."""


@dataclass(frozen=True)
class SingleFall(PathDist):
    """PathDist whose learning rate falls once, over the whole training."""

    name: ClassVar[str] = "pathdist"

    def _fallen(self, progress: Float[Array, ""]) -> Float[Array, ""]:
        return progress


def measure(task: str, options: Options) -> list[dict[str, Any]]:
    """The models of a task at every pause, and at the end of a single fall."""
    seeds = range(options.seeds)
    source = Source(task, tuple(seeds))
    of = [0 if task.startswith("ogbench") else seed for seed in seeds]  # one recording of a maze is enough to make
    recorded = {seed: source.data(seed) for seed in set(of)}
    data, held_out = split_all([recorded[seed] for seed in of], HELD_OUT)
    score, found = PathJudge(data, held_out), []
    for what, objective in (("four falls", PathDist()), ("one fall", SingleFall())):
        trainer = Trainer(objective, data, steps=options.steps, seeds=seeds)
        pauses = objective.pauses(options.steps) if what == "four falls" else (options.steps,)
        for pause in pauses:
            while trainer.step < pause:
                trainer.advance(min(options.steps // _CHUNKS, pause - trainer.step))
            models = trainer.models()
            scores = score(models)
            rows = []
            for k, model in enumerate(models):
                judged = judge(model, source.truths(of[k]), step=pause, seed=k, by_range=False)
                measures = {one.truth: [one.agreement["pearson"], one.agreement["ratio_cv"]] for one in judged}
                rows.append({**measures, "score": scores[k]})
            found.append({"task": task, "what": what, "step": pause, "rows": rows})
    return found


def main(options: Options) -> dict[str, Any]:
    """Run, print, write; what is done is written after every task."""
    findings: dict[str, Any] = {"rows": []}
    for task in options.tasks:
        findings["rows"] += measure(task, options)
        result.write(options.out, findings)
    rows = []
    for one in findings["rows"]:
        truth = next(iter(one["rows"][0]))
        pearson = ", ".join(f"{row[truth][0]:.4f}" for row in one["rows"])
        scores = ", ".join("" if row["score"] is None else f"{row['score']:.4f}" for row in one["rows"])
        rows.append((one["task"], one["what"], f"{one['step']:,}", truth, pearson, scores))
    result.show("Stopping early", ("task", "learning rate", "steps", "truth", "Pearson", "score"), rows)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
