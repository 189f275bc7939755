"""Time and memory of `DistanceModel.pairwise` and `nearest`: `python -m benchmarks.pairwise`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from . import result
from .contender import Advance, Contender

STATE_SIZE = 2
LATENT_SIZE = 512


@dataclass(frozen=True)
class Options:
    """Measure all pairs of many states, and a search for the nearest of very many."""

    size: int = 20_000
    """All pairs of so many states."""
    candidates: tuple[int, ...] = (100_000, 300_000, 1_000_000)
    """The nearest of so many states."""
    neighbours: int = 10
    device: Literal["auto", "cpu", "gpu"] = "auto"
    out: Path | None = None
    """A JSON file to write the findings to."""


@dataclass(frozen=True)
class Cost:
    """Of one call."""

    seconds: float
    added_bytes: int
    """How far resident memory rose above what it was before."""
    peak_bytes: int


def model_and_states(count: int) -> tuple[Any, Any]:
    """An untrained model of the paper's size, which costs what a trained one does, and states for it."""
    import numpy as np

    from minaction.objectives import MadDist
    from minaction.training import Trainer

    from .data import random_walks

    model = Trainer(MadDist(), random_walks(10, 201, STATE_SIZE), steps=1).models()[0]
    return model, np.random.default_rng(0).uniform(0, 40, (count, STATE_SIZE)).astype(np.float32)


def all_pairs(size: int) -> Advance:
    """`pairwise` of `size` states."""
    return _after_warm_up(lambda model, states: model.pairwise(states, states), size)


def nearest(size: int, neighbours: int) -> Advance:
    """The `neighbours` nearest of `size` states."""
    return _after_warm_up(lambda model, states: model.nearest(states[0], states, neighbours), size)


def _after_warm_up(work: Callable[[Any, Any], Any], size: int) -> Advance:
    model, states = model_and_states(size)
    work(model, states[:600])

    def advance() -> float:
        work(model, states)
        return 1

    return advance


def measure(options: Options, make: Callable[..., Advance], **settings: Any) -> Cost:
    """What one call in a fresh process costs."""
    with Contender(make, device=options.device, **settings) as contender:
        before = contender.wait_until_ready()
        turn = contender.run(0)
        return Cost(turn.seconds, turn.peak_bytes - before, turn.peak_bytes)


def stated_bound(size: int) -> int:
    """What `pairwise` promises: the result, the embeddings of both sides, and `WORKING_BYTES`."""
    from minaction._blockwise import WORKING_BYTES

    return 4 * size * size + 2 * 4 * LATENT_SIZE * size + WORKING_BYTES


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    found, bound = measure(options, all_pairs, size=options.size), stated_bound(options.size)
    findings: dict[str, Any] = {
        "pairwise": {"size": options.size, "bound_bytes": bound, **asdict(found)},
        "nearest": [],
    }
    rows = [_row(f"pairwise {options.size:,} x {options.size:,}", found, result.gibibytes(bound))]
    for size in options.candidates:
        found = measure(options, nearest, size=size, neighbours=options.neighbours)
        findings["nearest"].append({"size": size, **asdict(found)})
        rows.append(_row(f"nearest of {size:,}", found, ""))
    columns = ("call", "seconds", "memory needed", "stated bound", "peak of the process")
    result.show("A model of the paper's size", columns, rows)
    result.write(options.out, findings)
    return findings


def _row(call: str, cost: Cost, bound: str) -> tuple[str, ...]:
    added, peak = result.gibibytes(cost.added_bytes), result.gibibytes(cost.peak_bytes)
    return call, f"{cost.seconds:.2f}", added, bound, peak


if __name__ == "__main__":
    main(tyro.cli(Options))
