"""Small worlds with exact distances, each hard in one way: varying durations, one-way steps, gaps in the recording.

Their states are as awkward as those of real logs: columns of very different scale, far from zero.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from .._progress import OnProgress
from ..errors import InputError
from ..exact import minimum_action_distance
from ..trajectories import Trajectories
from ._base import Layout, Task, Truth

EVALUATION_SEED = 1_000_003  # what is fixed about a world, or judged in it, does not depend on a data set's seed


@dataclass(frozen=True)
class View:
    """How a world's two coordinates are observed: each has its own unit and origin."""

    scale: tuple[float, float] = (0.05, 40.0)
    offset: tuple[float, float] = (300.0, -7.0)

    def observe(self, places: np.ndarray) -> np.ndarray:
        """The states (n, 2) observed at places (n, 2), float32."""
        return (np.asarray(places) * self.scale + self.offset).astype(np.float32)

    def places(self, states: np.ndarray) -> np.ndarray:
        """The places at which `states` are observed, up to float32's rounding."""
        return (states.astype(np.float64) - self.offset) / self.scale


@dataclass(frozen=True)
class SyntheticTask(Task):
    """What the synthetic worlds share. Data is cheap to make, so every training seed gets its own."""

    name: str
    summary: str
    default_episodes: int = 100
    episode_steps: int = 50
    view: View = View()
    recipe_version: int | str = field(default=1, init=False)
    state_shape: tuple[int, ...] = field(default=(2,), init=False)
    fresh_data_per_seed: bool = field(default=True, init=False)

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """Random episodes, all of them stepped together."""
        count = self.default_episodes if episodes is None else episodes
        if count < 1 or seed < 0:
            raise InputError(f"Cannot make {count} episodes from seed {seed}; give at least 1, and a seed from 0 on.")
        data = self._record(count, np.random.default_rng(seed))
        if progress is not None:
            progress(count, count)
        return data if keep_actions else replace(data, actions=None)

    @abstractmethod
    def _record(self, episodes: int, random: np.random.Generator) -> Trajectories:
        """The given number of episodes, with their actions."""

    @abstractmethod
    def layout(self) -> Layout:
        """How to draw it."""


