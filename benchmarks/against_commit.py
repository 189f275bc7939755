"""Training speed of this tree against an earlier commit, in turns: `python -m benchmarks.against_commit COMMIT`.

Each version trains in a process of its own, pinned to one core, and they take turns of a few seconds, so that noise
affects both alike. What counts is CPU time per step, which other processes disturb less than wall time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import tyro

from . import result
from .contender import Advance, Contender, Round

CASES = {
    "maddist, few states": {"task": "cliffwalking", "objective": "maddist", "seeds": 1},
    "maddist, few states, 5 seeds": {"task": "cliffwalking", "objective": "maddist", "seeds": 5},
    "qrl, few states": {"task": "cliffwalking", "objective": "qrl", "seeds": 1},
    "maddist, many states": {"task": "dense", "objective": "maddist", "seeds": 1},
    "tautdist, many states": {"task": "dense", "objective": "tautdist", "seeds": 1},
}


@dataclass(frozen=True)
class Options:
    """Compare the training speed of this tree with that of COMMIT, on a CPU."""

    commit: Annotated[str, tyro.conf.Positional]
    """The commit to compare with; its `src` is taken from git."""
    only: tuple[str, ...] = tuple(CASES)
    """Which trainings to compare."""
    seconds: float = 2.0
    """How long one turn takes."""
    rounds: int = 15
    """How many turns each version has."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def pinned(source: str, task: str, objective: str, seeds: int) -> Advance:
    """Training with the package in the folder `source`, on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sys.path.insert(0, source)
    import minaction

    from .training_speed import ours

    if not Path(minaction.__file__).is_relative_to(source):
        raise SystemExit(f"Trains {minaction.__file__}, which is not in {source}.")
    return ours(task, seeds, objective)


def extract(commit: str, folder: Path) -> Path:
    """The `src` folder of a commit, unpacked into `folder`."""
    archive = subprocess.run(["git", "archive", commit, "src"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


def compare(case: str, before: Path, options: Options) -> dict[str, list[Round]]:
    """The turns of both versions on one case; which of them begins alternates."""
    sources = {"before": before, "after": Path("src").resolve()}
    with ExitStack() as stack:
        contenders = {
            name: stack.enter_context(Contender(pinned, device="cpu", source=str(source), **CASES[case]))
            for name, source in sources.items()
        }
        for contender in contenders.values():
            contender.wait_until_ready()
        turns: dict[str, list[Round]] = {name: [] for name in contenders}
        for number in range(options.rounds):
            for name in sorted(contenders, reverse=bool(number % 2)):
                turns[name].append(contenders[name].run(options.seconds))
    return turns


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    findings: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks.against_commit", *sys.argv[1:]]),
        "cases": {},
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        before = extract(options.commit, Path(folder))
        for case in options.only:
            turns = compare(case, before, options)
            costs = {name: [1e3 * turn.cpu_seconds / turn.units for turn in found] for name, found in turns.items()}
            ratio = median(costs["before"]) / median(costs["after"])
            paired = [b / a for b, a in zip(costs["before"], costs["after"], strict=True)]
            findings["cases"][case] = {
                "cpu_milliseconds_per_step": costs,
                "steps_per_second": {name: [turn.rate for turn in found] for name, found in turns.items()},
                "speed_after_by_before": ratio,
                "median_of_paired_ratios": median(paired),
            }
            rows.append(
                (
                    case,
                    *(f"{median(costs[name]):.3f}" for name in ("before", "after")),
                    f"{ratio:.3f}",
                    f"{median(paired):.3f}",
                    f"{min(paired):.2f} to {max(paired):.2f}",
                )
            )
            result.write(options.out, findings)
    columns = ("training", "before, CPU ms per step", "after", "speed after / before", "paired", "over the rounds")
    result.show(f"This tree against {options.commit} on one core", columns, rows)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
