"""OGBench's ball, many at once: only those that touch a wall are passed to MuJoCo.

A step of OGBench's PointMaze moves the ball by 0.2 times the action, sets its velocity to zero and lets
MuJoCo run five frames. Away from the walls nothing acts on the ball, so the step is exactly position + 0.2
action. Against a wall MuJoCo pushes it out, and because the velocity was zeroed, how far depends on the
position after the jump alone, up to the tolerance of MuJoCo's solver.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

import numpy as np

from ..errors import MissingExtra
from ._layouts import OGBENCH_LAYOUTS, STEP_LENGTH, MazeLayout

_FRAMES = 5  # MuJoCo steps per step of the environment


class BallMaze:
    """One of OGBench's PointMazes ("medium", "large", "giant"), stepping any number of independent balls."""

    def __init__(self, name: str) -> None:
        self.layout: MazeLayout = OGBENCH_LAYOUTS[name]
        self._model = make_ogbench_maze(name).model
        self._mujoco: Any = importlib.import_module("mujoco")
        self._data = self._mujoco.MjData(self._model)

    def step(self, positions: np.ndarray, actions: np.ndarray, memory: np.ndarray | None = None) -> np.ndarray:
        """The positions (n, 2) after one step with the actions (n, 2), which are within [-1, 1].

        MuJoCo's solver is warm-started with the result of the step before. `memory` (n, 2), initially zero, holds that
        for every ball and is updated in place; without it pushes agree with the environment's to 1e-9, not to the bit.
        """
        memory = np.zeros_like(positions) if memory is None else memory
        moved = positions + STEP_LENGTH * actions
        touching = self.layout.clearance(moved) < self.layout.ball_radius + 1e-9
        memory[~touching] = 0.0
        for k in np.flatnonzero(touching):
            moved[k], memory[k] = self._push_out(moved[k], memory[k])
        return moved

    def _push_out(self, position: np.ndarray, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        data = self._data
        data.qpos[:] = position
        data.qvel[:] = 0.0
        data.qacc_warmstart[:] = memory
        self._mujoco.mj_step(self._model, data, nstep=_FRAMES)
        return data.qpos.copy(), data.qacc_warmstart.copy()


def make_ogbench_maze(name: str, body: str = "point", **options: Any) -> Any:
    """OGBench's own environment for a ball ("point") or an "ant", without Gymnasium's wrappers; episodes never end."""
    try:
        from ogbench.locomaze import maze
    except ImportError:
        raise MissingExtra("Simulating OGBench's mazes", "mazes") from None
    environment = maze.make_maze_env(body, "maze", maze_type=name, terminate_at_goal=False, **options)
    with contextlib.suppress(OSError):
        os.unlink(environment.fullpath)  # it leaves its generated model file behind
    return environment
