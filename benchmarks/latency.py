"""How soon a trained model answers, in every runtime: `python -m benchmarks.latency --out FILE`.

One query (one state, one goal), 100 thousand pairs, all pairs of 5,000 states with 5,000, and the ten nearest among a
million, for a model of the default objective; one query and the pairs for others. Runtimes take turns in one process,
so that noise meets all alike. It takes some twenty minutes, most of them the browser's, and says where it is.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from . import result
from .runtimes import Runtime, runtimes

TURN = 50  # queries of one runtime before it is the next one's turn
IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


@dataclass(frozen=True)
class Options:
    """Measure latency and throughput in each runtime that is installed."""

    queries: int = 500
    """Single queries of each runtime, in turns of 50."""
    pairs: int = 100_000
    states: int = 5_000
    """All pairs of so many states with as many goals."""
    candidates: int = 1_000_000
    """Among which the ten nearest are found."""
    repeats: int = 2
    """How often all but single queries are asked."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def models() -> dict[str, Any]:
    """Untrained, which cost what trained ones do; the first is asked everything."""
    import jax
    import numpy as np

    import minaction as ma
    from minaction._distance import Architecture
    from minaction._model import DistanceModel, Provenance
    from minaction.encoders import input_statistics

    inputs = input_statistics(np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32))
    described = {
        "default (PathDist)": ma.PathDist().architecture,
        "paper's size, simple": Architecture(ma.MLP(), ma.Simple()),
        "paper's size, iqe": Architecture(ma.MLP(), ma.IQE()),
        "256-256-64, simple": Architecture(ma.MLP(hidden=(256, 256), latent=64), ma.Simple()),
    }
    return {
        name: DistanceModel(made.build(inputs, key=jax.random.key(0)), made, Provenance("none"), (2,))
        for name, made in described.items()
    }


def measure(
    asked: dict[str, Runtime], options: Options, everything: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    """What each runtime took, in seconds, call by call."""
    import numpy as np

    random = np.random.default_rng(1)
    states, goals = (random.normal(size=(options.pairs, 2)).astype(np.float32) for _ in range(2))
    one, few = (states[:1], goals[:1]), (states[: options.states], goals[: options.states])
    found: dict[str, Any] = {name: {"one query": []} for name in asked}
    for _ in range(max(1, options.queries // TURN)):
        for name, runtime in asked.items():
            for _ in range(5):  # the caches are its own again
                runtime.seconds("distance", *one)
            found[name]["one query"] += [runtime.seconds("distance", *one) for _ in range(TURN)]
    tell("one query in every runtime")
    questions: dict[str, tuple[str, Any]] = {"pairs": ("distance", (states, goals))}
    if everything:
        candidates = random.normal(size=(options.candidates, 2)).astype(np.float32)
        questions |= {"all pairs": ("pairwise", few), "nearest": ("nearest", (states[0], candidates, 10))}
    for kind, (question, given) in questions.items():
        asked["JAX"].seconds(question, *given)  # compiles; the others have nothing to prepare
        for name, runtime in asked.items():
            found[name][kind] = [runtime.seconds(question, *given) for _ in range(options.repeats)]
            tell(f"{name}, {kind}: {min(found[name][kind]):.2f} s")
    return found


def import_seconds(modules: str) -> float:
    """The least of ten fresh processes; bytecode is kept, as that of an installed package is."""
    command = [sys.executable, "-c", IMPORT.format(modules)]
    with tempfile.TemporaryDirectory() as folder:
        kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        return min(float(subprocess.run(command, capture_output=True, check=True, env=kept).stdout) for _ in range(10))


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    import numpy as np

    result.warn_if_busy()
    settings = {name: getattr(options, name) for name in ("queries", "pairs", "states", "candidates", "repeats")}
    imports = {name: import_seconds(name) for name in ("minaction.runtimes.numpy", "numpy, safetensors")}
    findings: dict[str, Any] = {"load_average": os.getloadavg(), **settings, "import_seconds": imports, "models": {}}
    rows, console = [], Console()
    for number, (model_name, model) in enumerate(models().items()):
        console = Console()
        with (
            console.status(model_name),
            tempfile.TemporaryDirectory() as folder,
            runtimes(model, Path(folder)) as asked,
        ):
            found = measure(asked, options, number == 0, partial(console.print, model_name, sep=", "))
        for name, taken in found.items():
            queries = taken.pop("one query")
            taken["one query, median, us"] = 1e6 * statistics.median(queries)
            taken["one query, 95th percentile, us"] = 1e6 * float(np.quantile(queries, 0.95))
            large = [f"{min(taken[kind]):.2f}" if kind in taken else "" for kind in ("pairs", "all pairs", "nearest")]
            rows.append((model_name, name, f"{taken['one query, median, us']:.0f}", *large))
        findings["models"][model_name] = found
        result.write(options.out, findings)  # after every model, because all of them take minutes
    columns = (
        "model",
        "runtime",
        "one query, us",
        f"{options.pairs:,} pairs, s",
        f"{options.states:,} x {options.states:,}, s",
        f"nearest of {options.candidates:,}, s",
    )
    result.show("Latency and throughput of a distance", columns, rows)
    print(f"Importing the NumPy runtime: {imports['minaction.runtimes.numpy']:.3f} s")
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
