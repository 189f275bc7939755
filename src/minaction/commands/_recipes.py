"""The paper's tables and figures by name: the runs that each needs, and what it shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import unknown_name
from ..suite._grids import ANT_EXPLORE, ANT_NAVIGATE, CLIFF_WALKING, GRID_WORLDS, GRIDS, MAZES, Grid, chosen
from ..training import RunConfig

_GIANT = "ogbench-pointmaze-giant-stitch"
_MEDIUM = "pointmaze-medium"  # gymnasium-robotics' Medium, which the paper calls MediumMaze
_BALLS = tuple(name for name in MAZES if name.startswith("ogbench-pointmaze"))
_ANTS = tuple(name for name in MAZES if name.startswith("ogbench-antmaze"))


@dataclass(frozen=True)
class Recipe:
    """One table or figure."""

    shows: str
    grid: Literal["paper", "ablations"]
    """The suite whose folder holds the runs, so that runs that two recipes need are trained once."""
    only: tuple[str, ...]
    """The tasks, methods and ablations to select."""
    task: str | None = None
    """If given, the only task of the ablation that the figure shows."""
    method: str | None = None
    """If given, the beginning of the names of the methods that it shows."""
    then: Literal["curves", "planning", "landscape"] = "curves"

    def runs(self, seeds: int | None, steps: int | None) -> Grid:
        """The runs to train."""
        grid = chosen(GRIDS[self.grid](seeds, steps), self.only)
        return Grid(grid.name, tuple(filter(self._takes, grid.runs)))

    def _takes(self, run: RunConfig) -> bool:
        return self.task in (None, run.data) and (self.method is None or run.method.startswith(self.method))


RECIPES = {
    "main-curves": Recipe(
        "Pearson and Ratio CV on CliffWalking, giant-stitch and medium-explore",
        "paper",
        (CLIFF_WALKING, _GIANT, ANT_EXPLORE),
    ),
    "table-1": Recipe("how often a planner reaches its goal", "paper", (*_BALLS, ANT_EXPLORE), then="planning"),
    "latent-dimension": Recipe("the size of the embedding, on CliffWalking", "ablations", ("latent-dimension",)),
    "quasimetric-maddist": Recipe(
        "the quasimetric of MadDist, on CliffWalking", "ablations", ("quasimetric",), method="maddist"
    ),
    "quasimetric-tdmaddist": Recipe(
        "the quasimetric of TDMadDist, on CliffWalking", "ablations", ("quasimetric",), method="tdmaddist"
    ),
    "dataset-size": Recipe("how many episodes are learned from, on CliffWalking", "ablations", ("dataset-size",)),
    "network-size-qrl": Recipe("the size of QRL's network, on CliffWalking", "ablations", ("network-size-qrl",)),
    "network-size-hilbert": Recipe(
        "the size of Hilbert's network, on CliffWalking", "ablations", ("network-size-hilbert",)
    ),
    "random-weight-navigate": Recipe(
        "w_r on AntMaze navigate, by range of distance", "ablations", ("random-weight",), task=ANT_NAVIGATE
    ),
    "random-weight-explore": Recipe(
        "w_r on AntMaze explore, by range of distance", "ablations", ("random-weight",), task=ANT_EXPLORE
    ),
    "constraint-horizon": Recipe("H_c on AntMaze explore, by range of distance", "ablations", ("constraint-horizon",)),
    "landscape": Recipe("MadDist's distances over the Medium maze", "paper", (_MEDIUM, "maddist"), then="landscape"),
    "full-results-1": Recipe(
        "all measures on the grid worlds, UMaze and Medium", "paper", (*GRID_WORLDS, "pointmaze-umaze", _MEDIUM)
    ),
    "full-results-2": Recipe("all measures on OGBench's PointMazes", "paper", _BALLS),
    "full-results-3": Recipe("all measures on OGBench's AntMazes", "paper", _ANTS),
}
"""One for every table and figure with results in the paper."""


def recipe(name: str) -> Recipe:
    """The recipe with this name."""
    if name not in RECIPES:
        raise unknown_name("reproduction", name, RECIPES)
    return RECIPES[name]
