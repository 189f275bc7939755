"""The grids by name: the paper's comparison and its ablations; and how tasks, methods and studies are picked out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, unknown_name
from ..tasks import all_tasks
from ._cells import Ablation, Cell, Method

SEEDS = 5  # as many as the paper
CLIFF_WALKING = "cliffwalking"
GRID_WORLDS = (CLIFF_WALKING, "noisy-gridworld", "keydoor-gridworld")
ANT_NAVIGATE, ANT_EXPLORE = "ogbench-antmaze-medium-navigate", "ogbench-antmaze-medium-explore"
MAZES = (
    "pointmaze-umaze",
    "pointmaze-medium",
    *(f"ogbench-pointmaze-{size}-{kind}" for size in ("medium", "large", "giant") for kind in ("navigate", "stitch")),
    ANT_NAVIGATE,
    "ogbench-antmaze-medium-stitch",
    ANT_EXPLORE,
    "ogbench-antmaze-teleport-explore",
    "ogbench-antmaze-teleport-curated",
)
ANTS = tuple(task for task in MAZES if "antmaze" in task)
PUBLISHED = ("maddist", "tdmaddist", "qrl", "plandist-simple", "plandist", "hilbert")
METHODS = (*PUBLISHED, "tautdist")


@dataclass(frozen=True)
class Grid:
    """Cells under a name."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Variant:
    """One value of what an ablation varies, as a method."""

    value: str | int | float
    base: str
    """The method that is varied, as it is named in labels."""
    objective: str
    settings: dict[str, Any]
    episodes: int | None = None


@dataclass(frozen=True)
class Study:
    """An ablation: tasks, and the variants trained on them."""

    parameter: str
    tasks: tuple[str, ...]
    variants: tuple[Variant, ...]


def _varied(base: str, setting: str, values: Sequence[Any], **others: Any) -> tuple[Variant, ...]:
    return tuple(Variant(value, base, base, {setting: value, **others}) for value in values)


def _latent(size: int) -> list[int]:
    return [512, 512, 256, 128, size]


_OURS = ("maddist", "tdmaddist")

# The paper shows these studies as figures; its text gives the sizes of networks and quasimetrics, not every value
# along the axes. Those here span the same ranges.
ABLATIONS: dict[str, Study] = {
    "latent-dimension": Study(
        "latent",
        (CLIFF_WALKING,),
        tuple(
            Variant(size, base, base, {"stages": _latent(size)}) for base in _OURS for size in (2, 5, 10, 32, 128, 512)
        ),
    ),
    "quasimetric": Study(
        "quasimetric",
        (CLIFF_WALKING,),
        tuple(
            variant
            for base in _OURS
            for variant in _varied(base, "quasimetric", ("simple", "wide-norm", "iqe-maxmean"), stages=_latent(256))
        ),
    ),
    "dataset-size": Study(
        "episodes",
        (CLIFF_WALKING,),
        tuple(Variant(count, base, base, {}, episodes=count) for base in _OURS for count in (10, 25, 50, 100, 200)),
    ),
    "network-size-qrl": Study(
        "network",
        (CLIFF_WALKING,),
        (
            Variant("nn1", "qrl", "qrl", {}),
            Variant("nn2", "qrl", "qrl-nn2", {}),
            Variant("nn3", "qrl", "qrl-nn3", {}),
        ),
    ),
    "network-size-hilbert": Study(
        "network",
        (CLIFF_WALKING,),
        (Variant("nn1", "hilbert", "hilbert", {}), Variant("nn2", "hilbert", "hilbert-nn2", {})),
    ),
    "random-weight": Study(
        "random-weight",
        (ANT_NAVIGATE, ANT_EXPLORE),
        _varied("maddist", "separation_weight", (0, 1, 5, 10)),
    ),
    "constraint-horizon": Study(
        "constraint-horizon",
        (ANT_EXPLORE,),
        _varied("maddist", "constraint_horizon", (1, 2, 4, 6, 10)),
    ),
}
"""The paper's ablations by name."""


def paper(seeds: int | None = None, steps: int | None = None) -> Grid:
    """Every task with the six methods of the paper and our own."""
    cells = [
        Cell(task, _published(method, task), seed, steps or default_steps(task))
        for task in (*GRID_WORLDS, *MAZES)
        for method in METHODS
        for seed in range(seeds or SEEDS)
    ]
    return Grid("paper", tuple(cells))


def ablations(seeds: int | None = None, steps: int | None = None) -> Grid:
    """Every ablation of the paper."""
    cells = [
        Cell(task, method, seed, steps or default_steps(task), variant.episodes, ablation)
        for name, study in ABLATIONS.items()
        for task in study.tasks
        for variant in study.variants
        for settings in [{**_published_settings(variant.base, task), **variant.settings}]
        for method in [Method(f"{variant.base}-{study.parameter}-{variant.value}", variant.objective, settings)]
        for ablation in [Ablation(name, study.parameter, variant.value)]
        for seed in range(seeds or SEEDS)
    ]
    return Grid("ablations", tuple(cells))


GRIDS = {"paper": paper, "ablations": ablations}


def default_steps(task: str) -> int:
    """How long the paper trains on a task."""
    return 50_000 if task == CLIFF_WALKING else 100_000


def _published(name: str, task: str) -> Method:
    """QRL has two settings, for short and for long horizons; every other method has one objective for all tasks."""
    return Method(name, "qrl-long" if name == "qrl" and task in MAZES else name, _published_settings(name, task))


def _published_settings(method: str, task: str) -> dict[str, Any]:
    """What lets a method of the paper follow its published curves, where that is not our default.

    The weights are the last ones, not averaged. The paper does not say how inputs are scaled: where all have much the
    same spread it makes no difference, but of the ant's 29 two say where it is, and the curves are followed only if
    these keep their greater spread. (Hilbert takes its inputs as they are, everywhere.)
    """
    if method not in PUBLISHED:
        return {}
    together = {"scaling": "shared"} if task in ANTS and method != "hilbert" else {}
    return {"averaging": 0.0, **together}


# ---------------------------------------------------------------- choosing


def chosen(grid: Grid, only: Collection[str]) -> Grid:
    """The cells that `only` names: of the tasks among the names, with the methods among them, of the ablations."""
    names = [_names(cell) for cell in grid.cells]
    kinds = [frozenset[str]().union(*kind) for kind in zip(*names, strict=True)]
    for name in only:
        if not any(name in kind for kind in kinds):
            raise unknown_name("task, method or ablation", name, frozenset[str]().union(*kinds))
    asked = [kind.intersection(only) for kind in kinds]
    kept = [
        cell
        for cell, called in zip(grid.cells, names, strict=True)
        if all(not wanted or wanted & own for wanted, own in zip(asked, called, strict=True))
    ]
    if not kept:
        raise InputError(f"Nothing in the suite {grid.name!r} is all of {', '.join(only)}; leave one of them out.")
    return replace(grid, cells=tuple(kept))


def _names(cell: Cell) -> tuple[frozenset[str], ...]:
    """What a cell can be called: by its task, by its method, by its ablation."""
    ablation = frozenset() if cell.ablation is None else frozenset({cell.ablation.name})
    return frozenset({cell.task}), frozenset({cell.method.label, cell.method.objective}), ablation


def existing(grid: Grid) -> tuple[Grid, list[str]]:
    """The cells whose task this version has, and the names of the tasks that it does not have."""
    known = all_tasks()
    absent = dict.fromkeys(cell.task for cell in grid.cells if cell.task not in known)
    return replace(grid, cells=tuple(cell for cell in grid.cells if cell.task in known)), list(absent)
