"""What a task offers: a recipe for data and the truth to judge a distance by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..trajectories._dataset import Trajectories

Progress = Callable[[int, int], None]
"""Called with the number of episodes made so far and their total."""


@dataclass(frozen=True)
class Truth:
    """True distances between given states: `distances[i, j]` from `sources[i]` to `targets[j]`, inf if unreachable.

    Sources and targets are usually the same states; where observations are noisy they show the same positions with
    fresh noise. `unit` is "steps" (actions) or "cells" (of a maze: what the paper uses).
    """

    name: str
    unit: str
    sources: np.ndarray  # (n, D) float32
    targets: np.ndarray  # (m, D) float32
    distances: np.ndarray  # (n, m) float64, inf where unreachable

    @classmethod
    def between(cls, name: str, unit: str, states: np.ndarray, distances: np.ndarray) -> Truth:
        """The truth over all ordered pairs of `states`."""
        return cls(name, unit, states, states, distances)


@dataclass(frozen=True)
class Layout:
    """How to draw a task's states as a picture: one pixel per state, the others are solid.

    Row 0 is drawn at the top; a maze uses several pixels per cell.
    """

    shape: tuple[int, int]  # rows, columns of the picture
    states: np.ndarray  # (n, D) float32: the states to colour
    pixels: np.ndarray  # (n, 2) integer row and column of each


@runtime_checkable
class Task(Protocol):
    """A data recipe and its truth. Members are frozen dataclasses, made by name through `tasks.registry`."""

    @property
    def name(self) -> str:
        """What a person types."""
        ...

    @property
    def summary(self) -> str:
        """One line for `minaction tasks`."""
        ...

    @property
    def fresh_data_per_seed(self) -> bool:
        """Whether every training seed gets data of its own (cheap to make) or all share seed 0's."""
        ...

    @property
    def default_episodes(self) -> int:
        """How many episodes the paper uses."""
        ...

    @property
    def state_size(self) -> int:
        """How many numbers a state has; known without making data."""
        ...

    @property
    def recipe_version(self) -> int | str:
        """Changes when the recipe makes other bytes than before, so that a cache knows."""
        ...

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: Progress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """The data set made with `seed`, of the paper's size unless told otherwise; the same seed, the same bytes."""
        ...

    def truths(self, data: Trajectories) -> list[Truth]:
        """The truths to judge by, the most important first; `data` matters to the one of observed transitions."""
        ...

    def layout(self) -> Layout | None:
        """How to draw it, or None where there is nothing to draw."""
        ...


@runtime_checkable
class KnowsItsData(Protocol):
    """A task with more to say about a data set than the numbers in it."""

    def facts(self, data: Trajectories) -> dict[str, Any]:
        """What a person wants to know about it, by name."""
        ...
