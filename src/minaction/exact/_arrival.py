"""Minimum numbers of actions between continuous states, by a breadth-first search that never rounds a state.

A search over a lattice rounds every state to a lattice point, so the path it finds may be impossible. Here cells only
record what has been visited: the first state to arrive in a cell is kept exactly as it is and expanded, later arrivals
are dropped. Every state found is therefore the end of a real sequence of actions, and no distance is too short. Some
are too long, where a dropped state would have led on faster; finer cells make that rarer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

_SOURCES_AT_ONCE = 8  # enough to keep NumPy busy, few enough that the tables of visited cells fit into memory


@dataclass(frozen=True)
class ArrivalSearch:
    """The search in a world whose states are two bounded numbers.

    No finite number of actions hits a given point of a continuum, so a target counts as reached by a state within
    `tolerance` of it: half the width of a box around it. Passing through the box between two states does not count.
    """

    following: Callable[[np.ndarray], np.ndarray]
    """The successors (actions * n, 2) of states (n, 2), action by action.

    Of several that reach a cell at the same time the last one is kept.
    """
    terminal: Callable[[np.ndarray], np.ndarray]
    """Whether each state (n, 2) ends the episode: such a state can be reached but not left."""
    lowest: np.ndarray
    highest: np.ndarray
    cell: np.ndarray
    tolerance: np.ndarray

    def least_steps(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The minimum numbers of actions (n, m) from `sources` (n, 2) to `targets` (m, 2), inf if unreachable.

        At least one action is taken, even if a target is within the tolerance of its source. The search ends when no
        new cell is reached; a target not reached by then counts as unreachable.
        """
        boxes = _Boxes.around(targets, self.tolerance, self.lowest, self.highest)
        found = np.full((len(sources), len(targets)), np.inf)
        for begin in range(0, len(sources), _SOURCES_AT_ONCE):
            waves = self._waves(sources[begin : begin + _SOURCES_AT_ONCE])
            for steps, (states, source, _) in enumerate(waves, start=1):
                state, target = boxes.holding(states)
                arrived = (begin + source[state], target)
                found[arrived] = np.minimum(found[arrived], steps)
        return found

    def path(self, source: np.ndarray, target: np.ndarray) -> np.ndarray | None:
        """The states (steps + 1, 2) of one path as long as `least_steps` says, or None if there is none."""
        before: list[tuple[np.ndarray, np.ndarray]] = [(source[None], np.zeros(1, dtype=np.int64))]
        for states, _, parents in self._waves(source[None]):
            before.append((states, parents))
            arrived = np.flatnonzero((np.abs(states - target) <= self.tolerance).all(axis=1))
            if len(arrived):
                row, backwards = arrived[0], []
                for known, came_from in reversed(before):
                    backwards.append(known[row])
                    row = came_from[row]
                return np.array(backwards[::-1])
        return None

    def _waves(self, sources: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Step by step: the states in new cells, the source each came from, and its row in the step before."""
        grid = _Grid.over(self.lowest, self.highest, self.cell)
        first = np.full(len(sources) * grid.size, -1, dtype=np.int32)  # the first arrival in each cell, per source
        states, source = sources, np.arange(len(sources))
        first[source * grid.size + grid.number(states)] = 0
        while len(going_on := np.flatnonzero(~self.terminal(states))):
            after = self.following(states[going_on])
            parents = np.tile(going_on, len(after) // len(going_on))
            source = source[parents]
            place = source * grid.size + grid.number(after)
            new = np.flatnonzero(first[place] < 0)
            first[place[new]] = np.arange(len(new))
            kept = new[first[place[new]] == np.arange(len(new))]
            states, source = after[kept], source[kept]
            yield states, source, parents[kept]


@dataclass(frozen=True)
class _Grid:
    """Cells of one size over a box, numbered."""

    lowest: np.ndarray
    cell: np.ndarray
    columns: int
    size: int

    @classmethod
    def over(cls, lowest: np.ndarray, highest: np.ndarray, cell: np.ndarray) -> _Grid:
        rows, columns = np.floor((highest - lowest) / cell).astype(int) + 1
        return cls(lowest, cell, int(columns), int(rows * columns))

    def number(self, states: np.ndarray) -> np.ndarray:
        """The number of each state's cell; the bounds count as inside."""
        row, column = (((states[:, k] - self.lowest[k]) / self.cell[k]).astype(np.int64) for k in (0, 1))
        return row * self.columns + column


@dataclass(frozen=True)
class _Boxes:
    """Boxes of one size around points, found through a grid of cells as wide as a box: a box touches at most four."""

    centres: np.ndarray
    half: np.ndarray
    grid: _Grid
    touching: np.ndarray  # (cells, most boxes in one cell): the number of a box, or -1

    @classmethod
    def around(cls, centres: np.ndarray, half: np.ndarray, lowest: np.ndarray, highest: np.ndarray) -> _Boxes:
        grid = _Grid.over(lowest - 2 * half, highest + 2 * half, 2 * half)
        corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) * half
        cells = grid.number((centres[:, None] + corners).reshape(-1, 2))
        box = np.repeat(np.arange(len(centres)), len(corners))
        cells, box = np.unique(np.stack([cells, box], axis=1), axis=0).T
        place = np.arange(len(cells)) - np.searchsorted(cells, cells)  # numbers the boxes within a cell
        touching = np.full((grid.size, int(place.max()) + 1), -1)
        touching[cells, place] = box
        return cls(centres, half, grid, touching)

    def holding(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of a state and a box that holds it: the numbers of the states, and of the boxes."""
        near = self.touching[self.grid.number(states)]
        state, place = np.nonzero(near >= 0)
        box = near[state, place]
        inside = (np.abs(states[state] - self.centres[box]) <= self.half).all(axis=1)
        return state[inside], box[inside]
