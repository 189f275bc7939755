"""A film of an agent at work, as an animated GIF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._files import atomic_write
from ..errors import InputError
from ..mazes._layouts import OGBENCH_LAYOUTS, MazeLayout
from ._agent import Agent
from ._evaluation import make_environment, run_episode

_FRAMES = 60  # of every episode


def write_film(path: str | Path, agent: Agent, environment: str, tasks: Sequence[int], seed: int = 0) -> None:
    """Write the first episode of every task as a film: the maze from above, the way so far, and the goal."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    layout = layout_of(path, environment)
    world = make_environment(environment)
    played = []
    for task in tasks:
        result = run_episode(agent, world, task, seed)
        played.append((task, result, np.array(world.unwrapped.cur_goal_xy)))
    left, low = layout.centre(np.array([0, 0])) - layout.cell_size / 2
    right, high = layout.centre(np.array(layout.walls.shape) - 1) + layout.cell_size / 2
    figure = Figure(figsize=(4, 4 * (high - low) / (right - left) + 0.4), dpi=80, layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.subplots()
    axes.imshow(layout.walls, cmap="Greys", origin="lower", extent=(left, right, low, high), vmax=2)
    axes.set_axis_off()
    (line,) = axes.plot([], [], color="tab:blue")
    (body,) = axes.plot([], [], "o", color="tab:blue")
    (star,) = axes.plot([], [], "*", color="tab:red", markersize=14)
    frames = []
    for task, result, goal in played:
        star.set_data([goal[0]], [goal[1]])
        for step in np.linspace(0, result.steps, _FRAMES).astype(int):
            line.set_data(*result.path[: step + 1].T)
            body.set_data(*result.path[step : step + 1].T)
            axes.set_title(f"task {task}, step {step}", fontsize=9)
            canvas.draw()
            frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("P"))
    with atomic_write(path) as file:
        frames[0].save(file, format="GIF", save_all=True, append_images=frames[1:], duration=50, loop=0)


def layout_of(path: str | Path, environment: str) -> MazeLayout:
    """The map to draw a film on; refuses an environment without one, and a file that is no .gif."""
    if Path(path).suffix != ".gif":
        raise InputError(f"A film is written to a .gif file, not to {path}.")
    layout = OGBENCH_LAYOUTS.get(environment.partition("maze-")[2].split("-")[0])
    if layout is None:
        raise InputError(f"There is no map of {environment} to draw on.")
    return layout
