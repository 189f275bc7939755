"""How soon a trained model answers, in every runtime: `python -m benchmarks.latency --out FILE`.

One query (one state, one goal), and 100 thousand pairs, for a model of the paper's size with the simple quasimetric and
with IQE, and for a small one. Runtimes take turns in one process, so that noise meets all alike.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from . import result

Ask = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Options:
    """Measure one query and many pairs in each runtime that is installed."""

    queries: int = 500
    """Single queries of each runtime, in turns of 50."""
    pairs: int = 100_000
    repeats: int = 3
    """How often all pairs are asked."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def models() -> dict[str, Any]:
    """Untrained, which cost what trained ones do."""
    import jax
    import numpy as np

    import minaction as ma
    from minaction._distance import Architecture
    from minaction._model import DistanceModel, Provenance
    from minaction.encoders import input_statistics

    inputs = input_statistics(np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32))
    described = {
        "paper's size, simple": Architecture(ma.MLP(), ma.Simple()),
        "paper's size, iqe": Architecture(ma.MLP(), ma.IQE()),
        "paper's size, wide norm": Architecture(ma.MLP(), ma.WideNorm()),
        "256-256-64, simple": Architecture(ma.MLP(hidden=(256, 256), latent=64), ma.Simple()),
    }
    return {
        name: DistanceModel(made.build(inputs, key=jax.random.key(0)), made, Provenance("none"), (2,))
        for name, made in described.items()
    }


def runtimes(model: Any, folder: Path) -> dict[str, Ask]:
    """Each takes and gives NumPy arrays, as whoever asks has them; those that are not installed are left out."""
    import numpy as np

    from minaction.runtimes import numpy as alone

    path = folder / "model.safetensors"
    model.save(path)
    found: dict[str, Ask] = {
        "NumPy": alone.load(path).distance,
        "JAX": lambda states, goals: np.asarray(model.distance(states, goals)),
    }
    try:
        import onnxruntime

        model.export(folder / "model.onnx")
        session = onnxruntime.InferenceSession(folder / "model.onnx")
        found["ONNX Runtime"] = lambda states, goals: session.run(None, {"states": states, "goals": goals})[0]
    except ImportError:
        pass
    try:
        import torch

        from minaction.runtimes import torch as pytorch

        module = pytorch.load(path)

        def ask(states: Any, goals: Any) -> Any:
            with torch.inference_mode():
                return module(torch.from_numpy(states), torch.from_numpy(goals)).numpy()

        found["PyTorch"] = ask
    except ImportError:
        pass
    return found


def seconds(ask: Ask, states: Any, goals: Any, count: int) -> list[float]:
    """Of each of `count` calls."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        ask(states, goals)
        taken.append(time.perf_counter() - start)
    return taken


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    import numpy as np

    result.warn_if_busy()
    random = np.random.default_rng(1)
    states, goals = (random.normal(size=(options.pairs, 2)).astype(np.float32) for _ in range(2))
    findings: dict[str, Any] = {"load_average": os.getloadavg(), "pairs": options.pairs, "models": {}}
    rows = []
    for name, model in models().items():
        with tempfile.TemporaryDirectory() as folder:
            asked = runtimes(model, Path(folder))
            single: dict[str, list[float]] = {runtime: [] for runtime in asked}
            many: dict[str, list[float]] = {runtime: [] for runtime in asked}
            for _ in range(max(1, options.queries // 50)):
                for runtime, ask in asked.items():
                    seconds(ask, states[:1], goals[:1], 5)  # the caches are its own again
                    single[runtime] += seconds(ask, states[:1], goals[:1], min(50, options.queries))
            asked["JAX"](states, goals)  # compiles; the others have nothing to prepare
            for _ in range(options.repeats):
                for runtime, ask in asked.items():
                    many[runtime] += seconds(ask, states, goals, 1)
        found = {
            runtime: {
                "one_query_median_microseconds": 1e6 * statistics.median(single[runtime]),
                "one_query_p95_microseconds": 1e6 * float(np.quantile(single[runtime], 0.95)),
                "pairs_seconds": many[runtime],
            }
            for runtime in asked
        }
        findings["models"][name] = found
        result.write(options.out, findings)  # after every model, because all of them take minutes
        for runtime, one in found.items():
            median, late = one["one_query_median_microseconds"], one["one_query_p95_microseconds"]
            rows.append((name, runtime, f"{median:.0f}", f"{late:.0f}", f"{min(many[runtime]):.2f}"))
    columns = ("model", "runtime", "one query, us", "95th percentile", f"{options.pairs:,} pairs, s")
    result.show("Latency of a distance", columns, rows)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
