"""OGBench's AntMaze teleport made deterministic: each black hole leads to one white hole, as in the paper."""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np

from ..mazes._ant import STATE_SIZE, reset_noise, reset_states
from ..mazes._ball import make_ogbench_maze
from ..mazes._teleport import LAYOUT, hop

_START_NOISE = 1.0


class AntTeleportEnvironment(gymnasium.Env[np.ndarray, np.ndarray]):
    """An ant of 29 numbers and 8 torques in a maze with the holes (4, 6) -> (1, 7) and (5, 1) -> (6, 10).

    An ant that comes within 1.5 of the middle of a black hole is observed at the white hole in the same step. `reset`
    puts the ant into a random free cell, or at `options["position"]`, an x and a y. There is no goal: the reward is 0
    and no episode ends by itself.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012 (Gymnasium's own way)

    def __init__(self, render_mode: str | None = None) -> None:
        self._ant = make_ogbench_maze("teleport", "ant", width=400, height=400)
        self._ant._teleport_info["teleport_in_xys"] = []  # OGBench would hop at random
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (STATE_SIZE,), np.float64)
        self.action_space = self._ant.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """A random start drawn from `seed` alone."""
        super().reset(seed=seed)
        random = self.np_random
        cell = LAYOUT.free_cells[random.integers(len(LAYOUT.free_cells))]
        drawn = LAYOUT.centre(cell) + random.uniform(-_START_NOISE, _START_NOISE, size=2)
        position = np.asarray((options or {}).get("position", drawn), dtype=np.float64)
        mujoco: Any = importlib.import_module("mujoco")
        mujoco.mj_resetData(
            self._ant.model, self._ant.data
        )  # otherwise the solver is warm-started from the last episode
        self._put(reset_states(position[None], reset_noise(random, 1))[0])
        return self._ant.get_ob(), {"hopped": False}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step of OGBench's ant, then the hop if it came near a black hole."""
        state = self._ant.step(action)[0]
        after = hop(state)
        hopped = not np.array_equal(after, state)
        if hopped:
            self._put(after)
        return after, 0.0, False, False, {"hopped": hopped}

    def render(self) -> np.ndarray:
        """The maze from above, (400, 400, 3)."""
        return self._ant.render()

    def close(self) -> None:
        """Close the simulator."""
        self._ant.close()

    def _put(self, state: np.ndarray) -> None:
        positions = self._ant.model.nq
        self._ant.set_state(state[:positions], state[positions:])