@dataclass(frozen=True)
class OneWayTask(SyntheticTask):
    """Places passed in one direction, by single and double steps, each with its own minimum duration.

    A double step can take longer than the two single ones it replaces. Half of the recorded steps take their
    minimum duration, the others up to half as long again. On the line no place behind can be reached; on the ring it
    can, by going all the way round.
    """

    closed: bool = False
    num_places: int = 60

    @property
    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Where a single and a double step lead from every place, and their minimum durations, both (places, 2).

        The last place of a line leads to itself: the episode ends there.
        """
        random = np.random.default_rng(EVALUATION_SEED)
        single = random.uniform(0.5, 4.0, self.num_places)
        double = (single + np.roll(single, -1)) * random.uniform(0.5, 1.25, self.num_places)
        reached = np.arange(self.num_places)[:, None] + np.array([1, 2])
        if self.closed:
            return reached % self.num_places, np.stack([single, double], axis=1)
        double[-2] = single[-2]  # a double step with one place left is a single one
        return np.minimum(reached, self.num_places - 1), np.stack([single, double], axis=1)

    def truths(self) -> list[Truth]:
        """The minimum time between all places, in the unit of the recorded times."""
        reached, durations = self.steps
        edges = np.stack([np.repeat(np.arange(self.num_places), 2), reached.ravel()], axis=1)
        least = minimum_action_distance(self.num_places, edges, durations.ravel())
        return [Truth.between("true", "time", self._states(), least)]

    def layout(self) -> Layout:
        """The places in a row; the ring is cut open."""
        pixels = np.stack([np.zeros(self.num_places, dtype=np.int64), np.arange(self.num_places)], axis=1)
        return Layout((1, self.num_places), self._states(), pixels)

    def _states(self) -> np.ndarray:
        share = np.arange(self.num_places) / self.num_places
        around = np.stack([np.cos(2 * np.pi * share), np.sin(2 * np.pi * share)], axis=1)
        return self.view.observe(around if self.closed else np.stack([share, share**2], axis=1))

    def _record(self, episodes: int, random: np.random.Generator) -> Trajectories:
        reached, durations = self.steps
        shape = (episodes, self.episode_steps)
        doubled = random.integers(0, 2, shape)
        slowness = 1 + random.integers(0, 2, shape) * random.uniform(0.0, 0.5, shape)
        place = np.empty((episodes, self.episode_steps + 1), dtype=np.int64)
        place[:, 0] = random.integers(0, self.num_places if self.closed else self.num_places - 1, episodes)
        for k in range(self.episode_steps):
            place[:, k + 1] = reached[place[:, k], doubled[:, k]]
        taken = durations[place[:, :-1], doubled] * slowness
        clock = random.uniform(0.0, 1000.0, (episodes, 1))  # logs rarely start at zero
        times = np.concatenate([clock, clock + np.cumsum(taken, axis=1)], axis=1)
        moved = np.concatenate([np.ones((episodes, 1), dtype=bool), place[:, 1:] != place[:, :-1]], axis=1)
        offsets = np.concatenate([[0], np.cumsum(moved.sum(axis=1))])
        actions = np.concatenate([doubled, np.zeros_like(doubled[:, :1])], axis=1)[moved].astype(np.float32)
        return Trajectories.from_flat(self._states()[place[moved]], offsets, times=times[moved], actions=actions)


@dataclass(frozen=True)
class SparseGridTask(SyntheticTask):
    """A square grid with a gap in the wall across it, recorded so sparsely that half of the true steps are missing."""

    side: int = 20
    gap: int = 5

    @property
    def cells(self) -> np.ndarray:
        """The free cells (n, 2), column and row: all but a wall in the middle column."""
        cells = np.indices((self.side, self.side)).reshape(2, -1).T
        return cells[(cells[:, 0] != self.side // 2) | (cells[:, 1] >= self.side - self.gap)]

    @property
    def moves(self) -> np.ndarray:
        """The cell that each of the four moves leads to, (n, 4); a move into the wall or off the grid stays put."""
        cells = self.cells
        number = np.full((self.side + 2, self.side + 2), -1)  # with a border, so that no neighbour lies outside
        number[tuple(cells.T + 1)] = np.arange(len(cells))
        over = cells[:, None] + np.array([[0, -1], [0, 1], [-1, 0], [1, 0]])
        there = number[tuple(np.moveaxis(over + 1, -1, 0))]
        return np.where(there >= 0, there, np.arange(len(cells))[:, None])

    def truths(self) -> list[Truth]:
        """The minimum number of moves between all cells."""
        cells, moves = self.cells, self.moves
        edges = np.stack([np.repeat(np.arange(len(cells)), moves.shape[1]), moves.ravel()], axis=1)
        least = minimum_action_distance(len(cells), edges)
        return [Truth.between("true", "steps", self.view.observe(cells), least)]

    def layout(self) -> Layout:
        """The grid as it is; the wall stays solid."""
        return Layout((self.side, self.side), self.view.observe(self.cells), self.cells[:, ::-1])

    def _record(self, episodes: int, random: np.random.Generator) -> Trajectories:
        cells, moves = self.cells, self.moves
        actions = random.integers(0, moves.shape[1], (episodes, self.episode_steps + 1))
        cell = np.empty_like(actions)
        cell[:, 0] = random.integers(0, len(cells), episodes)
        for k in range(self.episode_steps):
            cell[:, k + 1] = moves[cell[:, k], actions[:, k]]
        offsets = np.arange(episodes + 1) * (self.episode_steps + 1)
        states = self.view.observe(cells[cell.ravel()])
        return Trajectories.from_flat(states, offsets, actions=actions.reshape(-1, 1).astype(np.float32))


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        OneWayTask("one-way-ring", "60 places on a one-way ring; steps take different times", closed=True),
        OneWayTask("one-way-line", "60 places on a one-way line; steps take different times"),
        SparseGridTask(
            "sparse-grid",
            "20 x 20 grid with a wall across; half of its steps are never recorded",
            default_episodes=40,
            episode_steps=30,
        ),
    )
}
