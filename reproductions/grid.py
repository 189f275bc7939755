"""Train the grid behind RESULTS.md: every task and method, the most telling ones longest.

    python reproductions/grid.py runs/paper                 everything: some eighty minutes on an H200, by estimate
    python reproductions/grid.py runs/paper --part ants     one part: balls, ants or small
    python reproductions/grid.py runs/paper --list          what would be trained

`minaction suite paper` trains every run for as long as the paper does, an estimated four hours on a GPU. This trains
at full length where that tells most, and shorter elsewhere. The same command goes on where one was interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from minaction.suite import Local, SuiteFolder, run_suite
from minaction.suite._grids import ANT_EXPLORE, ANTS, CLIFF_WALKING, GRID_WORLDS, MAZES, METHODS, paper
from minaction.training import RunConfig

BALLS = tuple(task for task in MAZES if task.startswith("ogbench-pointmaze"))
MEDIUM_STITCH, LARGE_STITCH, GIANT_STITCH = (
    f"ogbench-pointmaze-{size}-stitch" for size in ("medium", "large", "giant")
)
MEDIUM_NAVIGATE, GIANT_NAVIGATE = (f"ogbench-pointmaze-{size}-navigate" for size in ("medium", "giant"))
INERTIAL = ("pointmaze-umaze", "pointmaze-medium")
BOTH = ("maddist", "tautdist")
FAST = ("tdmaddist", "plandist-simple", "plandist", "hilbert")


class Stage(NamedTuple):
    """Runs of equal length."""

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    steps: int
    seeds: int = 3


PARTS = {
    "balls": (
        Stage((GIANT_STITCH,), METHODS, 100_000),
        Stage((LARGE_STITCH,), ("tdmaddist", "plandist", "hilbert", "qrl"), 100_000),
        Stage((MEDIUM_STITCH,), ("tdmaddist", "plandist", "hilbert"), 100_000),
        Stage((MEDIUM_NAVIGATE, GIANT_NAVIGATE), ("maddist",), 100_000),
        Stage(BALLS, BOTH, 50_000),
        Stage(BALLS, FAST, 16_000),
        Stage(INERTIAL, BOTH, 25_000),
        Stage(BALLS, ("qrl",), 4_000),
        Stage(INERTIAL, FAST, 6_000),
        Stage(INERTIAL, ("qrl",), 2_000),
    ),
    "ants": (
        Stage((ANT_EXPLORE,), (*BOTH, "tdmaddist", "plandist-simple", "plandist", "qrl"), 100_000),
        Stage((ANT_EXPLORE,), ("hilbert",), 30_000),
        Stage(ANTS, BOTH, 40_000),
        Stage(ANTS, FAST, 12_000),
        Stage(ANTS, ("qrl",), 4_000),
    ),
    "small": (
        Stage((CLIFF_WALKING,), METHODS, 50_000, seeds=5),
        Stage(GRID_WORLDS, (*BOTH, *FAST), 30_000),
        Stage(GRID_WORLDS, ("qrl",), 20_000),
    ),
}
"""In order of importance. A method on a task is taken from the first stage that has it."""


def runs(parts: Sequence[str] = tuple(PARTS)) -> dict[tuple[str, str], list[RunConfig]]:
    """What is trained, one run per seed, by task and method."""
    found: dict[tuple[str, str], list[RunConfig]] = {}
    for stage in (stage for part in parts for stage in PARTS[part]):
        wanted: dict[tuple[str, str], list[RunConfig]] = {}
        for run in paper(stage.seeds, stage.steps).runs:
            if run.data in stage.tasks and run.method in stage.methods:
                wanted.setdefault((run.data, run.method), []).append(run)
        found |= {name: seeds for name, seeds in wanted.items() if name not in found}
    return found


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, help="folder for the results")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts")
    parser.add_argument("--jobs", type=int, default=1, help="how many programs to run at a time; 2 hide compilation")
    parser.add_argument("--replicas", type=int, help="how many runs to train in one program at most")
    parser.add_argument("--list", action="store_true", help="say what would be trained, and leave")
    options = parser.parse_args()
    wanted = runs(options.part)
    if options.list:
        for (task, method), seeds in wanted.items():
            print(f"{task}: {method}, {len(seeds)} seeds, {seeds[0].steps:,} steps")
        return
    configs = [run for seeds in wanted.values() for run in seeds]
    backend = Local.default(len(wanted), options.jobs, options.replicas)
    print(run_suite(SuiteFolder(options.store), "paper", configs, backend))


if __name__ == "__main__":
    main()
