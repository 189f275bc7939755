"""How OGBench's PointMaze data sets are made: a noisy ball that heads for goals along shortest routes.

Every episode has its own random generator, seeded with (seed, episode): the first episodes of a large data set
are those of a small one, and nothing depends on how many balls are stepped together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._progress import OnProgress
from ..errors import InputError
from ..trajectories import Trajectories
from ._ball import BallMaze
from ._layouts import MazeLayout
from ._routes import cells_at_distance, next_cells, vertex_cells

ACTION_NOISE = 0.5
POSITION_NOISE = 0.25  # of a cell: starts and goals lie uniformly around the centre, in x and in y
GOAL_TOLERANCE = 1.0
STITCH_CELLS = 4

_EPISODES_AT_ONCE = 1000


def in_blocks(
    roll: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    seed: int,
    episodes: int,
    progress: OnProgress | None,
    keep_actions: bool,
    at_once: int | None = None,
) -> Trajectories:
    """Episodes 0, 1, ..., made in blocks until there are enough.

    `roll` returns the states and actions, (kept, time, size), of the episodes of a block that are kept.
    """
    if episodes < 1 or seed < 0:
        raise InputError(f"Cannot make {episodes} episodes from seed {seed}; give at least 1, and a seed from 0 on.")
    all_states, all_actions = [], []
    tried = kept = 0
    while kept < episodes:
        block = np.arange(tried, tried + min(at_once or _EPISODES_AT_ONCE, episodes - kept))
        states, actions = roll(block)
        tried, kept = tried + len(block), kept + len(states)
        all_states.append(states.astype(np.float32))
        all_actions.append(actions.astype(np.float32))
        if progress is not None:
            progress(kept, episodes)
    states, actions = np.concatenate(all_states), np.concatenate(all_actions)
    offsets = np.arange(episodes + 1) * states.shape[1]
    kept_actions = actions.reshape(-1, actions.shape[-1]) if keep_actions else None
    return Trajectories.from_flat(states.reshape(-1, states.shape[-1]), offsets, actions=kept_actions)


def generators(seed: int, episodes: np.ndarray) -> list[np.random.Generator]:
    """One random generator per episode."""
    return [np.random.default_rng([seed, int(episode)]) for episode in episodes]


@dataclass(frozen=True)
class Draws:
    """Everything random about some goal-seeking episodes, drawn in advance."""

    start_cells: np.ndarray  # (episodes,)
    start: np.ndarray  # (episodes, 2)
    goal_cells: np.ndarray  # (episodes, goals): one more than steps, so that they never run out
    goals: np.ndarray  # (episodes, goals, 2)
    noise: np.ndarray  # (episodes, length, action size)

    @classmethod
    def draw(
        cls,
        layout: MazeLayout,
        behaviour: str,
        randoms: Sequence[np.random.Generator],
        noise_shape: tuple[int, int],
        noise_scale: float,
    ) -> Draws:
        """One episode from each generator."""
        vertices = vertex_cells(layout)
        near = cells_at_distance(layout, STITCH_CELLS)
        count, per_episode = len(randoms), noise_shape[0] + 1 if behaviour == "navigate" else 1
        draws = cls(
            np.empty(count, dtype=np.int64),
            np.empty((count, 2)),
            np.empty((count, per_episode), dtype=np.int64),
            np.empty((count, per_episode, 2)),
            np.empty((count, *noise_shape)),
        )
        reach = POSITION_NOISE * layout.cell_size
        for row, random in enumerate(randoms):
            start_cell = random.integers(len(layout.free_cells))
            choices = vertices if behaviour == "navigate" else near[start_cell]
            draws.start_cells[row] = start_cell
            draws.goal_cells[row] = choices[random.integers(len(choices), size=per_episode)]
            draws.start[row] = layout.centres[start_cell] + random.uniform(-reach, reach, size=2)
            draws.goals[row] = random.uniform(-reach, reach, size=(per_episode, 2))
            draws.noise[row] = random.normal(0.0, noise_scale, size=noise_shape)
        draws.goals[...] += layout.centres[draws.goal_cells]
        return draws


class GoalSeekers:
    """The direction in which each of several bodies should go, and how many goals each has reached.

    "navigate" heads for one random vertex cell after another; "stitch" for one cell four moves away, and stays there.
    """

    def __init__(self, layout: MazeLayout, behaviour: str, draws: Draws, tolerance: float) -> None:
        self.layout, self.draws, self.tolerance = layout, draws, tolerance
        self.reached = np.zeros(len(draws.start), dtype=np.int64)
        self._route = next_cells(layout)
        self._one_after_another = behaviour == "navigate"

    def directions(self, positions: np.ndarray) -> np.ndarray:
        """Unit vectors (n, 2) from positions (n, 2) to the centre of the next cell on the route."""
        layout = self.layout
        cell = layout.cell_index[tuple(np.moveaxis(layout.cell_of(positions), -1, 0))]
        goal_cell = self.draws.goal_cells[np.arange(len(positions)), self._goal()]
        towards = layout.centres[self._route[cell, goal_cell]] - positions
        return towards / (np.linalg.norm(towards, axis=1, keepdims=True) + 1e-6)

    def arrive(self, positions: np.ndarray) -> None:
        """Count the goals reached at `positions`."""
        away = np.linalg.norm(positions - self.draws.goals[np.arange(len(positions)), self._goal()], axis=1)
        self.reached += away <= self.tolerance

    def _goal(self) -> np.ndarray:
        last = self.draws.goal_cells.shape[1] - 1
        return np.minimum(self.reached, last) if self._one_after_another else np.zeros_like(self.reached)


@dataclass(frozen=True)
class BallRecipe:
    """One of OGBench's PointMaze data sets; for its two behaviours see `GoalSeekers`.

    `length` counts the states recorded of an episode; OGBench's own set has `published_episodes` episodes.
    """

    maze: str
    behaviour: str
    length: int
    published_episodes: int

    def collect(
        self, seed: int, episodes: int, progress: OnProgress | None = None, keep_actions: bool = False
    ) -> Trajectories:
        """The first `episodes` episodes of the unlimited data set of `seed`."""
        ball = BallMaze(self.maze)

        def roll(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            states, actions, _ = self.roll_out(ball, seed, block)
            return states, actions

        return in_blocks(roll, seed, episodes, progress, keep_actions)

    def roll_out(self, ball: BallMaze, seed: int, episodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States and actions, (episodes, length, 2) each, and the goals reached in each episode."""
        draws = self._draw(ball.layout, seed, episodes)
        seekers = GoalSeekers(ball.layout, self.behaviour, draws, GOAL_TOLERANCE)
        position, memory = draws.start, np.zeros((len(episodes), 2))
        states = np.empty((len(episodes), self.length, 2))
        actions = np.empty_like(states)
        for time in range(self.length):
            action = np.clip(seekers.directions(position) + draws.noise[:, time], -1.0, 1.0)
            states[:, time], actions[:, time] = position, action
            position = ball.step(position, action, memory)
            seekers.arrive(position)
        return states, actions, seekers.reached

    def _draw(self, layout: MazeLayout, seed: int, episodes: np.ndarray) -> Draws:
        return Draws.draw(layout, self.behaviour, generators(seed, episodes), (self.length, 2), ACTION_NOISE)


OGBENCH_RECIPES = {
    f"ogbench-pointmaze-{maze}-{recipe.behaviour}": recipe
    for maze in ("medium", "large", "giant")
    for recipe in (
        BallRecipe(maze, "navigate", 2001, 500) if maze == "giant" else BallRecipe(maze, "navigate", 1001, 1000),
        BallRecipe(maze, "stitch", 201, 5000),
    )
}
