"""Training speed of this tree against an earlier commit, in turns: `python -m benchmarks.against_commit COMMIT`.

Each version trains in a process of its own, pinned to one core, and they take turns of a few seconds, so that noise
affects both alike. What counts is CPU time per step, which other processes disturb less than wall time. The compiled
programs are compared too: where they are equal but for names, a difference in speed is noise.
"""

from __future__ import annotations

import os
import re
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
    """How many turns each version has; 0 compares the compiled programs only."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def pinned(source: str, dump: str, task: str, objective: str, seeds: int) -> Advance:
    """Training with the package in the folder `source`, on one core; XLA writes its programs to `dump`."""
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={dump} --xla_dump_hlo_as_text"
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


def program(dump: Path) -> str:
    """The optimised training program without what does not affect it: metadata, numbering, and names of weights."""
    (path,) = dump.glob("*jit_chunk.cpu_after_optimizations.txt")
    text = re.sub(r",? ?metadata=\{[^}]*\}", "", path.read_text())
    text = re.sub(r"^(FileNames|FunctionNames|FileLocations|StackFrames)\n(.+\n)*", "", text, flags=re.MULTILINE)
    return re.sub(r"%?state_\w+", "weights", re.sub(r"\.\d+", "", text))


def compare(case: str, before: Path, folder: Path, options: Options) -> tuple[bool, dict[str, list[Round]]]:
    """Whether both versions have the same program, and their turns; which of them begins alternates."""
    sources = {"before": before, "after": Path("src").resolve()}
    dumps = {name: folder / re.sub(r"\W+", "-", f"{case} {name}") for name in sources}  # flags end at a space
    with ExitStack() as stack:
        contenders = {
            name: stack.enter_context(
                Contender(pinned, device="cpu", source=str(source), dump=str(dumps[name]), **CASES[case])
            )
            for name, source in sources.items()
        }
        for contender in contenders.values():
            contender.wait_until_ready()
        turns: dict[str, list[Round]] = {name: [] for name in contenders}
        for number in range(options.rounds):
            for name in sorted(contenders, reverse=bool(number % 2)):
                turns[name].append(contenders[name].run(options.seconds))
    return program(dumps["before"]) == program(dumps["after"]), turns


def summary(turns: dict[str, list[Round]]) -> dict[str, Any]:
    """CPU time per step of every turn, and the ratio of the medians."""
    costs = {name: [1e3 * turn.cpu_seconds / turn.units for turn in found] for name, found in turns.items()}
    paired = [b / a for b, a in zip(costs["before"], costs["after"], strict=True)]
    return {
        "cpu_milliseconds_per_step": costs,
        "steps_per_second": {name: [turn.rate for turn in found] for name, found in turns.items()},
        "speed_after_by_before": median(costs["before"]) / median(costs["after"]),
        "median_of_paired_ratios": median(paired),
        "paired_ratios": [min(paired), max(paired)],
    }


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
            same, turns = compare(case, before, Path(folder), options)
            found = summary(turns) if options.rounds else {}
            findings["cases"][case] = {"same_program": same, **found}
            numbers = (f"{found[key]:.3f}" for key in ("speed_after_by_before", "median_of_paired_ratios") if found)
            rows.append((case, "yes" if same else "no", *numbers))
            result.write(options.out, findings)
    columns = ("training", "same program", "speed after / before", "median of pairs")
    result.show(f"This tree against {options.commit} on one core", columns if options.rounds else columns[:2], rows)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
