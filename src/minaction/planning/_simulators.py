"""Simulators that step many copies at once: MuJoCo itself to act in, and a table made from it to look ahead with.

In one step OGBench's ball jumps and MuJoCo pushes it out of the walls; no velocity is carried over. The ball is small
compared with a cell, so that push depends on the quarter of the cell it is in and on the three cells that meet there::

    +-----------+-----------+      u, v    distance from the cell's middle, towards the corner, in x and in y
    |   above   | diagonal  |      bit 1   the cell beside, in x, is a wall
    +-----------+-----------+      bit 2   the cell above or below, in y, is a wall
    |   cell    |  beside   |      bit 4   the cell across the corner is a wall
    +-----------+-----------+

There are eight such patterns, mirrored as needed; each has one table of pushes over (u, v).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import logging
from pathlib import Path
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import platformdirs

from .._files import read_tensors, write_tensors
from ..errors import InputError, MissingExtra, unknown_name
from ..mazes._ball import BallMaze
from ..mazes._layouts import OGBENCH_LAYOUTS, STEP_LENGTH, MazeLayout

_SPACING = 0.01
_FIRST = 1.2  # closer to the middle of its cell the ball touches nothing, whatever surrounds the cell
_LEAST_CLEARANCE = 0.3  # the ball, pushed out after every step, never gets deeper into a wall than this
_TABLE_VERSION = 1  # increased when the same simulator would give another table
_KIND = "ball-table"
_log = logging.getLogger(__name__)


class Simulator(Protocol):
    """Steps any number of independent copies; the next state depends on state and action alone."""

    def step(self, states: Any, actions: Any) -> Any:
        """The states (n, D) after the actions (n, A)."""
        ...


class ExactBall:
    """OGBench's ball as MuJoCo moves it; actions are executed in it."""

    def __init__(self, maze: str) -> None:
        self._ball = BallMaze(_checked_maze(maze))
        self.layout: MazeLayout = self._ball.layout

    def step(self, states: np.ndarray, actions: np.ndarray, memory: np.ndarray | None = None) -> np.ndarray:
        """The positions (n, 2) after the actions (n, 2); for `memory` see `BallMaze.step`."""
        return self._ball.step(states, actions, memory)


class TabulatedBall(eqx.Module):
    """The same ball read off a table, for hundreds of thousands of copies at once inside compiled code.

    The table is made from MuJoCo once per maze (seconds) and kept in the user's cache folder.
    """

    pushes: jax.Array  # (8 * n * n, 2): by pattern, u and v
    patterns: jax.Array  # (rows * columns * 4,): by cell and quarter
    columns: int = eqx.field(static=True)
    rows: int = eqx.field(static=True)
    corner_centre: tuple[float, float] = eqx.field(static=True)
    cell_size: float = eqx.field(static=True)

    def __init__(self, maze: str) -> None:
        layout = OGBENCH_LAYOUTS[_checked_maze(maze)]
        self.pushes = jnp.asarray(_kept_table(maze).reshape(-1, 2))
        self.patterns = jnp.asarray(_quarter_patterns(layout).reshape(-1))
        self.rows, self.columns = layout.walls.shape
        self.corner_centre, self.cell_size = layout.corner_centre, layout.cell_size

    def step(self, states: jax.Array, actions: jax.Array) -> jax.Array:
        """The positions (..., 2) after the actions (..., 2)."""
        corner = jnp.asarray(self.corner_centre)
        moved = states + STEP_LENGTH * actions
        cell = jnp.floor((moved - corner) / self.cell_size + 0.5)
        cell = jnp.clip(cell, 0, jnp.array([self.columns - 1, self.rows - 1]))
        offset = moved - corner - self.cell_size * cell
        side = jnp.where(offset < 0, -1.0, 1.0)
        cell = cell.astype(jnp.int32)
        quarter = 2 * (side[..., 1] > 0) + (side[..., 0] > 0)
        pattern = self.patterns[4 * (cell[..., 1] * self.columns + cell[..., 0]) + quarter]
        return moved + side * self._push(pattern, jnp.abs(offset))

    def _push(self, pattern: jax.Array, place: jax.Array) -> jax.Array:
        """The push towards the corner (negative: away from it), linear between the table's points."""
        count = round(len(self.pushes) ** 0.5 / 8**0.5)
        scaled = jnp.clip((place - _FIRST) / _SPACING, 0.0, count - 1 - 1e-3)
        low = jnp.floor(scaled)
        share = scaled - low
        low = low.astype(jnp.int32)
        first = (pattern * count + low[..., 0]) * count + low[..., 1]
        weight_u, weight_v = share[..., :1], share[..., 1:]
        near = (1 - weight_v) * self.pushes[first] + weight_v * self.pushes[first + 1]
        far = (1 - weight_v) * self.pushes[first + count] + weight_v * self.pushes[first + count + 1]
        return (1 - weight_u) * near + weight_u * far


