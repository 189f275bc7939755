"""A film of an agent at work, as an animated GIF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .._files import atomic_write
from ..errors import InputError
from ..mazes._layouts import OGBENCH_LAYOUTS
from ._agent import Agent
from ._evaluation import make_environment, run_episode

_FRAMES = 60  # of every episode


def write_film(path: str | Path, agent: Agent, environment: str, tasks: Sequence[int], seed: int = 0) -> None:
    """Write the first episode of every task as a film: the maze from above, the way so far, and the goal."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt
    from matplotlib.animation import FuncAnimation, PillowWriter

    if Path(path).suffix != ".gif":
        raise InputError(f"A film is written to a .gif file, not to {path}.")
    layout = OGBENCH_LAYOUTS.get(environment.partition("maze-")[2].split("-")[0])
    if layout is None:
        raise InputError(f"There is no map of {environment} to draw on.")
    world = make_environment(environment)
    played = []
    for task in tasks:
        result = run_episode(agent, world, task, seed)
        played.append((task, result, np.array(world.unwrapped.cur_goal_xy)))
    left, low = layout.centre(np.array([0, 0])) - layout.cell_size / 2
    right, high = layout.centre(np.array(layout.walls.shape) - 1) + layout.cell_size / 2
    figure, axes = plt.subplots(figsize=(4, 4 * (high - low) / (right - left) + 0.4), layout="constrained")
    axes.imshow(layout.walls, cmap="Greys", origin="lower", extent=(left, right, low, high), vmax=2)
    axes.set_axis_off()
    (line,) = axes.plot([], [], color="tab:blue")
    (body,) = axes.plot([], [], "o", color="tab:blue")
    (goal,) = axes.plot([], [], "*", color="tab:red", markersize=14)
    frames = [(k, step) for k, one in enumerate(played) for step in np.linspace(0, one[1].steps, _FRAMES).astype(int)]

    def draw(frame: tuple[int, int]) -> list:
        task, result, aim = played[frame[0]]
        way = result.path[: frame[1] + 1]
        line.set_data(*way.T)
        body.set_data(*way[-1:].T)
        goal.set_data([aim[0]], [aim[1]])
        axes.set_title(f"task {task}, step {frame[1]}", fontsize=9)
        return [line, body, goal]

    film = FuncAnimation(figure, draw, frames=frames, interval=50)
    with atomic_write(path) as file:
        # Matplotlib writes films to a path only; Pillow's writer takes any file object in its place.
        buffer = io.BytesIO()
        writer = PillowWriter(fps=20)
        writer.setup(figure, "film.gif", dpi=80)
        for frame in frames:
            draw(frame)
            writer.grab_frame()
        first, *others = writer._frames  # type: ignore[attr-defined]
        first.save(buffer, format="GIF", save_all=True, append_images=others, duration=50, loop=0)
        file.write(buffer.getvalue())
    del film
    plt.close(figure)
