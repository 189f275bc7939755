"""From nothing to the page, two grid worlds with every method: `python -m benchmarks.small_suite`.

The machine is measured too, before every round: how fast one core multiplies matrices, which is most of the work.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import tyro

from . import result

_SIZE = 512  # of the matrices, as of the widest layers


@dataclass(frozen=True)
class Options:
    """Run `minaction suite paper` and `minaction report` in an empty folder, more than once."""

    only: str = "cliffwalking,keydoor-gridworld"
    seeds: int = 2
    steps: int = 2000
    rounds: int = 3
    """How often to do it all."""
    out: Path | None = None
    """A JSON file to write the findings to."""


class Round(NamedTuple):
    """How long it took once."""

    suite_seconds: float
    page_seconds: float
    core_seconds: float
    """Of all processes together."""
    matrix_gflops: float
    """What one core of this machine did before it, in billions of operations a second."""


def matrix_gflops(seconds: float = 1.0) -> float:
    """The speed of one core at matrix products of single precision; the median of many, since others may interfere."""
    program = f"""
import time, numpy
a, b, out = (numpy.ones(({_SIZE}, {_SIZE}), numpy.float32) for _ in range(3))
end = time.perf_counter() + {seconds}
while time.perf_counter() < end:
    began = time.perf_counter()
    numpy.matmul(a, b, out=out)
    print(time.perf_counter() - began)
"""
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "MKL_NUM_THREADS"), "1")
    told = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **one_thread}, check=True, capture_output=True, text=True
    )
    return 2e-9 * _SIZE**3 / median(map(float, told.stdout.split()))


def once(options: Options, folder: Path) -> Round:
    """All of it in an empty folder."""
    gflops = matrix_gflops()
    store, page = folder / "runs", folder / "report.html"
    before = _core_seconds()
    grid = ["paper", "--only", options.only, "--seeds", str(options.seeds), "--steps", str(options.steps)]
    suite_seconds = _timed("suite", *grid, "--out", str(store), cache=folder / "cache")
    page_seconds = _timed("report", str(store), "-o", str(page), cache=folder / "cache")
    return Round(suite_seconds, page_seconds, _core_seconds() - before, gflops)


def _timed(*arguments: str, cache: Path) -> float:
    """How long the command takes; one that fails has said why."""
    began = time.monotonic()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    ended = subprocess.run([sys.executable, "-m", "minaction", *arguments], env=environment)
    if ended.returncode:
        raise SystemExit(ended.returncode)
    return time.monotonic() - began


def _core_seconds() -> float:
    """Of the processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    rounds = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(once(options, Path(folder)))
    columns = ("round", "suite (s)", "page (s)", "core-seconds", "GFLOP/s of a core")
    rows = [(str(k), *(f"{value:,.0f}" for value in found)) for k, found in enumerate(rounds, start=1)]
    result.show(f"{options.only}: {options.seeds} seeds, {options.steps:,} steps", columns, rows)
    findings = {
        "only": options.only,
        "seeds": options.seeds,
        "steps": options.steps,
        "rounds": [{name: round(value, 1) for name, value in found._asdict().items()} for found in rounds],
    }
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
