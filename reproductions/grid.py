"""Train the grid behind RESULTS.md: every task and method, the most telling ones longest.

    python reproductions/grid.py runs/paper                 everything: some eighty minutes on an H200, by estimate
    python reproductions/grid.py runs/paper --part ants     one part: balls, ants or small
    python reproductions/grid.py runs/paper --list          what would be trained

`minaction suite paper` trains every cell for as long as the paper does, an estimated four hours on a GPU. This trains
at full length where that tells most, and shorter elsewhere. The same command goes on where one was interrupted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from minaction.suite._bundles import sensible_lanes
from minaction.suite._cells import Cell, grouped
from minaction.suite._grids import ANT_EXPLORE, ANTS, CLIFF_WALKING, GRID_WORLDS, MAZES, METHODS, paper
from minaction.suite._local import Local, default_devices
from minaction.suite._runner import run_suite
from minaction.suite._store import Store

BALLS = tuple(task for task in MAZES if task.startswith("ogbench-pointmaze"))
MEDIUM_STITCH, LARGE_STITCH, GIANT_STITCH = (
    f"ogbench-pointmaze-{size}-stitch" for size in ("medium", "large", "giant")
)
MEDIUM_NAVIGATE, GIANT_NAVIGATE = (f"ogbench-pointmaze-{size}-navigate" for size in ("medium", "giant"))
INERTIAL = ("pointmaze-umaze", "pointmaze-medium")
BOTH = ("maddist", "tautdist")
FAST = ("tdmaddist", "plandist-simple", "plandist", "hilbert")


class Stage(NamedTuple):
    """Cells of equal length."""

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


def cells(parts: Sequence[str] = tuple(PARTS)) -> tuple[Cell, ...]:
    """What is trained."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for stage in (stage for part in parts for stage in PARTS[part]):
        wanted = [
            cell
            for cell in paper(stage.seeds, stage.steps).cells
            if cell.task in stage.tasks and cell.method.label in stage.methods
        ]
        names = dict.fromkeys((cell.task, cell.method.label) for cell in wanted)
        found |= {
            name: [cell for cell in wanted if (cell.task, cell.method.label) == name]
            for name in names
            if name not in found
        }
    return tuple(cell for group in found.values() for cell in group)


def main() -> None:
    """The command line; see above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, help="folder for the results")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts")
    parser.add_argument("--jobs", type=int, default=1, help="how many programs to run at a time; 2 hide compilation")
    parser.add_argument("--lanes", type=int, help="how many cells to train in one program at most")
    parser.add_argument("--list", action="store_true", help="say what would be trained, and leave")
    options = parser.parse_args()
    wanted = cells(options.part)
    if options.list:
        for group in grouped(wanted):
            print(f"{group.task}: {group.method.label}, {len(group.cells)} seeds, {group.steps:,} steps")
        return
    lanes = options.lanes or sensible_lanes(default_devices())
    print(run_suite(Store(options.store), "paper", wanted, Local(options.jobs, lanes)))


if __name__ == "__main__":
    main()
