"""How soon a trained model answers, in every runtime: `python -m benchmarks.latency --out FILE`.

One query (one state, one goal), 100 thousand pairs, all pairs of 5,000 states with 5,000, and the ten nearest among a
million, for a model of the default objective; one query and the pairs for others. Runtimes take turns in one process,
so that noise meets all alike. The browser, whose arithmetic is that of a plain script, is asked about fewer pairs.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from . import result
from .runtimes import Ask, Runtime, runtimes


@dataclass(frozen=True)
class Options:
    """Measure latency and throughput in each runtime that is installed."""

    queries: int = 500
    """Single queries of each runtime, in turns of 50."""
    pairs: int = 100_000
    browser_pairs: int = 2_000
    """How many of them the browser is asked about."""
    states: int = 5_000
    """All pairs of so many states with as many goals."""
    candidates: int = 1_000_000
    """Among which the ten nearest are found."""
    repeats: int = 2
    """How often all pairs and candidates are asked about."""
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


def seconds(ask: Ask, count: int, *given: Any) -> list[float]:
    """Of each of `count` calls."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        ask(*given)
        taken.append(time.perf_counter() - start)
    return taken


def timed(name: str, runtime: Runtime, count: int, states: Any, goals: Any) -> list[float]:
    """Of distances pair by pair; the browser times itself."""
    if name == "browser":
        return runtime.distance(states, goals, count)
    return seconds(runtime.distance, count, states, goals)


def measure(asked: dict[str, Runtime], options: Options, everything: bool) -> dict[str, Any]:
    """What each runtime took, in seconds, call by call."""
    import numpy as np

    random = np.random.default_rng(1)
    states, goals = (random.normal(size=(options.pairs, 2)).astype(np.float32) for _ in range(2))
    found: dict[str, Any] = {name: {"one query": [], "pairs": []} for name in asked}
    for _ in range(max(1, options.queries // 50)):
        for name, runtime in asked.items():
            timed(name, runtime, 5, states[:1], goals[:1])  # the caches are its own again
            found[name]["one query"] += timed(name, runtime, min(50, options.queries), states[:1], goals[:1])
    asked["JAX"].distance(states, goals)  # compiles; the others have nothing to prepare
    for name, runtime in asked.items():
        count = options.browser_pairs if name == "browser" else options.pairs
        found[name]["pairs asked"] = count
        found[name]["pairs"] = timed(name, runtime, options.repeats, states[:count], goals[:count])
    if everything:
        candidates = random.normal(size=(options.candidates, 2)).astype(np.float32)
        few = slice(0, options.states)
        for name, runtime in asked.items():
            if runtime.pairwise is not None and runtime.nearest is not None:
                found[name]["all pairs"] = seconds(runtime.pairwise, options.repeats, states[few], goals[few])
                found[name]["nearest"] = seconds(runtime.nearest, options.repeats, states[0], candidates, 10)
    return found


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    import numpy as np

    result.warn_if_busy()
    settings = {name: getattr(options, name) for name in ("queries", "pairs", "states", "candidates", "repeats")}
    findings: dict[str, Any] = {"load_average": os.getloadavg(), **settings, "models": {}}
    rows = []
    for number, (model_name, model) in enumerate(models().items()):
        with tempfile.TemporaryDirectory() as folder, runtimes(model, Path(folder)) as asked:
            found = measure(asked, options, everything=number == 0)
        for name, taken in found.items():
            queries = taken.pop("one query")
            taken["one query, median, us"] = 1e6 * statistics.median(queries)
            taken["one query, 95th percentile, us"] = 1e6 * float(np.quantile(queries, 0.95))
            large = [f"{min(taken[kind]):.2f}" if kind in taken else "" for kind in ("all pairs", "nearest")]
            rate = taken["pairs asked"] / min(taken["pairs"])
            rows.append((model_name, name, f"{taken['one query, median, us']:.0f}", f"{rate:,.0f}", *large))
        findings["models"][model_name] = found
        result.write(options.out, findings)  # after every model, because all of them take minutes
    columns = (
        "model",
        "runtime",
        "one query, us",
        f"pairs/s ({options.pairs:,})",
        f"{options.states:,} x {options.states:,}, s",
        f"nearest of {options.candidates:,}, s",
    )
    result.show("Latency and throughput of a distance", columns, rows)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