def table_path(maze: str) -> Path:
    """The file in the cache that holds the table of a maze, if any does; it can be deleted at any time."""
    return Path(platformdirs.user_cache_dir("minaction")) / "tables" / f"ball-{maze}.safetensors"


def _kept_table(maze: str) -> np.ndarray:
    """The table from the cache if it is there, intact and of this simulator, otherwise from MuJoCo."""
    path = table_path(maze)
    try:
        simulator = importlib.metadata.version("mujoco")
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtra("Simulating OGBench's mazes", "mazes") from None
    identity = {"maze": maze, "mujoco": simulator, "table": _TABLE_VERSION, "spacing": _SPACING}
    try:
        tensors, header = read_tensors(path, _KIND)
        table = tensors["pushes"]
        if header["made"] == {**identity, "checksum": _checksum(table)}:
            return table
    except (InputError, KeyError):
        pass
    table = _make_table(maze)
    try:
        write_tensors(path, _KIND, {"pushes": table}, {"made": {**identity, "checksum": _checksum(table)}})
    except InputError as error:
        _log.warning("The table of the ball in %s was made but could not be cached: %s", maze, error)
    return table


def _make_table(maze: str) -> np.ndarray:
    """MuJoCo's push at every (u, v) of every pattern that occurs in the maze, (8, n, n, 2) float32."""
    ball = BallMaze(maze)
    layout = ball.layout
    patterns = _quarter_patterns(layout)
    places = np.arange(_FIRST, 0.5 * layout.cell_size + 0.5 * _SPACING, _SPACING)
    local = np.stack(np.meshgrid(places, places, indexing="ij"), axis=-1).reshape(-1, 2)
    pushes = np.zeros((8, len(local), 2))
    for pattern in np.unique(patterns[patterns > 0]):
        row, column, quarter = np.argwhere((patterns == pattern) & ~layout.walls[:, :, None])[0]
        side = np.array([2.0 * (quarter % 2) - 1, 2.0 * (quarter // 2) - 1])
        positions = layout.centre(np.array([row, column])) + side * local
        # MuJoCo is not asked deeper than the ball ever gets; there the push of the nearest point asked is used.
        asked = layout.clearance(positions) > _LEAST_CLEARANCE
        found = np.zeros_like(positions)
        found[asked] = ball.step(positions[asked], np.zeros_like(positions[asked])) - positions[asked]
        pushes[pattern] = side * _extended(found, asked, len(places))
    return pushes.reshape(8, len(places), len(places), 2).astype(np.float32)


def _extended(values: np.ndarray, known: np.ndarray, side: int) -> np.ndarray:
    from scipy.ndimage import distance_transform_edt

    nearest: Any = distance_transform_edt(~known.reshape(side, side), return_distances=False, return_indices=True)
    return values.reshape(side, side, 2)[tuple(nearest)].reshape(-1, 2)


def _quarter_patterns(layout: MazeLayout) -> np.ndarray:
    """The pattern of walls around every quarter of every cell, (rows, columns, 4); 0 inside walls.

    Quarters are numbered 2 (y above the middle) + (x above the middle); in OGBench's mazes y grows with the row.
    """
    rows, columns = layout.walls.shape
    padded = np.pad(layout.walls, 1, constant_values=True)
    patterns = np.zeros((rows, columns, 4), np.int32)
    for quarter in range(4):
        right, up = 2 * (quarter % 2) - 1, layout.row_direction * (2 * (quarter // 2) - 1)
        beside = padded[1 : rows + 1, 1 + right : columns + 1 + right]
        above = padded[1 + up : rows + 1 + up, 1 : columns + 1]
        across = padded[1 + up : rows + 1 + up, 1 + right : columns + 1 + right]
        patterns[:, :, quarter] = np.where(layout.walls, 0, 1 * beside + 2 * above + 4 * across)
    return patterns


def _checksum(table: np.ndarray) -> str:
    return hashlib.sha256(f"{table.dtype} {table.shape};".encode() + table.tobytes()).hexdigest()


def _checked_maze(maze: str) -> str:
    if maze not in OGBENCH_LAYOUTS:
        raise unknown_name("maze of OGBench", maze, OGBENCH_LAYOUTS)
    return maze
