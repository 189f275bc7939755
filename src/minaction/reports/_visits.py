"""A picture of where the states of a data set lie: in their maze, or by two of their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .._mapped import row_blocks
from ..errors import InputError
from ..mazes._layouts import MazeLayout
from ..trajectories import Trajectories, shape_in_words
from ._figures import checked_suffix, finish_figure, panel_size

_PIXELS_PER_CELL = 12
_MOST_DRAWN = 1_000_000  # states of a recording without a maze


def visit_counts(maze: MazeLayout, data: Trajectories) -> np.ndarray:
    """The number of states in each pixel, (rows, columns); a state's first two numbers are x and y."""
    shape = tuple(size * _PIXELS_PER_CELL for size in maze.walls.shape)
    counts = np.zeros(shape, dtype=np.int64)
    corner = maze.centre(np.array([-0.5, -0.5]))
    for rows in row_blocks(data.states):
        right, up = ((rows[:, :2] - corner) * _PIXELS_PER_CELL / maze.cell_size).T
        row, column = (np.floor(value).astype(np.int64) for value in (maze.row_direction * up, right))
        inside = (row >= 0) & (row < shape[0]) & (column >= 0) & (column < shape[1])
        np.add.at(counts, (row[inside], column[inside]), 1)
    return counts


def draw_visits(path: str | Path, maze: MazeLayout, data: Trajectories, title: str | None = None) -> None:
    """Colour every pixel by its number of visits, on a logarithmic scale; walls are grey."""
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    suffix = checked_suffix(path)
    counts = visit_counts(maze, data)
    width, height = panel_size(maze.walls.shape)
    figure = Figure(figsize=(width + 0.9, height + (0.4 if title else 0.1)), layout="constrained", facecolor="white")
    axes = figure.subplots()
    extent = (-0.5, maze.walls.shape[1] - 0.5, maze.walls.shape[0] - 0.5, -0.5)  # in cells, row 0 at the top
    axes.imshow(np.where(maze.walls, 0.35, 1.0), cmap="gray", vmin=0.0, vmax=1.0, extent=extent)
    seen = np.ma.masked_equal(counts, 0)
    image = axes.imshow(seen, cmap="viridis", norm=LogNorm(1, max(2, int(counts.max()))), extent=extent)
    axes.set(xticks=range(maze.walls.shape[1]), yticks=range(maze.walls.shape[0]), xlabel="column", ylabel="row")
    axes.tick_params(labelsize=7, length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.02)
    bar.set_label("recorded states per pixel", fontsize=9)
    finish_figure(figure, path, suffix, title)


def draw_states(path: str | Path, data: Trajectories, title: str | None = None) -> None:
    """Colour the plane of a state's first two numbers by how many states lie there, on a logarithmic scale."""
    from matplotlib.figure import Figure

    suffix = checked_suffix(path)
    if len(data.state_shape) > 1 or data.states.shape[1] < 2:
        raise InputError(
            f"States of {shape_in_words(data.state_shape)} cannot be drawn; it takes two numbers (--states X Y)."
        )
    stride = max(1, data.num_states // _MOST_DRAWN)
    x, y = np.asarray(data.states[::stride, :2], np.float64).T
    names = data.columns[:2] or ("first number", "second number")
    figure = Figure(figsize=(6.4, 5.2), layout="constrained", facecolor="white")
    axes = figure.subplots()
    counts = axes.hexbin(x, y, gridsize=80, mincnt=1, bins="log", cmap="viridis", linewidths=0.2)
    axes.set(xlabel=names[0], ylabel=names[1])
    figure.colorbar(counts, ax=axes, label="recorded states")
    finish_figure(figure, path, suffix, title)
