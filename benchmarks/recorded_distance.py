"""The recording as a graph against true distances, and what it costs: `python -m benchmarks.recorded_distance`."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

import minaction as ma

from . import recorded_worlds as worlds
from . import result


@dataclass(frozen=True)
class Case:
    """A world, and whether the constants of `minaction.recorded` were chosen looking at it."""

    name: str
    make: Callable[[], worlds.World]
    tuned: bool


def _task(name: str, seeds: range, tuned: bool, episodes: int | None = None) -> list[Case]:
    return [Case(f"{name} {seed}", lambda seed=seed: worlds.task(name, seed, episodes), tuned) for seed in seeds]


CASES = [
    *_task("cliffwalking", range(3), True),
    *_task("cliffwalking", range(3, 5), False),
    *_task("keydoor-gridworld", range(3), True),
    *_task("keydoor-gridworld", range(3, 5), False),
    *_task("noisy-gridworld", range(1), True),
    *_task("noisy-gridworld", range(1, 3), False),
    *_task("ogbench-pointmaze-giant-stitch", range(1), True),
    *_task("ogbench-pointmaze-medium-navigate", range(1), False),
    *_task("ogbench-pointmaze-large-stitch", range(1), False),
    *_task("pointmaze-umaze", range(1), True),
    *_task("pointmaze-medium", range(1), False, 300),
    *_task("ogbench-antmaze-medium-explore", range(1), True, 120),
    *_task("ogbench-antmaze-medium-navigate", range(1), False, 120),
    *_task("ogbench-antmaze-medium-stitch", range(1), False, 300),
    Case("mountain car 0", lambda: worlds.mountain_car(0, 200), True),
    Case("mountain car 1", lambda: worlds.mountain_car(1, 200), False),
    Case("mountain car 2, half as long", lambda: worlds.mountain_car(2, 100), False),
    Case("rooms 0", lambda: worlds.rooms(0), True),
    Case("rooms 1", lambda: worlds.rooms(1), False),
    Case("8 rooms", lambda: worlds.rooms(0, parts=8), False),
    Case("rooms, thin wall", lambda: worlds.rooms(0, wall=0.2), False),
    Case("4 grids", lambda: worlds.grid_parts(0), False),
    Case("8 grids", lambda: worlds.grid_parts(0, parts=8), False),
    Case("sparse grid", lambda: worlds.sparse_grid(0), False),
    Case("one-way ring", lambda: worlds.ring(0), False),
    Case("one-way ring, continuous", lambda: worlds.continuous_ring(0), False),
]


@dataclass(frozen=True)
class Options:
    """Measure all worlds, or those whose name contains `only`."""

    only: str = ""
    json: Path | None = Path("benchmarks/results/recorded_distance.json")


def measure(case: Case) -> list[dict[str, Any]]:
    """Build the graph and compare it with every truth of the world."""
    world = case.make()
    began = time.perf_counter()
    graph = ma.recorded_distance(world.data)
    built = time.perf_counter() - began
    rows = []
    for name, (sources, goals, true) in world.truths.items():
        began = time.perf_counter()
        found = graph.pairwise(sources, goals)
        asked = time.perf_counter() - began
        lost = np.isinf(found) & np.isfinite(true)
        # Correlation and error need numbers: pairs that got no path are left out of them, and counted.
        shown = np.where(np.isinf(found), 3 * found[np.isfinite(found)].max() + 1, found)
        rows.append(
            {
                "world": case.name,
                "truth": name,
                "tuned on": case.tuned,
                **asdict(ma.agreement(shown, np.where(lost, 0.0, true))),
                "auroc": ma.agreement(shown, true).auroc,
                "lost": float(lost.sum() / np.isfinite(true).sum()),
                "nodes": len(graph),
                "edges": graph.graph.nnz,
                "free": graph.free,
                "steps per move": graph.steps,
                "inputs that count": int(graph.counts.sum()),
                "seconds to build": built,
                "seconds per source": asked / len(sources),
                "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    return rows


def main(options: Options) -> None:
    rows = []
    for case in CASES:
        if options.only in case.name:
            rows += measure(case)
            print(_line(rows[-1]), flush=True)
    columns = ["world", "truth", "", "Pearson", "CV", "ratio", "error", "AUROC", "lost", "build", "per source"]
    result.show("The recording as a graph", columns, [_line(row) for row in rows])
    result.write(options.json, {"rows": [{k: _plain(v) for k, v in row.items()} for row in rows]})


def _line(row: dict[str, Any]) -> list[str]:
    return [
        row["world"],
        row["truth"],
        "tuned" if row["tuned on"] else "held out",
        f"{row['pearson']:.4f}",
        f"{row['ratio_cv']:.3f}",
        f"{row['mean_ratio']:.3f}",
        f"{row['mean_absolute_error']:.2f}",
        f"{row['auroc']:.3f}",
        f"{row['lost']:.1%}",
        f"{row['seconds to build']:.1f} s",
        f"{1000 * row['seconds per source']:.0f} ms",
    ]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


if __name__ == "__main__":
    main(tyro.cli(Options))
