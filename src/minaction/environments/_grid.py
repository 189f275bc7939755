"""What the grid worlds share: rules for many states at once, their transition graph, a Gymnasium environment.

A state is a row of numbers that begins with (column, row); row 0 is drawn at the top::

    actions    0 up: (0, -1)    1 down: (0, +1)    2 left: (-1, 0)    3 right: (+1, 0)

`GridWorld.step` is the only place where a state changes: the environment, the data recipes and the true
distances all go through it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np

from ..errors import InputError

MOVES = np.array([[0, -1], [0, 1], [-1, 0], [1, 0]])
NUM_ACTIONS = len(MOVES)


class GridWorld(ABC):
    """The rules of a grid world. Every method takes and returns arrays with one row per state."""

    columns: ClassVar[int]
    rows: ClassVar[int]
    episode_steps: ClassVar[int] = 100
    """How many actions an episode of the paper's data has at most."""

    @property
    @abstractmethod
    def observation_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest observation."""

    @abstractmethod
    def starts(self, count: int, random: np.random.Generator) -> np.ndarray:
        """States in which `count` episodes begin."""

    @abstractmethod
    def is_state(self, states: np.ndarray) -> np.ndarray:
        """Whether each row is a state that can occur."""

    @abstractmethod
    def observe(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """What the agent observes, float32."""

    @abstractmethod
    def draw(self, state: np.ndarray) -> np.ndarray:
        """An image of one state, (height, width, 3) uint8."""

    @abstractmethod
    def _transition(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Where each action leads from states in which the episode goes on."""

    def terminal(self, states: np.ndarray) -> np.ndarray:
        """Whether the episode ends in each state; unless a world says otherwise it never does."""
        return np.zeros(len(states), dtype=bool)

    def executed(self, actions: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The actions executed when these are chosen; a chosen action must at least be possible."""
        return actions

    def rewards(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The rewards of the executed actions: -1 per step, so that a return counts steps."""
        return np.full(len(states), -1.0)

    def step(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The states after executing the actions; where the episode has ended nothing changes."""
        return np.where(self.terminal(states)[:, None], states, self._transition(states, actions))

    def neighbours(self, positions: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The neighbouring positions; a step off the grid does not move."""
        moved = positions + MOVES[actions]
        inside = np.all((moved >= 0) & (moved < np.array([self.columns, self.rows])), axis=1)
        return np.where(inside[:, None], moved, positions)


@dataclass(frozen=True)
class TransitionGraph:
    """States, and which can follow which after one action: `edges` holds pairs (from, to) of row numbers."""

    states: np.ndarray  # (n, k), in reading order: row by row
    edges: np.ndarray  # (m, 2), each once; none from a state to itself


def transition_graph(world: GridWorld, origins: np.ndarray) -> TransitionGraph:
    """All states that can be reached from `origins`, found by trying every action in every one of them."""
    states = np.unique(origins, axis=0)
    while True:
        grown = np.unique(np.concatenate([states, _after_every_action(world, states)]), axis=0)
        if len(grown) == len(states):
            break
        states = grown
    states = states[np.lexsort(states.T)]
    number = {tuple(state): i for i, state in enumerate(states.tolist())}
    heads = np.array([number[tuple(state)] for state in _after_every_action(world, states).tolist()])
    edges = np.stack([np.repeat(np.arange(len(states)), NUM_ACTIONS), heads], axis=1)
    return TransitionGraph(states, np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0))


def _after_every_action(world: GridWorld, states: np.ndarray) -> np.ndarray:
    actions = np.tile(np.arange(NUM_ACTIONS), len(states))
    return world.step(np.repeat(states, NUM_ACTIONS, axis=0), actions)


class GridEnvironment(gymnasium.Env[np.ndarray, np.int64]):
    """A grid world to act in. `reset(options={"state": ...})` chooses the start; `info["state"]` is the true state."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012 (Gymnasium's form)

    def __init__(self, world: GridWorld, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"The render mode is {render_mode!r}; give 'rgb_array' or none.")
        self.world = world
        self.render_mode = render_mode
        low, high = world.observation_bounds
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.action_space = gymnasium.spaces.Discrete(NUM_ACTIONS)
        self._state: np.ndarray | None = None  # (1, k): the rules take rows

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode, in `options["state"]` where it is given."""
        super().reset(seed=seed)
        self._state = self.world.starts(1, self.np_random)
        if options is not None and "state" in options:
            self._state = self._given_state(options["state"], self._state)
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take one of the four actions."""
        if not self.action_space.contains(action):
            raise InputError(f"There is no action {action!r}; give 0 up, 1 down, 2 left or 3 right.")
        before = self._current()
        executed = self.world.executed(np.array([action]), self.np_random)
        reward = float(self.world.rewards(before, executed)[0])
        self._state = self.world.step(before, executed)
        ended = bool(self.world.terminal(self._state)[0])
        return self._observation(), reward, ended, False, self._info()

    def render(self) -> np.ndarray | None:  # type: ignore[override]
        """An image of the current state, or None without a render mode."""
        return None if self.render_mode is None else self.world.draw(self._current()[0])

    def _current(self) -> np.ndarray:
        if self._state is None:
            raise InputError("The environment has no state yet; call reset first.")
        return self._state

    def _observation(self) -> np.ndarray:
        return self.world.observe(self._current(), self.np_random)[0]

    def _info(self) -> dict[str, Any]:
        return {"state": self._current()[0].copy()}

    def _given_state(self, given: Sequence[float] | np.ndarray, like: np.ndarray) -> np.ndarray:
        values = np.asarray(given)
        if values.shape != like.shape[1:] or values.dtype.kind not in "iuf":
            raise InputError(f"The state {given!r} does not fit; give {like.shape[1]} numbers like {like[0].tolist()}.")
        if not self.world.is_state(values[None])[0]:
            raise InputError(f"The state {values.tolist()} cannot occur; give one that an episode can reach.")
        return values[None].astype(like.dtype)
