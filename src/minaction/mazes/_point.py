"""gymnasium-robotics' PointMaze, many balls at once, and its data sets: a ball with inertia, randomly pushed.

A step clips the speed to 5 in x and in y, then MuJoCo integrates a hundredth of a second of force and damping.
Away from the walls that is a linear formula; only the balls near a wall are passed to MuJoCo.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._progress import OnProgress
from ..errors import MissingExtra
from ..trajectories import Trajectories
from ._layouts import POINT_MAZE_LAYOUTS, MazeLayout
from ._minimum_time import BALL_MASS, DAMPING, MOTOR_FORCE, SPEED_LIMIT, STEP_SECONDS
from ._recipes import generators, in_blocks

_CONTACT_MARGIN = 0.01  # MuJoCo's contacts begin 0.002 before touching; beyond this distance there are none
_POSITION_NOISE = 0.25
_GOAL_DISTANCE = 0.5


class InertialBallMaze:
    """One of gymnasium-robotics' PointMazes ("umaze", "medium"), stepping any number of independent balls."""

    def __init__(self, name: str) -> None:
        self.layout: MazeLayout = POINT_MAZE_LAYOUTS[name]
        self._model = make_point_maze(name).point_env.model
        self._mujoco: Any = importlib.import_module("mujoco")
        self._data = self._mujoco.MjData(self._model)

    def step(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The states (n, 4), x, y and their speeds, after one step with the actions (n, 2) within [-1, 1]."""
        position, speed = states[:, :2], np.clip(states[:, 2:], -SPEED_LIMIT, SPEED_LIMIT)
        force = MOTOR_FORCE * actions - DAMPING * speed
        faster = speed + STEP_SECONDS * force / (BALL_MASS + STEP_SECONDS * DAMPING)
        after = np.concatenate([position + STEP_SECONDS * faster, faster], axis=1)
        for k in np.flatnonzero(self.layout.clearance(position) < self.layout.ball_radius + _CONTACT_MARGIN):
            after[k] = self._simulate(position[k], speed[k], actions[k])
        return after

    def _simulate(self, position: np.ndarray, speed: np.ndarray, action: np.ndarray) -> np.ndarray:
        data = self._data
        data.qpos[:], data.qvel[:], data.ctrl[:] = position, speed, action
        data.qacc_warmstart[:] = 0.0  # otherwise the last digit would depend on the ball simulated before
        self._mujoco.mj_step(self._model, data)
        return np.concatenate([data.qpos, data.qvel])


def make_point_maze(name: str) -> Any:
    """gymnasium-robotics' own environment, without Gymnasium's wrappers."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # importing it prints messages about unrelated environments
            from gymnasium_robotics.envs.maze import maps, point_maze
    except ImportError:
        raise MissingExtra("Simulating gymnasium-robotics' mazes", "mazes") from None
    chosen: Any = {"umaze": maps.U_MAZE, "medium": maps.MEDIUM_MAZE}[name]
    environment = point_maze.PointMazeEnv(maze_map=chosen)
    with contextlib.suppress(OSError):
        os.unlink(environment.tmp_xml_file_path)  # it leaves its generated model file behind
    return environment


@dataclass(frozen=True)
class RandomForceRecipe:
    """Episodes of uniformly random actions, as long as the environment's limit of `steps`.

    As in OGBench's recipes, every episode has its own random generator, seeded with (seed, episode).
    """

    maze: str
    steps: int

    def collect(
        self, seed: int, episodes: int, progress: OnProgress | None = None, keep_actions: bool = False
    ) -> Trajectories:
        """The first `episodes` episodes of the unlimited data set of `seed`."""
        ball = InertialBallMaze(self.maze)
        return in_blocks(lambda block: self.roll_out(ball, seed, block), seed, episodes, progress, keep_actions)

    def roll_out(self, ball: InertialBallMaze, seed: int, episodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (episodes, steps + 1, 4) and actions (episodes, steps + 1, 2), the last of them zero."""
        randoms = generators(seed, episodes)
        states = np.empty((len(episodes), self.steps + 1, 4))
        actions = np.zeros((len(episodes), self.steps + 1, 2))
        states[:, 0] = [_random_start(ball.layout, random) for random in randoms]
        actions[:, :-1] = [random.uniform(-1.0, 1.0, size=(self.steps, 2)) for random in randoms]
        for time in range(self.steps):
            states[:, time + 1] = ball.step(states[:, time], actions[:, time])
        return states, actions


def _random_start(layout: MazeLayout, random: np.random.Generator) -> np.ndarray:
    """At rest, as after the environment's reset: around the centre of a random cell that is not the goal's."""
    goal = layout.centres[random.integers(len(layout.centres))] + random.uniform(-_POSITION_NOISE, _POSITION_NOISE, 2)
    while True:
        centre = layout.centres[random.integers(len(layout.centres))]
        if np.linalg.norm(centre - goal) > _GOAL_DISTANCE:
            break
    position = centre + random.uniform(-_POSITION_NOISE, _POSITION_NOISE, 2)
    return np.concatenate([position, np.zeros(2)])


POINT_MAZE_RECIPES = {
    "pointmaze-umaze": RandomForceRecipe("umaze", 300),
    "pointmaze-medium": RandomForceRecipe("medium", 600),
}
