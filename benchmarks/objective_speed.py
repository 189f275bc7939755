"""Steps per second of every objective with its published network: `python -m benchmarks.objective_speed`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

import tyro

from . import result
from .contender import Contender
from .training_speed import ours

REFERENCE = "maddist"
_COMPILED_AT_ONCE = 2  # compiling for a GPU tries kernels out on it; many at once get in each other's way
OBJECTIVES = (REFERENCE, "pathdist", "tautdist", "tdmaddist", "plandist", "plandist-simple", "hilbert", "qrl-long")


@dataclass(frozen=True)
class Options:
    """Train every objective on data of the size of pointmaze-giant-stitch; the contenders take turns."""

    objectives: tuple[str, ...] = OBJECTIVES
    seeds: tuple[int, ...] = (5,)
    """How many seeds of MadDist to train side by side as well."""
    device: Literal["auto", "cpu", "gpu"] = "auto"
    seconds: float = 2.0
    """How long one turn takes."""
    rounds: int = 3
    """How many turns each contender has."""
    out: Path | None = None
    """A JSON file to write the findings to."""


def device_kind(device: str) -> str:
    """What the contenders computed on."""
    import jax

    return jax.devices(None if device == "auto" else device)[0].device_kind


def main(options: Options) -> dict[str, Any]:
    """Run, print, write."""
    result.warn_if_busy()
    names = [(objective, 1) for objective in options.objectives] + [(REFERENCE, seeds) for seeds in options.seeds]
    contenders: list[Contender] = []
    with ExitStack() as stack:
        for first in range(0, len(names), _COMPILED_AT_ONCE):
            some = names[first : first + _COMPILED_AT_ONCE]
            started = [
                Contender(ours, device=options.device, task="dense", objective=name, seeds=seeds)
                for name, seeds in some
            ]
            contenders += [stack.enter_context(contender) for contender in started]
            for contender in started:
                contender.wait_until_ready()
        rounds = [[contender.run(options.seconds).rate for contender in contenders] for _ in range(options.rounds)]
    rates = {name: [turn[k] for turn in rounds] for k, name in enumerate(names)}
    findings: dict[str, Any] = {"device": device_kind(options.device)}
    rows = []
    for (objective, seeds), turns in rates.items():
        found: dict[str, Any] = {"seed_steps_per_second": turns}
        if (REFERENCE, 1) in rates:
            found["ratio"] = median(a / b for a, b in zip(turns, rates[REFERENCE, 1], strict=True))
        findings.setdefault(objective, {})[f"{seeds} seeds" if seeds > 1 else "1 seed"] = found
        spread = f"{min(turns):,.0f} to {max(turns):,.0f}"
        rows.append((objective, str(seeds), f"{median(turns):,.0f}", spread, f"{found.get('ratio', float('nan')):.2f}"))
    columns = ("objective", "seeds", "seed-steps per second", "over the rounds", f"ratio to one seed of {REFERENCE}")
    result.show(f"Training on {findings['device']}", columns, rows)
    result.write(options.out, findings)
    return findings


if __name__ == "__main__":
    main(tyro.cli(Options))
