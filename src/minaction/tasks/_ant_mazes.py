"""The ant's maze tasks: OGBench's AntMaze medium, large and giant, and its teleport maze made deterministic.

Truths and layouts need no simulator; only making data does (the extra `mazes`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import OnProgress
from ..mazes._ant import STATE_SIZE, mujoco_version, reset_states, uprightness
from ..mazes._ant_recipes import ANT_RECIPES, AntRecipe
from ..mazes._layouts import MazeLayout
from ..mazes._teleport import BLACK_HOLES, curate, directed_cell_distances
from ..mazes._truth import cell_distances
from ..mazes._walker import Walker
from ..mazes._walking_time import route_lengths, teleport_route_lengths
from ..trajectories import Trajectories, read_file
from ._base import Layout, Task, Truth
from ._mazes import maze_picture

_PAPER_EPISODES = 1000
_RECIPE = 1  # raised when the same seed and simulator would make other data


@dataclass(frozen=True)
class AntTask(Task):
    """OGBench's AntMaze: an ant of 29 numbers, walked by this package's policy under noisy torques.

    If OGBench's own data set is where OGBench keeps it (~/.ogbench/data), it is used instead of making one.
    """

    name: str
    recipe: AntRecipe
    state_shape: tuple[int, ...] = field(default=(STATE_SIZE,), init=False)
    fresh_data_per_seed: bool = field(default=False, init=False)
    goal_inputs: tuple[int, ...] | None = field(default=(0, 1), init=False)  # OGBench's success: the place alone

    @property
    def default_episodes(self) -> int:  # type: ignore[override]
        """The paper uses the first 1000 episodes of OGBench's data set, or all where there are fewer."""
        return min(_PAPER_EPISODES, self.recipe.published_episodes)

    @property
    def maze(self) -> MazeLayout:
        """The maze it plays in."""
        return self.recipe.layout

    @property
    def simulator(self) -> str | None:  # type: ignore[override]
        """The ant's where OGBench defines goals, which it does not in the teleport maze."""
        return None if self.recipe.maze == "teleport" else "ant"

    @property
    def summary(self) -> str:  # type: ignore[override]
        """The task in one line."""
        ways = {"navigate": "heads for one goal after another", "stitch": "heads for a goal four cells away"}
        what = ways.get(self.recipe.behaviour, "follows random directions")
        maze = f"{self.recipe.maze}, deterministic" if self.recipe.maze == "teleport" else self.recipe.maze
        kept = " (curated)" if self.recipe.random_holes else ""
        return f"OGBench AntMaze {maze}: an ant {what}{kept}"

    @property
    def published_file(self) -> Path | None:
        """OGBench's own file of this data set, if it is on this machine."""
        if self.recipe.maze == "teleport" and not self.recipe.random_holes:
            return None  # OGBench's holes are random
        name = f"antmaze-{self.recipe.maze}-{self.recipe.behaviour}-v0.npz"
        path = Path("~/.ogbench/data").expanduser() / name
        return path if path.is_file() else None

    @property
    def recipe_version(self) -> str:  # type: ignore[override]
        """Includes the simulator: another version of MuJoCo makes different data."""
        path = self.published_file
        return f"{_RECIPE} with MuJoCo {mujoco_version()}" if path is None else f"OGBench's {path.name}"

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """The data made with `seed`; `progress` is called with the episodes done and their total."""
        count = self.default_episodes if episodes is None else episodes
        path = self.published_file
        if path is None:
            return self.recipe.collect(seed, count, progress, keep_actions)
        data = read_file(path, keep_actions=keep_actions)
        return (curate(data) if self.recipe.random_holes else data).first(count)

    def facts(self, data: Trajectories) -> dict[str, Any]:
        """Where the ants of a data set were, and how many were on their backs."""
        cells = self.maze.cell_index[tuple(self.maze.cell_of(data.states[:, :2].astype(np.float64)).T)]
        flipped = uprightness(data.states) < 0
        ends, begins = data.offsets[1:], data.offsets[:-1]
        flipped_episodes = int((np.add.reduceat(flipped, begins) > 0).sum())
        return {
            "cells visited": f"{len(np.unique(cells[cells >= 0]))} of {len(self.maze.free_cells)}",
            "flipped ants": f"{flipped_episodes} episodes, {int(flipped[ends - 1].sum())} of them to the end",
            "made by": f"recipe {self.recipe_version}" if self.published_file is None else self.recipe_version,
        }

    def truths(self) -> list[Truth]:
        """Cells as the paper counts them, and steps at the walking policy's speed; see `mazes._walking_time`."""
        maze, speed = self.maze, walking_speed()
        teleport = self.recipe.maze == "teleport"
        cells = directed_cell_distances() if teleport else cell_distances(maze)
        # A step that ends in a black hole continues elsewhere: no ant is ever observed there.
        seen = ~(maze.free_cells[:, None] == BLACK_HOLES).all(axis=2).any(axis=1) if teleport else slice(None)
        places = maze.centres[seen]
        lengths = teleport_route_lengths(maze, places, hop=speed) if teleport else route_lengths(maze, places)
        return [
            Truth.between("cells", "cells", standing_at(maze.centres), cells),
            Truth.between("steps", "steps", standing_at(places), lengths / speed),
        ]

    def layout(self) -> Layout:
        """Eight pixels along the side of a cell, wherever the ant fits, in the posture of a reset."""
        picture = maze_picture(self.maze, state_size=2)
        return Layout(picture.shape, standing_at(picture.states), picture.pixels)


def standing_at(positions: np.ndarray) -> np.ndarray:
    """Ants at positions (n, 2) in the posture that OGBench resets to, without its noise, (n, 29) float32."""
    return reset_states(positions, np.zeros((len(positions), STATE_SIZE))).astype(np.float32)


def walking_speed() -> float:
    """The distance per step that this package's policy makes along shortest paths in antmaze-medium, without noise."""
    return float(Walker.load().card["measured"]["routes"]["speed"])


TASKS: dict[str, Task] = {name: AntTask(name, recipe) for name, recipe in ANT_RECIPES.items()}
