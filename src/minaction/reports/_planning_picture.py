"""A picture of a planner's paths over the distance it followed, with a panel per start-goal pair."""

from __future__ import annotations

from pathlib import Path

import jax.numpy as jnp
import numpy as np

from .._model import DistanceModel
from ..mazes._layouts import OGBENCH_LAYOUTS, MazeLayout
from ..planning._evaluate import PlanningResult
from ..planning._random_shooting import ScoreFunction
from ..tasks import Layout
from ._figures import COLOURS, Field, checked_suffix, draw_field, finish_figure, panel_size


def draw_paths(
    path: str | Path,
    result: PlanningResult,
    distance: DistanceModel | ScoreFunction,
    layout: Layout,
    title: str | None = None,
) -> None:
    """Draw the path of every episode: blue if it reached its goal, orange if it did not.

    The background shows the distance to the goal of the pair's first episode; other episodes have goals near it.
    """
    from matplotlib.figure import Figure

    suffix = checked_suffix(path)
    maze = OGBENCH_LAYOUTS[result.maze]
    width, height = panel_size(layout.shape)
    count = len(result.tasks)
    figure = Figure(figsize=(count * (width + 0.3), height + 0.8), layout="constrained", facecolor="white")
    first = 0
    for axes, task in zip(np.ravel(figure.subplots(1, count, squeeze=False)), result.tasks, strict=True):
        goal = result.goals[first].astype(np.float32)
        chosen = int(np.argmin(np.hypot(*(layout.states[:, :2] - goal).T)))
        values = _distances(distance, layout.states, np.concatenate([goal, layout.states[chosen, 2:]]))
        name = f"pair {task.task}" if task.task else "own goal"
        one = Field(f"{name}: {task.successes} of {task.episodes}", values)
        draw_field(axes, layout, one, float(values.max()) or 1.0, chosen)
        for k in range(first, first + task.episodes):
            walked = _pixels(maze, result.paths[k], layout)
            reached = np.hypot(*(result.paths[k][-1] - result.goals[k])) <= result.tolerance
            axes.plot(*walked.T, color=COLOURS[0] if reached else COLOURS[1], linewidth=1.1, alpha=0.75, zorder=3)
            axes.scatter(*walked[0], color="white", edgecolors="black", s=18, linewidths=0.7, zorder=4)
        first += task.episodes
    finish_figure(figure, path, suffix, title)


def _distances(distance: DistanceModel | ScoreFunction, states: np.ndarray, goal: np.ndarray) -> np.ndarray:
    if isinstance(distance, DistanceModel):
        return distance.pairwise(states, goal[None])[:, 0]
    return np.asarray(distance(jnp.asarray(states), jnp.asarray(goal)[None]))


def _pixels(maze: MazeLayout, positions: np.ndarray, layout: Layout) -> np.ndarray:
    """Positions (n, 2) as column and row of the picture, which has a whole number of pixels per cell of the maze."""
    per_cell = layout.shape[0] / maze.walls.shape[0]
    cells = (positions - np.array(maze.corner_centre)) / maze.cell_size * np.array([1, maze.row_direction])
    return (cells + 0.5) * per_cell - 0.5
