"""KeyDoorGridWorld: a key that can be picked up but never dropped opens the door that ends the episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from . import _drawing as drawing
from ._grid import GridEnvironment, GridWorld

START = (1, 1)
KEY = (11, 1)
DOOR = (6, 9)


@dataclass(frozen=True)
class KeyDoorGridWorld(GridWorld):
    """States are (x, y, k): column and row in a grid of 13 x 13 cells, and whether the key is held.

    There are no walls: all 169 cells are free. Entering the key's cell picks it up. Without the key a step
    into the door's cell does not happen; with it, it ends the episode. So two of the 338 triples never occur:
    the key's cell and the door's cell without the key. The observation is (x / 12, y / 12, k).
    """

    columns: ClassVar[int] = 13
    rows: ClassVar[int] = 13

    @property
    def observation_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """All three numbers lie between 0 and 1."""
        return np.zeros(3, np.float32), np.ones(3, np.float32)

    def starts(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Every episode begins in the same cell, without the key."""
        return np.tile(np.array([(*START, 0)]), (count, 1))

    def is_state(self, states: np.ndarray) -> np.ndarray:
        """The triples of the grid that can occur."""
        inside = ((states >= 0) & (states < (self.columns, self.rows, 2)) & (states % 1 == 0)).all(axis=1)
        without_key = states[:, 2] == 0
        return inside & ~(without_key & (_at(states, KEY) | _at(states, DOOR)))

    def terminal(self, states: np.ndarray) -> np.ndarray:
        """Going through the door ends the episode."""
        return _at(states, DOOR)

    def observe(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The position, scaled to [0, 1], and whether the key is held."""
        return (states / (self.columns - 1, self.rows - 1, 1)).astype(np.float32)

    def draw(self, state: np.ndarray) -> np.ndarray:
        """The key in its cell, or on the agent once held; the door brown, or green once it can be opened."""
        column, row, has_key = state
        picture = drawing.empty_grid(self.columns, self.rows)
        drawing.fill_cell(picture, *START, drawing.START)
        drawing.fill_cell(picture, *DOOR, drawing.GOAL if has_key else drawing.DOOR)
        drawing.disc(picture, DOOR[0] + 0.72, DOOR[1] + 0.5, 0.09, drawing.INK)
        if not has_key:
            _draw_key(picture, KEY[0] + 0.5, KEY[1] + 0.5)
        drawing.disc(picture, column + 0.5, row + 0.5, 0.3, drawing.AGENT)
        if has_key:
            _draw_key(picture, column + 0.5, row + 0.5)
        return picture

    def _transition(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        has_key = states[:, 2] == 1
        moved = self.neighbours(states[:, :2], actions)
        locked_out = _at(moved, DOOR) & ~has_key
        moved = np.where(locked_out[:, None], states[:, :2], moved)
        return np.column_stack([moved, has_key | _at(moved, KEY)])


class KeyDoorEnvironment(GridEnvironment):
    """`gymnasium.make("minaction/KeyDoorGridWorld-v0")`."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(KeyDoorGridWorld(), render_mode)


def _at(states: np.ndarray, cell: tuple[int, int]) -> np.ndarray:
    return (states[:, :2] == cell).all(axis=1)


def _draw_key(picture: np.ndarray, x: float, y: float) -> None:
    drawing.rectangle(picture, x - 0.1, y - 0.04, x + 0.3, y + 0.04, drawing.KEY)
    drawing.rectangle(picture, x + 0.2, y, x + 0.28, y + 0.15, drawing.KEY)
    drawing.disc(picture, x - 0.17, y, 0.14, drawing.KEY)
    drawing.disc(picture, x - 0.17, y, 0.06, drawing.PAPER)
