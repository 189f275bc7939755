"""The maze tasks: OGBench's PointMaze and gymnasium-robotics' PointMaze, with truths in steps and in cells.

Truths and layouts need no simulator; only making data does (the extra `mazes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._progress import OnProgress
from ..mazes._layouts import OGBENCH_LAYOUTS, POINT_MAZE_LAYOUTS, MazeLayout
from ..mazes._minimum_time import SpeedLattice, least_steps
from ..mazes._point import POINT_MAZE_RECIPES, RandomForceRecipe
from ..mazes._recipes import OGBENCH_RECIPES, BallRecipe
from ..mazes._truth import ball_steps, cell_distances
from ..trajectories import Trajectories
from ._base import Layout, Task, Truth

_PAPER_EPISODES = 1000
_RANDOM_POSITIONS = 200
_PIXELS_PER_CELL = 8


@dataclass(frozen=True)
class OgbenchBallTask(Task):
    """OGBench's PointMaze: a ball that jumps by up to 0.2 in x and in y, observed as (x, y)."""

    name: str
    recipe: BallRecipe
    recipe_version: int | str = field(default=1, init=False)
    state_shape: tuple[int, ...] = field(default=(2,), init=False)
    simulator: str | None = field(default="ball", init=False)
    fresh_data_per_seed: bool = field(default=False, init=False)

    @property
    def maze(self) -> MazeLayout:
        """The maze it plays in."""
        return OGBENCH_LAYOUTS[self.recipe.maze]

    @property
    def summary(self) -> str:  # type: ignore[override]
        """The task in one line."""
        goals = "one goal after another" if self.recipe.behaviour == "navigate" else "a goal four cells away"
        return f"OGBench PointMaze {self.recipe.maze}: a noisy ball heads for {goals}"

    @property
    def default_episodes(self) -> int:  # type: ignore[override]
        """The paper uses the first 1000 episodes of OGBench's data set, or all where there are fewer."""
        return min(_PAPER_EPISODES, self.recipe.published_episodes)

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """The data made with `seed`; `progress` is called with the episodes done and their total."""
        count = self.default_episodes if episodes is None else episodes
        return self.recipe.collect(seed, count, progress, keep_actions)

    def truths(self) -> list[Truth]:
        """Steps and cells between all cell centres, and steps between random positions; see `mazes._truth`."""
        centres = self.maze.centres
        anywhere = self.maze.random_positions(_RANDOM_POSITIONS, np.random.default_rng(0))
        return [
            Truth.between("steps", "steps", centres.astype(np.float32), ball_steps(self.maze, centres)),
            Truth.between("cells", "cells", centres.astype(np.float32), cell_distances(self.maze)),
            Truth.between("steps-anywhere", "steps", anywhere.astype(np.float32), ball_steps(self.maze, anywhere)),
        ]

    def layout(self) -> Layout:
        """Eight pixels along the side of a cell, wherever the ball fits."""
        return maze_picture(self.maze, self.state_shape[0])


@dataclass(frozen=True)
class InertialBallTask(Task):
    """gymnasium-robotics' PointMaze: a ball pushed by a force, observed as (x, y, vx, vy).

    Its step truth is the minimum time from rest to rest without touching a wall, found on a lattice of positions and
    speeds (`mazes._minimum_time`). How it was checked: between all cells of the U maze, 41 to 111 steps apart, it is
    within 5 steps (1.8 on average) of the optimum of an integer programme over the simulator's equations, and the
    simulated ball, steered along the paths found, arrived about 2 steps later (for 66 of 67 pairs of cells; once the
    steering brushed a corner). Whether bumping into walls could be faster was not examined.
    """

    name: str
    recipe: RandomForceRecipe
    recipe_version: int | str = field(default=1, init=False)
    state_shape: tuple[int, ...] = field(default=(4,), init=False)
    default_episodes: int = field(default=_PAPER_EPISODES, init=False)
    fresh_data_per_seed: bool = field(default=False, init=False)

    @property
    def maze(self) -> MazeLayout:
        """The maze it plays in."""
        return POINT_MAZE_LAYOUTS[self.recipe.maze]

    @property
    def summary(self) -> str:  # type: ignore[override]
        """The task in one line."""
        return f"gymnasium-robotics PointMaze {self.recipe.maze}: a ball with inertia under random forces"

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """The data made with `seed`; `progress` is called with the episodes done and their total."""
        count = self.default_episodes if episodes is None else episodes
        return self.recipe.collect(seed, count, progress, keep_actions)

    def truths(self) -> list[Truth]:
        """Steps and cells between all cell centres, and steps between random positions, all at rest."""
        cells = len(self.maze.centres)
        places = SpeedLattice().rest_positions(self.maze)
        anywhere = np.random.default_rng(0).choice(places, _RANDOM_POSITIONS, replace=False)
        positions = np.concatenate([self.maze.centres, anywhere])
        states, steps = _at_rest(positions), least_steps(self.maze, positions)
        return [
            Truth.between("steps", "steps", states[:cells], steps[:cells, :cells]),
            Truth.between("cells", "cells", states[:cells], cell_distances(self.maze)),
            Truth.between("steps-anywhere", "steps", states[cells:], steps[cells:, cells:]),
        ]

    def layout(self) -> Layout:
        """Eight pixels along the side of a cell, wherever the ball fits; it is at rest."""
        return maze_picture(self.maze, self.state_shape[0])


def _at_rest(positions: np.ndarray) -> np.ndarray:
    return np.concatenate([positions, np.zeros_like(positions)], axis=1).astype(np.float32)


def maze_picture(maze: MazeLayout, state_size: int) -> Layout:
    """Eight pixels along the side of a cell, wherever the ball fits; what is not x or y is zero."""
    rows, columns = (size * _PIXELS_PER_CELL for size in maze.walls.shape)
    pixels = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij"), axis=-1).reshape(-1, 2)
    positions = maze.centre((pixels + 0.5) / _PIXELS_PER_CELL - 0.5)
    free = maze.is_free(positions)
    states = np.zeros((int(free.sum()), state_size), dtype=np.float32)
    states[:, :2] = positions[free]
    return Layout((rows, columns), states, pixels[free])


TASKS: dict[str, Task] = {
    **{name: InertialBallTask(name, recipe) for name, recipe in POINT_MAZE_RECIPES.items()},
    **{name: OgbenchBallTask(name, recipe) for name, recipe in OGBENCH_RECIPES.items()},
}
