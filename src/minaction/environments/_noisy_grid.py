"""NoisyGridWorld: real-valued positions, actions that slip, and two numbers of pure noise in the observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import InputError
from . import _drawing as drawing
from ._grid import NUM_ACTIONS, GridEnvironment, GridWorld

SIZE = 13
SLIP_PROBABILITY = 0.5
_FINENESS = 32  # positions are multiples of 2**-32, so that one step and its opposite cancel exactly


@dataclass(frozen=True)
class NoisyGridWorld(GridWorld):
    """States are real positions (x, y) in [0, 13) x [0, 13); a cell is 1 wide, its centre at .5.

    An episode begins anywhere. With probability 0.5 the chosen action is executed, otherwise one of the four at
    random. The observation is (x / 13, y / 13, n1, n2) with fresh noise of standard deviation `sigma` each time. The
    paper does not say which sigma; we use 0.1, and an encoder that standardises its inputs sees unit variance anyway.
    """

    sigma: float = 0.1

    columns: ClassVar[int] = SIZE
    rows: ClassVar[int] = SIZE

    def __post_init__(self) -> None:
        if not 0 <= self.sigma < np.inf:
            raise InputError(f"The noise has standard deviation {self.sigma}; give sigma as a number of at least 0.")

    @property
    def observation_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions lie between 0 and 1, the noise anywhere."""
        return np.float32([0, 0, -np.inf, -np.inf]), np.float32([1, 1, np.inf, np.inf])  # type: ignore[return-value]

    def starts(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Uniform over the whole grid."""
        return random.integers(0, SIZE << _FINENESS, (count, 2)) / 2.0**_FINENESS

    def is_state(self, states: np.ndarray) -> np.ndarray:
        """Any position inside the grid."""
        return np.all((states >= 0) & (states < SIZE), axis=1)

    def executed(self, actions: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Each action as chosen with probability 0.5, else any of the four."""
        slips = random.random(len(actions)) < SLIP_PROBABILITY
        return np.where(slips, random.integers(0, NUM_ACTIONS, len(actions)), actions)

    def observe(self, states: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """The position, scaled to [0, 1], beside fresh noise."""
        noise = self.sigma * random.standard_normal((len(states), 2))
        return np.column_stack([states / SIZE, noise]).astype(np.float32)

    def draw(self, state: np.ndarray) -> np.ndarray:
        """The agent at its real-valued position."""
        picture = drawing.empty_grid(self.columns, self.rows)
        drawing.disc(picture, float(state[0]), float(state[1]), 0.3, drawing.AGENT)
        return picture

    def _transition(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return self.neighbours(states, actions)


class NoisyGridEnvironment(GridEnvironment):
    """`gymnasium.make("minaction/NoisyGridWorld-v0", sigma=0.1)`."""

    def __init__(self, sigma: float = NoisyGridWorld.sigma, render_mode: str | None = None) -> None:
        super().__init__(NoisyGridWorld(sigma), render_mode)
