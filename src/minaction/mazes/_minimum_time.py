"""Minimum numbers of steps, from rest to rest, of a ball with inertia (gymnasium-robotics' PointMaze).

Away from walls x and y are independent, each with bounded acceleration and bounded speed. A lattice holds
this motion exactly: let time come in slices during which the acceleration is -A, 0 or A, speeds in multiples
of A x slice and positions in multiples of half of A x slice^2. From position x and speed v (in these units) a
slice with acceleration a leads to position x + 2 v + a and speed v + a; x - v stays even or odd, so only x =
2 i + (v mod 2) is kept. A breadth-first search over (x, y, vx, vy) with all nine accelerations, keeping only
slices in which the ball stays clear of the walls, gives minimum numbers of slices.

The search uses one bit per starting position, 64 to a word, so that they are all followed together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ._layouts import MazeLayout

STEP_SECONDS = 0.01
BALL_MASS = 1000 * 4 / 3 * np.pi * 0.1**3
MOTOR_FORCE = 100.0
DAMPING = 1.0
SPEED_LIMIT = 5.0

# The simulator clips the speed to 5 before the motor acts, so a ball at full power moves this fast.
TOP_SPEED = SPEED_LIMIT + STEP_SECONDS * (MOTOR_FORCE - SPEED_LIMIT) / (BALL_MASS + STEP_SECONDS * DAMPING)

_SUBDIVISION = 4  # the clearance along a path is looked up on a lattice this much finer
_SAMPLES = 8  # positions checked in one slice


@dataclass(frozen=True)
class SpeedLattice:
    """How finely speeds are resolved: `levels` of them from rest to top speed.

    Positions are spaced so that the acceleration is right: the simulator's ball takes as long from rest to top speed
    and back as one with an acceleration of 23.82; four levels give 23.90, five 24.04.
    """

    levels: int = 4

    def __post_init__(self) -> None:
        if self.levels < 2:
            raise InputError(f"The number of speeds must be at least 2, not {self.levels}.")

    @property
    def rest_points_per_cell(self) -> int:
        """Points along the side of a cell where the ball can come to rest; there are as many between them."""
        return round(7 / 8 * self.levels**2)

    @property
    def steps_per_slice(self) -> float:
        """Length of a slice in steps of the simulator."""
        return self.levels / (self.rest_points_per_cell * TOP_SPEED) / STEP_SECONDS

    def rest_positions(self, layout: MazeLayout) -> np.ndarray:
        """All positions at which the ball fits and can come to rest, (n, 2); cell centres are among them."""
        positions = _grid(layout, self.rest_points_per_cell)
        return positions[layout.is_free(positions)]


def least_steps(layout: MazeLayout, positions: np.ndarray, lattice: SpeedLattice | None = None) -> np.ndarray:
    """Steps between all pairs of positions at rest, (n, n); each is moved to the nearest of `rest_positions`.

    A minimum of k slices means that the minimum time lies above k - 1 slices and not above k; the middle of the two is
    returned, in steps. Pairs on the same lattice point get 0.
    """
    search = _Search(layout, lattice or SpeedLattice())
    places = search.nearest(np.asarray(positions, dtype=np.float64))
    slices = np.concatenate([search.run(places[k : k + 64], places) for k in range(0, len(places), 64)])
    return np.where(slices > 0, slices - 0.5, 0.0) * search.lattice.steps_per_slice


def fastest_path(
    layout: MazeLayout, start: np.ndarray, goal: np.ndarray, lattice: SpeedLattice | None = None
) -> np.ndarray:
    """The states (x, y, vx, vy) at the ends of the slices of one fastest path, (slices + 1, 4).

    Within a slice the acceleration is constant. Where there is no path, that is an error.
    """
    search = _Search(layout, lattice or SpeedLattice())
    places = search.nearest(np.array([start, goal], dtype=np.float64))
    slices = search.run(places[:1], places[1:])[0, 0]
    if np.isinf(slices):
        raise InputError("There is no path between the two positions; choose others.")
    return search.trace(places[0], places[1], int(slices))


def _grid(layout: MazeLayout, per_cell: int) -> np.ndarray:
    """Positions `per_cell` to a cell, between the outermost cell centres, (along x, along y, 2)."""
    rows, columns = layout.walls.shape
    along_x, along_y = np.indices(((columns - 1) * per_cell + 1, (rows - 1) * per_cell + 1)) / per_cell
    return layout.centre(np.stack([along_y, along_x], axis=-1))


class _Move(NamedTuple):
    """One slice: the speeds before and after, the displacement in i, and the positions from which it is clear."""

    before: tuple[int, int]
    after: tuple[int, int]
    shift: tuple[int, int]
    clear: np.ndarray


class _Search:
    """Words `reached[vx, vy, ix, iy]` whose bit b is set once source b can be there; negative speeds wrap."""

    def __init__(self, layout: MazeLayout, lattice: SpeedLattice) -> None:
        self.layout, self.lattice = layout, lattice
        self.margin = lattice.levels + 1  # a slice never moves further
        self.shape = _grid(layout, lattice.rest_points_per_cell).shape[:2]
        self.moves = self._moves()

    def _nothing(self) -> np.ndarray:
        speeds = 2 * self.lattice.levels + 1
        return np.zeros((speeds, speeds, *(size + 2 * self.margin for size in self.shape)), dtype=np.uint64)

    def nearest(self, positions: np.ndarray) -> np.ndarray:
        """Lattice coordinates of the rest positions nearest to the given ones, (n, 2)."""
        grid = _grid(self.layout, self.lattice.rest_points_per_cell)
        places = np.argwhere(self.layout.is_free(grid))
        gaps = np.abs(positions[:, None] - grid[tuple(places.T)][None]).max(axis=-1)
        blocked = ~self.layout.is_free(positions)
        if blocked.any():
            where = int(np.argmax(blocked))
            raise InputError(
                f"The ball does not fit at position {where}, {positions[where].tolist()}: it is in a wall."
            )
        return places[gaps.argmin(axis=1)]

    def _moves(self) -> list[_Move]:
        stride = 2 * _SUBDIVISION
        pad = stride * (self.margin + 1)
        fine = np.pad(self.layout.is_free(_grid(self.layout, stride * self.lattice.rest_points_per_cell)), pad)
        width, height = (stride * (size - 1) + 1 for size in self.shape)
        levels = range(-self.lattice.levels, self.lattice.levels + 1)
        axis = [(v, v + push) for v in levels for push in (-1, 0, 1) if v + push in levels]
        shares = np.arange(_SAMPLES + 1) / _SAMPLES
        ways = {
            (v, w): np.rint(_SUBDIVISION * (v % 2 + 2 * v * shares + (w - v) * shares**2)).astype(int).tolist()
            for v, w in axis
        }
        shifts = {(v, w): (v + w - (w % 2 - v % 2)) // 2 for v, w in axis}
        moves = []
        for x in axis:
            for y in axis:
                clear = np.ones(self.shape, dtype=bool)
                for right, up in set(zip(ways[x], ways[y], strict=True)):
                    left, low = pad + right, pad + up
                    clear &= fine[left : left + width : stride, low : low + height : stride]
                moves.append(_Move((x[0], y[0]), (x[1], y[1]), (shifts[x], shifts[y]), clear))
        return moves

    def run(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Minimum numbers of slices from up to 64 sources to all targets, (sources, targets)."""
        reached = self._nothing()
        bits = np.uint64(1) << np.arange(len(sources), dtype=np.uint64)
        for bit, (x, y) in zip(bits, sources + self.margin, strict=True):
            reached[0, 0, x, y] |= bit
        result = np.full((len(sources), len(targets)), np.inf)
        count = 0
        while True:
            at_rest = reached[0, 0, targets[:, 0] + self.margin, targets[:, 1] + self.margin]
            result[((at_rest[None] & bits[:, None]) != 0) & np.isinf(result)] = count
            before, reached = reached, self._advance(reached)
            if np.isfinite(result).all() or np.array_equal(before, reached):
                return result  # all were found, or the others cannot be reached
            count += 1

    def trace(self, source: np.ndarray, target: np.ndarray, slices: int) -> np.ndarray:
        """The states along one path of `slices` slices, traced backwards through what each slice reached."""
        reached = [self._nothing()]
        reached[0][0, 0, *(source + self.margin)] = 1
        for _ in range(slices - 1):
            reached.append(self._advance(reached[-1]))
        speed, place = (0, 0), target
        way = [(speed, place)]
        for earlier in reversed(reached[:slices]):
            for move in self.moves:
                origin = place - move.shift
                inside = (origin >= 0).all() and (origin < self.shape).all()
                possible = move.after == speed and inside and move.clear[*origin]
                if possible and earlier[*move.before, *(origin + self.margin)]:
                    speed, place = move.before, origin
                    break
            way.append((speed, place))
        speeds_along = np.array([speed for speed, _ in way[::-1]])
        halves = 2 * np.array([place for _, place in way[::-1]]) + speeds_along % 2
        cells = halves[:, ::-1] / (2 * self.lattice.rest_points_per_cell)
        unit = TOP_SPEED / self.lattice.levels * np.array([1, self.layout.row_direction])
        return np.concatenate([self.layout.centre(cells), speeds_along * unit], axis=1)

    def _advance(self, reached: np.ndarray) -> np.ndarray:
        after = reached.copy()
        width, height, margin = *self.shape, self.margin
        occupied = np.asarray(reached.any(axis=(2, 3)))
        for move in self.moves:
            if occupied[move.before]:
                source = reached[move.before][margin : margin + width, margin : margin + height]
                left, low = margin + move.shift[0], margin + move.shift[1]
                target = after[move.after][left : left + width, low : low + height]
                np.bitwise_or(target, source, out=target, where=move.clear)
        return after
