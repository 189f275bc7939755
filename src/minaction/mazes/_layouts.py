"""The maze maps as arrays, and how cells, positions and walls relate; nothing here needs a simulator.

::

    map character   # wall   . free
    OGBench         cell (i, j) has its centre at x = 4 j - 4, y = 4 i - 4: rows go up
    gymnasium-robotics   cells of size 1, the map's middle is the origin, rows go down
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

STEP_LENGTH = 0.2
"""How far one step moves OGBench's ball at most, in x and in y."""

_MEDIUM = """
########
#..##..#
#..#...#
##...###
#..#...#
#.#..#.#
#...#..#
########
"""

_LARGE = """
############
#....#.....#
#.##.#.#.#.#
#......#...#
#.####.###.#
#..#.#.....#
##.#.#.#.###
#..#...#...#
############
"""

_GIANT = """
################
#.#......##....#
#.#.##.#.#..##.#
#...#..#...#...#
#.###.######.#.#
#...#...#....#.#
###.#.#..#.#.###
#...#..#...#...#
#.#.#.######.#.#
#.###...#...##.#
#.....#...#....#
################
"""

_TELEPORT = """
############
#.....#.#..#
##.#...#..##
##.###.....#
#....#.#.#.#
#.##.#.#.#.#
#.##.#.#.#.#
#....#...#.#
############
"""

_UMAZE = """
#####
#...#
###.#
#...#
#####
"""


@dataclass(frozen=True, eq=False)
class MazeLayout:
    """Square cells, free or wall, and a ball whose centre keeps `ball_radius` away from every wall."""

    name: str
    walls: np.ndarray  # (rows, columns) bool
    cell_size: float
    corner_centre: tuple[float, float]  # x, y of the centre of cell (0, 0)
    row_direction: int  # 1 where y grows with the row, -1 where it falls
    ball_radius: float

    @cached_property
    def free_cells(self) -> np.ndarray:
        """Row and column of every free cell, (n, 2), row by row."""
        return np.argwhere(~self.walls)

    @cached_property
    def cell_index(self) -> np.ndarray:
        """The index of every cell in `free_cells`, -1 for a wall."""
        index = np.full(self.walls.shape, -1)
        index[tuple(self.free_cells.T)] = np.arange(len(self.free_cells))
        return index

    @cached_property
    def centres(self) -> np.ndarray:
        """The x, y of the centre of every free cell, (n, 2)."""
        return self.centre(self.free_cells)

    def centre(self, cells: np.ndarray) -> np.ndarray:
        """The x, y of the centres of cells given as (..., 2) rows and columns."""
        cells = np.asarray(cells)
        x = self.corner_centre[0] + self.cell_size * cells[..., 1]
        y = self.corner_centre[1] + self.row_direction * self.cell_size * cells[..., 0]
        return np.stack([x, y], axis=-1)

    def cell_of(self, positions: np.ndarray) -> np.ndarray:
        """Row and column of the cells that hold the positions (..., 2), clipped to the map."""
        column = (positions[..., 0] - self.corner_centre[0] + 0.5 * self.cell_size) / self.cell_size
        row = (self.row_direction * (positions[..., 1] - self.corner_centre[1]) + 0.5 * self.cell_size) / self.cell_size
        cells = np.stack([np.floor(row), np.floor(column)], axis=-1).astype(np.int64)
        return np.clip(cells, 0, np.array(self.walls.shape) - 1)

    def clearance(self, positions: np.ndarray) -> np.ndarray:
        """How far each position (..., 2) is from the nearest wall, up to one cell; 0 inside a wall."""
        cells = self.cell_of(positions)
        offset = (positions - self.centre(cells)) / self.cell_size  # within +-0.5
        offset = np.stack([self.row_direction * offset[..., 1], offset[..., 0]], axis=-1)  # along rows, columns
        padded = np.pad(self.walls, 1, constant_values=True)
        nearest = np.ones(positions.shape[:-1])
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                solid = padded[cells[..., 0] + 1 + down, cells[..., 1] + 1 + right]
                gap_rows = 0.5 - down * offset[..., 0] if down else 0.0
                gap_columns = 0.5 - right * offset[..., 1] if right else 0.0
                nearest = np.where(solid, np.minimum(nearest, np.hypot(gap_rows, gap_columns)), nearest)
        return nearest * self.cell_size

    def is_free(self, positions: np.ndarray) -> np.ndarray:
        """Whether the ball fits at each position (..., 2); touching a wall is allowed."""
        return self.clearance(positions) >= self.ball_radius - 1e-9

    def random_positions(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Positions uniform over where the ball fits, (count, 2)."""
        found = np.empty((0, 2))
        while len(found) < count:
            cells = self.free_cells[random.integers(len(self.free_cells), size=count)]
            positions = self.centre(cells) + random.uniform(-0.5, 0.5, size=(count, 2)) * self.cell_size
            found = np.concatenate([found, positions[self.is_free(positions)]])
        return found[:count]


def _walls(text: str) -> np.ndarray:
    return np.array([[character == "#" for character in row] for row in text.split()])


def _ogbench(name: str, text: str) -> MazeLayout:
    return MazeLayout(name, _walls(text), 4.0, (-4.0, -4.0), 1, 0.7)


def _gymnasium_robotics(name: str, text: str) -> MazeLayout:
    walls = _walls(text)
    rows, columns = walls.shape
    return MazeLayout(name, walls, 1.0, (0.5 - columns / 2, rows / 2 - 0.5), -1, 0.1)


OGBENCH_LAYOUTS = {
    name: _ogbench(name, text) for name, text in (("medium", _MEDIUM), ("large", _LARGE), ("giant", _GIANT))
}
"""The mazes of OGBench's PointMaze; the ball is PointMaze's."""

ANT_LAYOUTS = {**OGBENCH_LAYOUTS, "teleport": _ogbench("teleport", _TELEPORT)}
"""The mazes of OGBench's AntMaze; an ant keeps about as far from the walls as the ball."""

POINT_MAZE_LAYOUTS = {name: _gymnasium_robotics(name, text) for name, text in (("umaze", _UMAZE), ("medium", _MEDIUM))}
"""The mazes of gymnasium-robotics' PointMaze."""
