"""CliffWalking (Sutton and Barto, 1998): a fall leads back to the start, and the episode goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from . import _drawing as drawing
from ._grid import GridEnvironment, GridWorld

START = (0, 3)
GOAL = (11, 3)


@dataclass(frozen=True)
class CliffWalking(GridWorld):
    """States are (column, row) of a grid of 4 rows and 12 columns.

    ::

        . . . . . . . . . . . .
        . . . . . . . . . . . .
        . . . . . . . . . . . .
        S C C C C C C C C C C G

    A step onto the cliff (C) ends at the start (S), so no state lies on the cliff; the goal (G) ends the
    episode. The observation is (column / 11, row / 3).
    """

    columns: ClassVar[int] = 12
    rows: ClassVar[int] = 4
    episode_steps: ClassVar[int] = 101

    @property
    def observation_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Both coordinates lie between 0 and 1."""
        return np.zeros(2, np.float32), np.ones(2, np.float32)

    def starts(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Every episode begins bottom left."""
        return np.tile(np.array([START]), (count, 1))

    def is_state(self, states: np.ndarray) -> np.ndarray:
        """The cells of the grid that are not cliff."""
        inside = ((states >= 0) & (states < (self.columns, self.rows)) & (states % 1 == 0)).all(axis=1)
        return inside & ~self.is_cliff(states)

    def is_cliff(self, positions: np.ndarray) -> np.ndarray:
        """Whether each position is one of the ten cells between start and goal."""
        return (positions[:, 1] == 3) & (positions[:, 0] > START[0]) & (positions[:, 0] < GOAL[0])

    def terminal(self, states: np.ndarray) -> np.ndarray:
        """The goal ends the episode."""
        return (states == GOAL).all(axis=1)

    def rewards(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """A step costs 1, a fall 100."""
        return np.where(self.is_cliff(self.neighbours(states, actions)), -100.0, -1.0)

    def observe(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The position, scaled to [0, 1]."""
        return (states / (self.columns - 1, self.rows - 1)).astype(np.float32)

    def draw(self, state: np.ndarray) -> np.ndarray:
        """The cliff brown, the goal green, the agent a disc."""
        picture = drawing.empty_grid(self.columns, self.rows)
        for column in range(START[0] + 1, GOAL[0]):
            drawing.fill_cell(picture, column, 3, drawing.CLIFF)
        drawing.fill_cell(picture, *START, drawing.START)
        drawing.fill_cell(picture, *GOAL, drawing.GOAL)
        drawing.disc(picture, state[0] + 0.5, state[1] + 0.5, 0.3, drawing.AGENT)
        return picture

    def _transition(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        moved = self.neighbours(states, actions)
        return np.where(self.is_cliff(moved)[:, None], START, moved)


class CliffWalkingEnvironment(GridEnvironment):
    """`gymnasium.make("minaction/CliffWalking-v0")`."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(CliffWalking(), render_mode)
