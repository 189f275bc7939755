"""OGBench's ant, many at once, stepped by MuJoCo's batch simulation on flat ground or in a maze.

The state of an ant is the 29 numbers that OGBench observes: position (3), orientation (4) and joint angles (8),
then the velocities of all of these (6 + 8).
"""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtra, unknown_name
from ._ball import make_ogbench_maze
from ._layouts import ANT_LAYOUTS, MazeLayout
from ._teleport import LAYOUT, hop

STATE_SIZE, ACTION_SIZE = 29, 8
HEALTHY_HEIGHTS = (0.2, 1.0)
RESET_NOISE = 0.1

_FRAMES = 5  # MuJoCo steps per step of the environment
_POSITIONS = 15  # how many of the 29 numbers are positions


def mujoco_version() -> str:
    """The installed version of MuJoCo."""
    try:
        return importlib.metadata.version("mujoco")
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtra("Simulating OGBench's ant", "mazes") from None


class Ants:
    """A fixed number of independent ants, each in its own copy of the world `model`."""

    def __init__(self, model: Any, count: int, threads: int = 1) -> None:
        try:
            batch = importlib.import_module("mujoco.batch")
        except ImportError:
            raise InputError(
                f"MuJoCo {mujoco_version()} cannot step many ants at once; install 3.17 or later."
            ) from None
        self.model, self.count = model, count
        self.simulation: Any = batch.Batch(model, count, threads)

    @property
    def states(self) -> np.ndarray:
        """The ants as they are now, (count, 29)."""
        return np.concatenate([self.simulation.qpos, self.simulation.qvel], axis=1)

    def place(self, states: np.ndarray, which: np.ndarray | None = None) -> None:
        """Put the ants (all, or those numbered `which`) into these states, and reset everything else about them."""
        rows = np.arange(self.count) if which is None else which
        self.simulation.reset(rows)
        self.simulation.qpos[rows] = states[:, :_POSITIONS]
        self.simulation.qvel[rows] = states[:, _POSITIONS:]
        self.simulation.forward(rows)  # as the environment does: the solver is warm-started from here

    def move(self, which: np.ndarray, positions: np.ndarray) -> None:
        """Put the torsos of the ants numbered `which` at x, y (n, 2) and leave everything else as it is."""
        self.simulation.qpos[which, :2] = positions
        self.simulation.forward(which)

    def step(self, actions: np.ndarray) -> np.ndarray:
        """The states after one step with the torques (count, 8), which are within [-1, 1]."""
        self.simulation.ctrl[...] = actions
        self.simulation.step(nstep=_FRAMES)
        return self.states


class ExactAnt:
    """OGBench's ant in one of its mazes as a function: the next states follow from states and actions alone.

    In the teleport maze the holes are the deterministic ones. MuJoCo's solver is not warm-started with the result of
    the step before, so many steps agree with the environment's to the solver's tolerance, not to the bit.
    """

    def __init__(self, maze: str, threads: int = 0) -> None:
        self._model, self._threads = maze_model(maze), threads
        self.layout: MazeLayout = ANT_LAYOUTS[maze]
        self._ants: Ants | None = None

    def step(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The states (n, 29) after the torques (n, 8), clipped to [-1, 1]; the ants do not meet each other."""
        if self._ants is None or self._ants.count != len(states):
            self._ants = Ants(self._model, len(states), self._threads)
        self._ants.place(states)
        after = self._ants.step(np.clip(actions, -1.0, 1.0))
        return hop(after) if self.layout is LAYOUT else after


def reset_states(positions: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """OGBench's posture at the start of an episode, at `positions` (n, 2), with `noise` (n, 29) added.

    The environment draws the noise uniformly within 0.1 for positions, normal with 0.1 for velocities, and
    none for x and y; see `reset_noise`.
    """
    states = np.zeros((len(positions), STATE_SIZE))
    states[:, 2], states[:, 3] = 0.75, 1.0
    states += noise
    states[:, :2] = positions
    return states


def reset_noise(random: np.random.Generator, count: int) -> np.ndarray:
    """The noise (count, 29) that OGBench adds to the posture at the start of an episode."""
    uniform = random.uniform(-RESET_NOISE, RESET_NOISE, size=(count, _POSITIONS))
    normal = RESET_NOISE * random.standard_normal((count, STATE_SIZE - _POSITIONS))
    return np.concatenate([uniform, normal], axis=1)


def uprightness(states: np.ndarray) -> np.ndarray:
    """Cosine of the angle between an ant's up and the world's: 1 upright, -1 on its back."""
    quaternion = states[..., 3:7] / np.linalg.norm(states[..., 3:7], axis=-1, keepdims=True)
    return 1.0 - 2.0 * (quaternion[..., 1] ** 2 + quaternion[..., 2] ** 2)


def flat_ground() -> Any:
    """MuJoCo's model of OGBench's ant with nothing around it."""
    mujoco: Any = importlib.import_module("mujoco")
    return mujoco.MjModel.from_xml_path(str(_assets() / "ant.xml"))


def maze_model(maze: str) -> Any:
    """MuJoCo's model of OGBench's ant in one of its mazes ("medium", "teleport")."""
    if maze not in ANT_LAYOUTS:
        raise unknown_name("maze for an ant", maze, ANT_LAYOUTS)
    return make_ogbench_maze(maze, "ant").model


def _assets() -> Path:
    try:
        from ogbench.locomaze import ant
    except ImportError:
        raise MissingExtra("Simulating OGBench's ant", "mazes") from None
    return Path(ant.AntEnv.xml_file).parent
