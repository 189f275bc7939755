"""The grid worlds of the paper as tasks: random episodes, and exact distances from the worlds' own rules."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from .._progress import OnProgress
from ..environments import (
    NUM_ACTIONS,
    CliffWalking,
    GridWorld,
    KeyDoorGridWorld,
    NoisyGridWorld,
    transition_graph,
)
from ..errors import InputError
from ..exact import minimum_action_distance
from ..trajectories import Trajectories
from ._base import Layout, Task, Truth

_EVALUATION_SEED = 1_000_003  # the noise at which models are judged is fixed, and belongs to no data set


@dataclass(frozen=True)
class GridWorldTask(Task):
    """What the grid worlds share. Data is cheap to make, so every training seed gets its own."""

    name: str
    summary: str
    world: GridWorld
    default_episodes: int = 100
    recipe_version: int | str = 1
    fresh_data_per_seed: bool = True

    @property
    def state_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of an observation."""
        return self.world.observe(_fixed_start(self.world), np.random.default_rng(0)).shape[1:]

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """Episodes of uniformly random actions, at most as long as the paper's."""
        count = self.default_episodes if episodes is None else episodes
        data = random_episodes(self.world, count, self.world.episode_steps, seed)
        if progress is not None:
            progress(count, count)
        return data if keep_actions else replace(data, actions=None)

    @abstractmethod
    def layout(self) -> Layout:
        """How to draw it."""


@dataclass(frozen=True)
class CliffWalkingTask(GridWorldTask):
    """Judged on all ordered pairs of the 37 cells that are neither cliff nor goal."""

    name: str = "cliffwalking"
    summary: str = "4 x 12 grid; falling off the cliff leads back to the start"
    recipe_version: int | str = 2  # episodes were one action shorter
    world: CliffWalking = field(default_factory=CliffWalking)

    def truths(self) -> list[Truth]:
        """The true distances."""
        states, distances = self._judged()
        return [Truth.between("true", "steps", _noiseless(self.world, states), distances)]

    def layout(self) -> Layout:
        """The grid as it is; cliff and goal are solid."""
        states, _ = self._judged()
        return Layout((self.world.rows, self.world.columns), _noiseless(self.world, states), states[:, ::-1])

    def _judged(self) -> tuple[np.ndarray, np.ndarray]:
        states, distances = _true_distances(self.world, _fixed_start(self.world))
        kept = ~self.world.terminal(states)
        return states[kept], distances[np.ix_(kept, kept)]


@dataclass(frozen=True)
class KeyDoorTask(GridWorldTask):
    """Judged on all ordered pairs of the 336 triples (x, y, k) that can occur.

    The door counts among them, as the goal to which distances matter most; because it ends the episode,
    nothing else can be reached from it. Nor can a state without the key from one with it.
    """

    name: str = "keydoor-gridworld"
    summary: str = "13 x 13 grid; the key, once found, is never lost and opens the door"
    world: KeyDoorGridWorld = field(default_factory=KeyDoorGridWorld)

    def truths(self) -> list[Truth]:
        """The true distances."""
        states, distances = _true_distances(self.world, _fixed_start(self.world))
        return [Truth.between("true", "steps", _noiseless(self.world, states), distances)]

    def layout(self) -> Layout:
        """Two grids side by side: left without the key, right with it, an empty column between."""
        states, _ = _true_distances(self.world, _fixed_start(self.world))
        column, row, has_key = states.T
        pixels = np.stack([row, column + has_key * (self.world.columns + 1)], axis=1)
        return Layout((self.world.rows, 2 * self.world.columns + 1), _noiseless(self.world, states), pixels)


@dataclass(frozen=True)
class NoisyGridTask(GridWorldTask):
    """Judged on all ordered pairs of the 169 cell centres, which are whole numbers of steps apart.

    Source and target are observed with different noise even where they are the same position: what a model says
    there, on the diagonal, shows how much noise leaks into it. No observation ever repeats, so there is no truth of
    observed transitions.
    """

    name: str = "noisy-gridworld"
    summary: str = "13 x 13 grid; real-valued positions, actions that slip, two numbers of pure noise"
    world: NoisyGridWorld = field(default_factory=NoisyGridWorld)

    def truths(self) -> list[Truth]:
        """The true distances: Manhattan, because a step that slips can still be any of the four."""
        states, distances = self._cell_centres()
        random = np.random.default_rng(_EVALUATION_SEED)
        sources, targets = self.world.observe(states, random), self.world.observe(states, random)
        return [Truth("true", "steps", sources, targets, distances)]

    def layout(self) -> Layout:
        """The grid as it is, every cell observed at its centre with zero noise."""
        states, _ = self._cell_centres()
        quiet = _noiseless(NoisyGridWorld(sigma=0.0), states)
        return Layout((self.world.rows, self.world.columns), quiet, states[:, ::-1].astype(np.int64))

    def _cell_centres(self) -> tuple[np.ndarray, np.ndarray]:
        return _true_distances(self.world, np.array([[0.5, 0.5]]))


TASKS: dict[str, Task] = {task.name: task for task in (CliffWalkingTask(), NoisyGridTask(), KeyDoorTask())}


def random_episodes(world: GridWorld, episodes: int, steps: int, seed: int) -> Trajectories:
    """Episodes of at most `steps` uniformly random actions, all of them stepped together."""
    if episodes < 1 or seed < 0:
        raise InputError(f"Cannot make {episodes} episodes from seed {seed}; give at least 1, and a seed from 0 on.")
    random = np.random.default_rng(seed)
    now = world.starts(episodes, random)
    visited, taken, lengths = [now], [], np.ones(episodes, dtype=np.int64)
    for _ in range(steps):
        lengths += ~world.terminal(now)
        chosen = random.integers(0, NUM_ACTIONS, episodes)
        now = world.step(now, world.executed(chosen, random))
        visited.append(now)
        taken.append(chosen)
    states = np.stack(visited, axis=1)  # (episodes, steps + 1, k); an ended episode repeats its last state
    actions = np.stack([*taken, np.zeros_like(taken[0])], axis=1)
    recorded = np.arange(steps + 1) < lengths[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Trajectories.from_flat(
        world.observe(states[recorded], random), offsets, actions=actions[recorded].astype(np.float32)
    )


def _true_distances(world: GridWorld, origins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All states that can be reached from `origins`, and the true distances between them."""
    graph = transition_graph(world, origins)
    return graph.states, minimum_action_distance(len(graph.states), graph.edges)


def _fixed_start(world: GridWorld) -> np.ndarray:
    return world.starts(1, np.random.default_rng(0))


def _noiseless(world: GridWorld, states: np.ndarray) -> np.ndarray:
    """Observations of worlds that add no noise: the generator has no effect."""
    return world.observe(states, np.random.default_rng(0))
