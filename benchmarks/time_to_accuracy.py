"""From a recording on disk to a given agreement with the truth: `python -m benchmarks.time_to_accuracy`.

Every contender is a fresh process; its start, reading, compiling and training count, and comparing with the truth does
not. What would take hours is extrapolated and marked as such: the measured speed times the steps that the published
curve, or our own run of it (reproductions/RESULTS.md), takes to get there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from minaction._platform import choose_device

from . import result
from .small_suite import matrix_gflops

BASELINE = "plain PyTorch loop"
CONTENDERS = {BASELINE: "plain", "MadDist": "maddist", "default": "pathdist", "default, second start": "pathdist"}


@dataclass(frozen=True)
class Target:
    """What is to be reached, and how many steps of MadDist that takes; None where MadDist never gets there."""

    truth: str
    pearson: float
    ratio_cv: float | None = None
    maddist_steps: int | None = None
    source: str = "published"

    def reached(self, found: Mapping[str, Any]) -> bool:
        """Whether an evaluation is as good as that."""
        pearson, ratio_cv = found.get("pearson"), found.get("ratio_cv")
        enough = pearson is not None and pearson >= self.pearson
        return enough and (self.ratio_cv is None or (ratio_cv is not None and ratio_cv <= self.ratio_cv))


_OURS = "our MadDist, reproductions/RESULTS.md"
TARGETS = {
    "cliffwalking": Target("true", 0.991, 0.078, 50_000),
    "keydoor-gridworld": Target("true", 0.989, 0.100, 30_000, _OURS),
    "ogbench-pointmaze-giant-stitch": Target("cells", 0.978, maddist_steps=100_000),
    "ogbench-pointmaze-medium-navigate": Target("steps", 0.990, maddist_steps=100_000, source=_OURS),
    "ogbench-antmaze-medium-explore": Target("cells", 0.960, maddist_steps=100_000),
    "mountaincar": Target("true", 0.95, source="asked"),
}


@dataclass(frozen=True)
class Options:
    """Let every contender learn every task once."""

    tasks: tuple[str, ...] = tuple(TARGETS)
    contenders: tuple[str, ...] = tuple(CONTENDERS)
    device: Literal["auto", "cpu", "gpu"] = "auto"
    minutes: float = 3.0
    """How long a contender may take for a task."""
    plain_seconds: float = 20.0
    """How long the speed of the plain loop is measured."""
    steps: int | None = None
    """The length of the default's training; its own by default."""
    seed: int = 0
    episodes: int | None = None
    """Of each recording; the task's own number by default."""
    truth: str | None = None
    """Another truth to be judged by, and ..."""
    pearson: float | None = None
    """... another correlation to be reached, where somebody asks for these."""
    out: Path | None = None
    """A JSON file to write the findings to."""


@dataclass
class Outcome:
    """How one contender did on one task."""

    seconds: float | None = None
    """Until the target; None if it was not reached."""
    core_seconds: float | None = None
    """Likewise, of processor time."""
    extrapolated: bool = False
    step: int | None = None
    steps_per_second: float | None = None
    steps_per_core_second: float | None = None
    seconds_to_ready: float | None = None
    """Until data are read and prepared."""
    seconds_to_first_steps: float | None = None
    """Until the program is compiled, and has run once."""
    seconds_in_all: float | None = None
    """Until the end of the training or of the time allowed."""
    evaluating_seconds: float = 0.0
    """Which do not count."""
    last: dict[str, Any] = field(default_factory=dict)
    curve: list[tuple[float, int, float | None, float | None]] = field(default_factory=list)
    """Seconds, step, Pearson, Ratio CV."""


def target_of(task: str, options: Options) -> Target:
    """What the options ask for, else what was published or is known of the task."""
    if options.truth is None and options.pearson is None:
        return TARGETS[task]
    known = TARGETS[task]
    return Target(options.truth or known.truth, options.pearson or known.pearson, source="asked")


def record(task: str, options: Options, folder: Path) -> tuple[Path, Path]:
    """The recording and the truth of a task as files; making them does not count."""
    from minaction.tasks import Source

    source = Source(task, (options.seed,), options.episodes)
    recording, truth = folder / f"{task}.safetensors", folder / f"{task}.npz"
    source.data(options.seed).save(recording)
    found = next(one for one in source.truths(options.seed) if one.name == target_of(task, options).truth)
    np.savez(truth, sources=found.sources, targets=found.targets, distances=found.distances)
    return recording, truth


