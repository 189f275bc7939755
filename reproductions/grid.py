"""Train the grid behind RESULTS.md: every task and method, the most telling ones longest.

    python reproductions/grid.py runs/paper             on one GPU, one group of seeds after the other
    python reproductions/grid.py runs/paper --jobs 9    nine at a time, which pays with NVIDIA's MPS

`minaction suite paper` trains every cell for as long as the paper does, which takes a GPU about four hours. This takes
twenty minutes: full length where numbers were published or asked for, shorter elsewhere. Interrupted, the same command
goes on where it stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

from minaction.suite.cells import Cell
from minaction.suite.grids import ANT_EXPLORE, ANT_NAVIGATE, CLIFF_WALKING, GRID_WORLDS, MAZES, METHODS, paper
from minaction.suite.local import Local
from minaction.suite.runner import run_suite
from minaction.suite.store import Store

GIANT, LARGE, MEDIUM = (f"ogbench-pointmaze-{size}-stitch" for size in ("giant", "large", "medium"))
ANT_TELEPORT = "ogbench-antmaze-teleport-explore"
BOTH = ("maddist", "tautdist")
FAST = ("tdmaddist", "plandist-simple", "plandist", "hilbert")


class Stage(NamedTuple):
    """Cells of equal length."""

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    steps: int
    seeds: int = 3


STAGES = (
    Stage((GIANT, ANT_EXPLORE), BOTH, 100_000),
    Stage((CLIFF_WALKING,), METHODS, 50_000, seeds=5),
    Stage((LARGE, MEDIUM), BOTH, 30_000),
    Stage((GIANT,), FAST, 50_000),
    Stage((GIANT, ANT_EXPLORE), ("qrl",), 30_000),
    Stage((ANT_TELEPORT,), BOTH, 100_000),
    Stage((ANT_EXPLORE,), FAST, 50_000),
    Stage((ANT_TELEPORT,), ("plandist", "hilbert"), 30_000),
    Stage((MEDIUM, LARGE), FAST, 20_000),
    Stage((MEDIUM, LARGE), ("qrl",), 15_000),
    Stage(tuple(f"ogbench-pointmaze-{size}-navigate" for size in ("giant", "large", "medium")), BOTH, 30_000),
    Stage((ANT_NAVIGATE, "ogbench-antmaze-medium-stitch"), BOTH, 50_000),
    Stage(("ogbench-antmaze-teleport-curated",), BOTH, 50_000),
    Stage(("pointmaze-umaze", "pointmaze-medium"), BOTH, 30_000),
    Stage(GRID_WORLDS, METHODS, 20_000),
    Stage(MAZES, FAST, 8_000),
    Stage(MAZES, METHODS, 4_000),
)
"""In order of importance. A method on a task is taken from the first stage that has it."""


def cells() -> tuple[Cell, ...]:
    """What is trained."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for stage in STAGES:
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
    parser.add_argument("--jobs", type=int, default=1, help="how many groups of seeds to train at a time")
    options = parser.parse_args()
    print(run_suite(Store(options.store), "paper", cells(), Local(options.jobs)))


if __name__ == "__main__":
    main()
