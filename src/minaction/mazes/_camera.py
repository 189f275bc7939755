"""A maze seen from above: frames of a ball at given positions, many at a time.

MuJoCo draws a few hundred frames a second. Here nothing changes from frame to frame but a few pixels around each ball,
so that a frame costs little more than the copy of its background.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ._layouts import MazeLayout

FLOOR, WALL = (236, 234, 226), (74, 78, 92)
BALL, OTHER = (206, 52, 42), (42, 98, 196)
_SMALLEST_RADIUS = 1.5  # pixels; a smaller disc would flicker as it moves
_SUBPIXELS = 8
_FRAMES_AT_A_TIME = 4096


@dataclass(frozen=True)
class Camera:
    """Draws balls as discs with smooth edges, so that a frame shows where they are to a fraction of a pixel.

    Row 0 of the map is at the top; a map that is not square is centred between walls.
    """

    maze: MazeLayout
    size: int = 64
    radius: float = field(default=0.2)
    """Of a ball, in cells; at least a pixel and a half."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a frame."""
        return self.size, self.size, 3

    @cached_property
    def background(self) -> np.ndarray:
        """The maze without a ball, (size, size, 3) uint8."""
        fine = (np.arange(self.size * _SUBPIXELS) + 0.5) / _SUBPIXELS
        row, column = ((fine - margin) / self._pixels_per_cell for margin in self._margins)
        walls = np.pad(self.maze.walls, 1, constant_values=True)  # outside the map is wall
        rows, columns = (
            np.clip(np.floor(cell).astype(int) + 1, 0, limit - 1)
            for cell, limit in zip((row, column), walls.shape, strict=True)
        )
        solid = walls[np.ix_(rows, columns)].reshape(self.size, _SUBPIXELS, self.size, _SUBPIXELS).mean(axis=(1, 3))
        return np.rint(solid[..., None] * np.array(WALL) + (1 - solid[..., None]) * np.array(FLOOR)).astype(np.uint8)

    def frames(
        self, positions: np.ndarray, others: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Frames (n, size, size, 3) uint8 of the ball at `positions` (n, 2), and of another at `others`, if given.

        `out` is where to draw them, such as a memory-mapped file.
        """
        drawn = np.empty((len(positions), *self.shape), np.uint8) if out is None else out
        for start in range(0, len(positions), _FRAMES_AT_A_TIME):
            part = slice(start, start + _FRAMES_AT_A_TIME)
            drawn[part] = self.background
            if others is not None:
                self._draw(drawn[part], others[part], OTHER)
            self._draw(drawn[part], positions[part], BALL)
        return drawn

    def _draw(self, frames: np.ndarray, positions: np.ndarray, colour: tuple[int, int, int]) -> None:
        """Blend a disc into every frame: how much of a pixel it covers follows from the distance to its centre."""
        radius = max(_SMALLEST_RADIUS, self.radius * self._pixels_per_cell)
        centre = self._pixel(positions)
        reach = int(np.ceil(radius + 0.5))
        corner = np.floor(centre).astype(int)[:, None] + np.arange(-reach, reach + 1)[:, None]  # (n, patch, 2)
        away = (corner + 0.5 - centre[:, None]) ** 2
        cover = np.clip(radius + 0.5 - np.sqrt(away[:, :, None, 0] + away[:, None, :, 1]), 0, 1)[..., None]
        inside = np.clip(corner, 0, self.size - 1)
        place = np.arange(len(frames))[:, None, None], inside[:, :, None, 0], inside[:, None, :, 1]
        cover *= ((corner == inside)[:, :, None, 0] & (corner == inside)[:, None, :, 1])[..., None]
        frames[place] = np.rint(frames[place] * (1 - cover) + cover * np.array(colour)).astype(np.uint8)

    def _pixel(self, positions: np.ndarray) -> np.ndarray:
        """Row and column, (n, 2), of the image at which positions x, y are seen."""
        maze = self.maze
        column = (positions[:, 0] - maze.corner_centre[0]) / maze.cell_size + 0.5
        row = maze.row_direction * (positions[:, 1] - maze.corner_centre[1]) / maze.cell_size + 0.5
        return np.stack([row, column], axis=1) * self._pixels_per_cell + np.array(self._margins)

    @property
    def _pixels_per_cell(self) -> float:
        return self.size / max(self.maze.walls.shape)

    @property
    def _margins(self) -> tuple[float, float]:
        rows, columns = self.maze.walls.shape
        return tuple((self.size - cells * self._pixels_per_cell) / 2 for cells in (rows, columns))  # type: ignore[return-value]
