"""The contract of a task: a recipe for data, and the true distances to judge a learned one by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._progress import OnProgress
from ..registry import Registry
from ..trajectories import Trajectories


def _own() -> Mapping[str, Any]:
    from ._ant_mazes import TASKS as ANT_MAZES
    from ._gridworlds import TASKS as GRIDWORLDS
    from ._mazes import TASKS as MAZES
    from ._mountain_car import TASKS as MOUNTAIN_CAR
    from ._parts import TASKS as PARTS
    from ._pixels import TASKS as PIXELS
    from ._synthetic import TASKS as SYNTHETIC

    return {**GRIDWORLDS, **MAZES, **ANT_MAZES, **MOUNTAIN_CAR, **PARTS, **SYNTHETIC, **PIXELS}


TASKS: Registry[Any] = Registry("task", "minaction.tasks", _own)
"""Every task by name."""


def get_task(name: str) -> Task:
    """The task with the given name; an unknown name is refused with the closest ones.

    >>> import minaction as ma
    >>> ma.get_task("cliffwalking").state_shape
    (2,)
    """
    found = TASKS[name]
    return found() if isinstance(found, type) else found


@dataclass(frozen=True)
class Truth:
    """True distances between given states: `distances[i, j]` from `sources[i]` to `targets[j]`.

    Sources and targets are usually the same states; where observations are noisy they show the same positions with
    different noise.

    Attributes:
        name: tells the truths of a task apart.
        unit: "steps" (actions), "time" (that of the recorded times) or "cells" (of a maze, as in the paper).
        sources: (n, *shape).
        targets: (m, *shape).
        distances: (n, m) float64, infinite where a target is unreachable.
        tolerant: whether to reach means to come near: then distances need not obey the triangle inequality.

    >>> import numpy as np
    >>> import minaction as ma
    >>> ring = ma.minimum_action_distance(3, np.array([[0, 1], [1, 2], [2, 0]]))
    >>> ma.Truth.between("true", "steps", np.array([[0.0], [1.0], [2.0]]), ring).distances[0].tolist()
    [0.0, 1.0, 2.0]
    """

    name: str
    unit: str
    sources: np.ndarray
    targets: np.ndarray
    distances: np.ndarray
    tolerant: bool = False

    @classmethod
    def between(cls, name: str, unit: str, states: np.ndarray, distances: np.ndarray, tolerant: bool = False) -> Truth:
        """A truth whose sources and targets are both `states` (n, *shape), with `distances` (n, n) between them.

        `name`, `unit` and `tolerant` are as in `Truth`.
        """
        return cls(name, unit, states, states, distances, tolerant)


@dataclass(frozen=True)
class Layout:
    """How to draw the states of a task as an image: one pixel per state; pixels without a state are solid.

    Row 0 is at the top; a maze uses several pixels per cell.

    >>> import minaction as ma
    >>> layout = ma.get_task("cliffwalking").layout()
    >>> layout.shape
    (4, 12)
    """

    shape: tuple[int, int]  # rows and columns of the image
    states: np.ndarray  # (n, *shape): the states to colour
    pixels: np.ndarray  # (n, 2) integer row and column of each


class Task(ABC):
    """A recipe for data, and the true distances to judge a learned one by.

    To add a task, derive a frozen dataclass with the attributes and the two abstract methods below, and register it
    with `minaction.register` or under the entry-point group `minaction.tasks`; `minaction.read`, `minaction.fit`, the
    command line and suites then know it by name.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import minaction as ma
    >>> @dataclass(frozen=True)
    ... class Ring(ma.Task):
    ...     name: str = "ring-example"
    ...     summary: str = "places on a one-way ring"
    ...     default_episodes: int = 10
    ...     state_shape: tuple[int, ...] = (1,)
    ...     size: int = 5
    ...
    ...     def trajectories(self, seed=0, episodes=None, progress=None, keep_actions=False):
    ...         starts = np.random.default_rng(seed).integers(self.size, size=episodes or self.default_episodes)
    ...         return ma.Trajectories.from_episodes([(start + np.arange(8.0)) % self.size for start in starts])
    ...
    ...     def truths(self):
    ...         places = np.arange(self.size)
    ...         distances = ma.minimum_action_distance(self.size, np.stack([places, (places + 1) % self.size], axis=1))
    ...         return [ma.Truth.between("true", "steps", places[:, None].astype(float), distances)]
    >>> ma.register(Ring()).name
    'ring-example'
    >>> ma.read("ring-example", episodes=2)
    Trajectories(2 episodes, 16 states of 1 number)
    """

    family: ClassVar[Registry[Any]] = TASKS

    name: str
    """What users type."""
    summary: str
    """One line for `minaction tasks`."""
    default_episodes: int
    """The number of episodes, unless another is asked for."""
    state_shape: tuple[int, ...]
    """The shape of a state; known without making data."""
    fresh_data_per_seed: bool = True
    """Whether every training seed gets its own data (where it is cheap to make), or all share that of seed 0."""
    recipe_version: int | str = 1
    """Changes whenever the recipe makes different data, which invalidates the cache."""
    simulator: str | None = None
    """The simulator that planners act in ("ball", "ant"), or None; one that has it also has a `maze`."""

    goal_inputs: tuple[int, ...] | None = None
    """Which numbers of a state goals are about, such as those of the place; None for all that last."""

    @abstractmethod
    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """Make the data.

        Args:
            seed: the same seed gives the same bytes.
            episodes: how many; `default_episodes` if None.
            progress: called with the number of episodes made so far and of all.
            keep_actions: whether to keep the actions.
        """

    @abstractmethod
    def truths(self) -> list[Truth]:
        """The true distances of the world, the most important first."""

    def layout(self) -> Layout | None:
        """How to draw its states, or None if they cannot be drawn."""
        return None

    def facts(self, data: Trajectories) -> dict[str, Any]:
        """What to know about a data set of this task beyond what `Trajectories.describe` says, by name."""
        del data
        return {}