def run(name: str, files: tuple[Path, Path], target: Target, options: Options, cache: Path) -> Outcome:
    """One contender in a process of its own, with `cache` as the user's cache folder."""
    objective = CONTENDERS[name]
    seconds = options.plain_seconds if name == BASELINE else 60 * options.minutes
    command = [sys.executable, "-m", "benchmarks.learner", "--recording", str(files[0]), "--truth", str(files[1])]
    command += ["--objective", objective, "--seconds", str(seconds), "--seed", str(options.seed)]
    command += ["--device", options.device]
    if options.steps is not None and objective == "pathdist":
        command += ["--steps", str(options.steps)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    told = subprocess.run(
        [*command, "--began", repr(time.time())], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return outcome([json.loads(line) for line in told.stdout.splitlines()], target, name)


def outcome(lines: list[dict[str, Any]], target: Target, name: str) -> Outcome:
    """What the lines that a contender printed come to."""
    found = Outcome()
    for line in lines:
        found.seconds_in_all, found.evaluating_seconds = line["seconds"], line["evaluating_seconds"]
        if line["what"] == "ready":
            found.seconds_to_ready = line["seconds"]
        elif line["what"] == "compiled":
            found.seconds_to_first_steps = line["seconds"]
        else:
            found.last = {key: line[key] for key in ("step", "pearson", "ratio_cv") if key in line}
            found.steps_per_second = line.get("steps_per_second")
            found.steps_per_core_second = line.get("steps_per_core_second")
            if "pearson" in line:
                point = (line["seconds"], line["step"], line["pearson"], line["ratio_cv"])
                found.curve.append(point)
            if found.seconds is None and target.reached(line):
                found.seconds, found.core_seconds, found.step = line["seconds"], line["core_seconds"], line["step"]
    steps = target.maddist_steps or 0
    follows_a_curve = CONTENDERS[name] in ("plain", "maddist") and steps > 0
    if found.seconds is None and follows_a_curve and found.steps_per_second and found.steps_per_core_second:
        begin = next(line for line in lines if line["what"] == "compiled")
        found.step, found.extrapolated = steps, True
        found.seconds = begin["seconds"] + steps / found.steps_per_second
        found.core_seconds = begin["core_seconds"] + steps / found.steps_per_core_second
    found.curve = found.curve[:: max(1, len(found.curve) // 60)]
    return found


def main(options: Options) -> dict[str, Any]:
    """Run, print, write; what is done is written after every task."""
    choose_device(options.device)
    result.warn_if_busy()
    findings: dict[str, Any] = {"device": options.device, "matrix_gflops_per_core": matrix_gflops(), "tasks": {}}
    rows = []
    for task in options.tasks:
        target = target_of(task, options)
        with tempfile.TemporaryDirectory() as temporary:
            files = record(task, options, Path(temporary))
            found = {name: run(name, files, target, options, Path(temporary)) for name in options.contenders}
        base = found[BASELINE].seconds if BASELINE in found else None
        findings["tasks"][task] = {
            "target": vars(target),
            **{name: {**vars(one), "ratio": ratio(base, one.seconds)} for name, one in found.items()},
        }
        rows += [row(task, name, one, base) for name, one in found.items()]
        result.write(options.out, findings)
    columns = ("task", "training", "seconds to target", "of a core", "step", "steps/s", "first steps after", "ratio")
    result.show("Time to accuracy", columns, rows)
    return findings


def ratio(base: float | None, seconds: float | None) -> float | None:
    """How many times as fast as the baseline."""
    return base / seconds if base and seconds else None


def row(task: str, name: str, found: Outcome, base: float | None) -> tuple[str, ...]:
    """A line of the table."""
    times = ratio(base, found.seconds)
    mark = " (extrapolated)" if found.extrapolated else ""
    return (
        task,
        name,
        "not reached" if found.seconds is None else f"{found.seconds:,.1f}{mark}",
        "" if found.core_seconds is None else f"{found.core_seconds:,.1f}",
        "" if found.step is None else f"{found.step:,}",
        "" if found.steps_per_second is None else f"{found.steps_per_second:,.1f}",
        "" if found.seconds_to_first_steps is None else f"{found.seconds_to_first_steps:.1f}",
        "" if times is None else f"{times:,.1f}",
    )


if __name__ == "__main__":
    main(tyro.cli(Options))
