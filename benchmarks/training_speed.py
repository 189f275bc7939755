"""Steps per second of MadDist, against the plain loop of `plain_loop.py`: `python -m benchmarks.training_speed`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import tyro

from . import result
from .contender import Advance, Contender, Round, in_turns

BASELINE = "plain PyTorch loop"
SEEDS = {"minaction, one seed": 1, "minaction, five seeds": 5}
TARGETS = {"cliffwalking": 8.0, "dense": 1.0}
"""How many times the baseline's steps per second training one seed is to reach on two cores."""


@dataclass(frozen=True)
class Options:
    """Compare training speeds; the contenders take turns."""

    only: tuple[Literal["cliffwalking", "dense"], ...] = ("cliffwalking", "dense")
    """Which data to train on: few different states, or as many as pointmaze-giant-stitch has."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    seconds: float = 6.0
    """How long one turn takes."""
    rounds: int = 5
    """How many turns each contender has."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def task_data(task: str) -> Any:
    """What is trained on."""
    from minaction.tasks import get_task

    from .data import random_walks

    if task == "cliffwalking":
        return get_task("cliffwalking").trajectories(1)
    return random_walks(episodes=1000, length=201, size=2)


def plain(task: str, torch_device: str) -> Advance:
    """The baseline, ten steps at a time."""
    from .plain_loop import PlainTraining

    training = PlainTraining(task_data(task), device=torch_device)

    def advance() -> float:
        for _ in range(9):
            training.step()
        float(training.step())  # wait for the device
        return 10

    advance()
    return advance


def ours(task: str, seeds: int, objective: str = "maddist") -> Advance:
    """A chunk of the library's own training."""
    from minaction.objectives import make_objective
    from minaction.training import Trainer

    trainer = Trainer(make_objective(objective, {"averaging": 0}), task_data(task), steps=1 << 30, seeds=range(seeds))

    def advance() -> float:
        trainer.advance(trainer.chunk_length)
        return trainer.chunk_length * seeds

    advance()
    return advance


def compare(task: str, options: Options) -> dict[str, list[Round]]:
    """The turns of every contender on one task."""
    with ExitStack() as stack:
        contenders = {
            BASELINE: stack.enter_context(
                Contender(plain, device=options.device, task=task, torch_device=options.device)
            )
        }
        for name, seeds in SEEDS.items():
            contenders[name] = stack.enter_context(Contender(ours, device=options.device, task=task, seeds=seeds))
        return in_turns(contenders, options.rounds, options.seconds)


def summary(rounds: dict[str, list[Round]]) -> dict[str, dict[str, Any]]:
    """Median rates, and the median over the rounds of the ratio to the baseline's turn in the same round."""
    found = {}
    for name, turns in rounds.items():
        ratios = [turn.rate / base.rate for turn, base in zip(turns, rounds[BASELINE], strict=True)]
        found[name] = {
            "steps_per_second": median(turn.rate for turn in turns),
            "ratio": median(ratios),
            "lowest_ratio": min(ratios),
            "highest_ratio": max(ratios),
        }
    return found


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    findings: dict[str, Any] = {}
    rows = []
    for task in options.only:
        findings[task] = {"target_ratio": TARGETS[task], **summary(compare(task, options))}
        for name in (BASELINE, *SEEDS):
            found = findings[task][name]
            spread = f"{found['lowest_ratio']:.2f} to {found['highest_ratio']:.2f}"
            target = f"{TARGETS[task]:g}" if SEEDS.get(name) == 1 else ""
            rows.append((task, name, f"{found['steps_per_second']:.1f}", f"{found['ratio']:.2f}", spread, target))
    columns = ("data", "training", "seed-steps per second", "ratio", "over the rounds", "target")
    result.show("MadDist with the paper's sizes", columns, rows)
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
