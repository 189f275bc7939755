"""How OGBench's PointMaze data sets are made: a noisy ball that heads for goals along shortest routes.

Every episode has a random generator of its own, seeded with (seed, episode): the first episodes of a large
data set are those of a small one, and nothing depends on how many balls are stepped together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..trajectories.dataset import Trajectories
from .ball import BallMaze
from .layouts import MazeLayout
from .routes import cells_at_distance, next_cells, vertex_cells

ACTION_NOISE = 0.5
POSITION_NOISE = 0.25  # of a cell: starts and goals lie uniformly around the centre, in x and in y
GOAL_TOLERANCE = 1.0
STITCH_CELLS = 4

_EPISODES_AT_ONCE = 1000

Progress = Callable[[int, int], None]
"""Called with the episodes done and their total."""


def in_blocks(
    roll: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    seed: int,
    episodes: int,
    progress: Progress | None,
    keep_actions: bool,
) -> Trajectories:
    """Episodes 0, 1, ... a thousand at a time; `roll` gives their states and actions, (block, time, size)."""
    if episodes < 1 or seed < 0:
        raise InputError(f"Cannot make {episodes} episodes from seed {seed}; give at least 1, and a seed from 0 on.")
    all_states, all_actions = [], []
    for start in range(0, episodes, _EPISODES_AT_ONCE):
        block = np.arange(start, min(start + _EPISODES_AT_ONCE, episodes))
        states, actions = roll(block)
        all_states.append(states.astype(np.float32))
        all_actions.append(actions.astype(np.float32))
        if progress is not None:
            progress(int(block[-1]) + 1, episodes)
    states, actions = np.concatenate(all_states), np.concatenate(all_actions)
    offsets = np.arange(episodes + 1) * states.shape[1]
    kept = actions.reshape(-1, actions.shape[-1]) if keep_actions else None
    return Trajectories.from_flat(states.reshape(-1, states.shape[-1]), offsets, actions=kept)


@dataclass(frozen=True)
class BallRecipe:
    """One of OGBench's PointMaze data sets.

    "navigate" heads for one random vertex cell after another; "stitch" for one cell four moves away and stays
    there. `length` counts recorded states; OGBench's own set has `published_episodes` of them.
    """

    maze: str
    behaviour: str
    length: int
    published_episodes: int

    def collect(
        self, seed: int, episodes: int, progress: Progress | None = None, keep_actions: bool = False
    ) -> Trajectories:
        """The first `episodes` episodes of the endless data set that `seed` names."""
        ball = BallMaze(self.maze)

        def roll(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            states, actions, _ = self.roll_out(ball, seed, block)
            return states, actions

        return in_blocks(roll, seed, episodes, progress, keep_actions)

    def roll_out(self, ball: BallMaze, seed: int, episodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States and actions, (episodes, length, 2) each, and how many goals every episode reached."""
        layout = ball.layout
        route = next_cells(layout)
        draws = self._draw(layout, seed, episodes)
        position, memory = draws.start, np.zeros((len(episodes), 2))
        index = np.arange(len(episodes))
        reached = np.zeros(len(episodes), dtype=np.int64)
        states = np.empty((len(episodes), self.length, 2))
        actions = np.empty_like(states)
        for time in range(self.length):
            goal = np.minimum(reached, draws.goal_cells.shape[1] - 1) if self.behaviour == "navigate" else 0
            goal_cell = draws.goal_cells[index, goal]
            cell = layout.cell_index[tuple(np.moveaxis(layout.cell_of(position), -1, 0))]
            towards = layout.centres[route[cell, goal_cell]] - position
            towards /= np.linalg.norm(towards, axis=1, keepdims=True) + 1e-6
            action = np.clip(towards + draws.noise[:, time], -1.0, 1.0)
            states[:, time], actions[:, time] = position, action
            position = ball.step(position, action, memory)
            away = np.linalg.norm(position - draws.goals[index, goal], axis=1)
            reached += away <= GOAL_TOLERANCE
        return states, actions, reached

    def _draw(self, layout: MazeLayout, seed: int, episodes: np.ndarray) -> _Draws:
        """Everything random about the episodes, drawn beforehand."""
        vertices = vertex_cells(layout)
        near = cells_at_distance(layout, STITCH_CELLS)
        goals_per_episode = self.length + 1 if self.behaviour == "navigate" else 1
        draws = _Draws(
            np.empty((len(episodes), 2)),
            np.empty((len(episodes), goals_per_episode), dtype=np.int64),
            np.empty((len(episodes), goals_per_episode, 2)),
            np.empty((len(episodes), self.length, 2)),
        )
        reach = POSITION_NOISE * layout.cell_size
        for row, episode in enumerate(episodes):
            random = np.random.default_rng([seed, int(episode)])
            start_cell = random.integers(len(layout.free_cells))
            choices = vertices if self.behaviour == "navigate" else near[start_cell]
            draws.goal_cells[row] = choices[random.integers(len(choices), size=goals_per_episode)]
            draws.start[row] = layout.centres[start_cell] + random.uniform(-reach, reach, size=2)
            draws.goals[row] = random.uniform(-reach, reach, size=(goals_per_episode, 2))
            draws.noise[row] = random.normal(0.0, ACTION_NOISE, size=(self.length, 2))
        draws.goals[...] += layout.centres[draws.goal_cells]
        return draws


@dataclass(frozen=True)
class _Draws:
    start: np.ndarray  # (episodes, 2)
    goal_cells: np.ndarray  # (episodes, goals): one more than there are steps, so that they never run out
    goals: np.ndarray  # (episodes, goals, 2)
    noise: np.ndarray  # (episodes, length, 2)


OGBENCH_RECIPES = {
    f"ogbench-pointmaze-{maze}-{recipe.behaviour}": recipe
    for maze in ("medium", "large", "giant")
    for recipe in (
        BallRecipe(maze, "navigate", 2001, 500) if maze == "giant" else BallRecipe(maze, "navigate", 1001, 1000),
        BallRecipe(maze, "stitch", 201, 5000),
    )
}
