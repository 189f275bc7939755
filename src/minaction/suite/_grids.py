"""Grids of runs by name: the paper's comparison and its ablations; and how to select from them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..errors import InputError, unknown_name
from ..training import Ablation, RunConfig

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


_MOST_EVALUATIONS = 25
_STEPS_BETWEEN_EVALUATIONS = 200


@dataclass(frozen=True)
class Grid:
    """Named runs, each of one seed."""

    name: str
    runs: tuple[RunConfig, ...]


@dataclass(frozen=True)
class Method:
    """An objective with its settings, and a label for tables and figures."""

    label: str
    objective: str
    """See `minaction objectives`."""
    settings: dict[str, Any]
    """Hyperparameters that differ from the objective's defaults, as JSON values."""


def trial(
    data: str, method: Method, seed: int, steps: int, episodes: int | None = None, ablation: Ablation | None = None
) -> RunConfig:
    """The settings of one method on one task with one seed."""
    evaluations = min(_MOST_EVALUATIONS, -(-steps // _STEPS_BETWEEN_EVALUATIONS))
    return RunConfig(
        data, method.objective, method.settings, steps, (seed,), evaluations, episodes, method.label, ablation
    )


@dataclass(frozen=True)
class Variant:
    """One value of the parameter that an ablation varies."""

    value: str | int | float
    base: str
    """The label of the method that is varied."""
    objective: str
    settings: dict[str, Any]
    episodes: int | None = None


@dataclass(frozen=True)
class Study:
    """An ablation: the variants, and the tasks to train them on."""

    parameter: str
    tasks: tuple[str, ...]
    variants: tuple[Variant, ...]


def _varied(base: str, setting: str, values: Sequence[Any], **others: Any) -> tuple[Variant, ...]:
    return tuple(Variant(value, base, base, {setting: value, **others}) for value in values)


_OURS = ("maddist", "tdmaddist")
# The paper compares the first three.
_HEADS = ("simple", "wide-norm", "iqe", "mrn", "pqe", "pqe-gg", "deep-norm")

# The paper shows these ablations as figures; its text gives the sizes of networks and quasimetrics, but not every value
# on the axes. The values here span the same ranges.
ABLATIONS: dict[str, Study] = {
    "latent-dimension": Study(
        "latent",
        (CLIFF_WALKING,),
        tuple(
            Variant(size, base, base, {"encoder.latent": size}) for base in _OURS for size in (2, 5, 10, 32, 128, 512)
        ),
    ),
    "quasimetric": Study(
        "quasimetric",
        (CLIFF_WALKING,),
        tuple(variant for base in _OURS for variant in _varied(base, "quasimetric", _HEADS, **{"encoder.latent": 256})),
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
    runs = [
        trial(task, _published(method, task), seed, steps or published_steps(task))
        for task in (*GRID_WORLDS, *MAZES)
        for method in METHODS
        for seed in range(seeds or SEEDS)
    ]
    return Grid("paper", tuple(runs))


def ablations(seeds: int | None = None, steps: int | None = None) -> Grid:
    """Every ablation of the paper."""
    runs = [
        trial(task, method, seed, steps or published_steps(task), variant.episodes, ablation)
        for name, study in ABLATIONS.items()
        for task in study.tasks
        for variant in study.variants
        for settings in [{**_published_settings(variant.base, task), **variant.settings}]
        for method in [Method(f"{variant.base}-{study.parameter}-{variant.value}", variant.objective, settings)]
        for ablation in [Ablation(name, study.parameter, variant.value)]
        for seed in range(seeds or SEEDS)
    ]
    return Grid("ablations", tuple(runs))


GRIDS = {"paper": paper, "ablations": ablations}


def published_steps(task: str) -> int:
    """The number of steps for which the paper trains on a task."""
    return 50_000 if task == CLIFF_WALKING else 100_000


def _published(name: str, task: str) -> Method:
    """QRL has two settings, for short and for long horizons; every other method has one objective for all tasks."""
    return Method(name, "qrl-long" if name == "qrl" and task in MAZES else name, _published_settings(name, task))


def _published_settings(method: str, task: str) -> dict[str, Any]:
    """Settings that a method of the paper needs to reproduce its published curves, where our defaults differ.

    Weights are not averaged. The paper does not say how inputs are scaled. If all have a similar spread, it makes no
    difference; but only two of the ant's 29 inputs are its position, and the curves are reproduced only if these keep
    their larger spread. (Hilbert does not scale its inputs on any task.)
    """
    if method not in PUBLISHED:
        return {}
    if method == "hilbert":
        return {"averaging": 0.0, "encoder.base.scaling": "none"}
    scaling = "encoder.base.scaling" if method == "qrl" else "encoder.scaling"
    return {"averaging": 0.0, **({scaling: "shared"} if task in ANTS else {})}


# ---------------------------------------------------------------- choosing


def chosen(grid: Grid, only: Collection[str]) -> Grid:
    """The runs that match `only`: names of tasks, methods and ablations, of each kind at least one if any is given."""
    names = [_names(run) for run in grid.runs]
    kinds = [frozenset[str]().union(*kind) for kind in zip(*names, strict=True)]
    for name in only:
        if not any(name in kind for kind in kinds):
            raise unknown_name("task, method or ablation", name, frozenset[str]().union(*kinds))
    asked = [kind.intersection(only) for kind in kinds]
    kept = [
        run
        for run, called in zip(grid.runs, names, strict=True)
        if all(not wanted or wanted & own for wanted, own in zip(asked, called, strict=True))
    ]
    if not kept:
        raise InputError(f"No run of the suite {grid.name!r} matches all of {', '.join(only)}; leave one of them out.")
    return replace(grid, runs=tuple(kept))


def _names(run: RunConfig) -> tuple[frozenset[str], ...]:
    """The names that select a run: of its task, of its method, of its ablation."""
    ablation = frozenset() if run.ablation is None else frozenset({run.ablation.name})
    return frozenset({run.data}), frozenset({run.method, run.objective}), ablation
