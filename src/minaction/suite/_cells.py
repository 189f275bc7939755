"""What a suite consists of: cells, one training each, and groups of cells that are trained together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..training._run import RunConfig

_MOST_EVALUATIONS = 25
_STEPS_BETWEEN_EVALUATIONS = 200


@dataclass(frozen=True)
class Method:
    """An objective with its settings, under the name that a person sees."""

    label: str
    objective: str
    """A preset; see `minaction objectives`."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Hyperparameters that differ from the preset's, as JSON can hold them."""


@dataclass(frozen=True)
class Ablation:
    """Which question a cell helps to answer: what happens when `parameter` has this value."""

    name: str
    parameter: str
    value: str | int | float


@dataclass(frozen=True)
class Cell:
    """One training of one method on one task with one seed."""

    task: str
    method: Method
    seed: int
    steps: int
    episodes: int | None = None
    """How many episodes to learn from; the task's own number if None."""
    ablation: Ablation | None = None

    @property
    def group(self) -> str:
        """The name that cells share which differ in their seed alone."""
        return f"{self.task}--{self.method.label}"

    def as_dict(self) -> dict[str, Any]:
        """As it stands in the cell's config.json."""
        return {
            "task": self.task,
            "method": self.method.label,
            "objective": self.method.objective,
            "settings": self.method.settings,
            "steps": self.steps,
            "seed": self.seed,
            "episodes": self.episodes,
            "ablation": None if self.ablation is None else vars(self.ablation),
        }


@dataclass(frozen=True)
class Group:
    """Cells that differ in their seed alone: one compiled program trains them side by side."""

    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """Also the name of its folder while it is trained."""
        return self.cells[0].group

    @property
    def task(self) -> str:
        """The task of every cell."""
        return self.cells[0].task

    @property
    def method(self) -> Method:
        """The method of every cell."""
        return self.cells[0].method

    @property
    def steps(self) -> int:
        """How long every cell is trained."""
        return self.cells[0].steps

    @property
    def config(self) -> RunConfig:
        """The run that trains it."""
        return RunConfig(
            data=self.task,
            objective=self.method.objective,
            settings=self.method.settings,
            steps=self.steps,
            seeds=tuple(cell.seed for cell in self.cells),
            evaluations=min(_MOST_EVALUATIONS, -(-self.steps // _STEPS_BETWEEN_EVALUATIONS)),
            episodes=self.cells[0].episodes,
        )


def grouped(cells: Iterable[Cell]) -> list[Group]:
    """The cells in groups, in the order in which the groups first appear."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    return [Group(tuple(members)) for members in groups.values()]
