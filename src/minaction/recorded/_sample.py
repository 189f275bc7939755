"""The part of a recording that becomes a graph: all of a small one, pieces of a large one, and its moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._mapped import read_rows
from ..trajectories import Trajectories

MAX_ROWS = 1_500_000
"""A longer recording is read in pieces, so that memory is bounded however long it is."""
_PIECE = 512  # states; longer than any time that is looked at (`_resolution.HORIZONS`)


@dataclass(frozen=True)
class Moves:
    """Recorded moves over a fixed number of steps: from row `start` to row `end` of the same episode."""

    start: np.ndarray  # (m,)
    end: np.ndarray  # (m,)
    cost: np.ndarray  # (m,) elapsed time

    def __len__(self) -> int:
        return len(self.start)

    def sampled(self, size: int, random: np.random.Generator) -> Moves:
        """At most `size` of them, drawn without replacement, in order."""
        if len(self) <= size:
            return self
        chosen = np.sort(random.choice(len(self), size, replace=False))
        return Moves(self.start[chosen], self.end[chosen], self.cost[chosen])


def bounded(data: Trajectories, random: np.random.Generator, max_rows: int) -> tuple[Trajectories, np.ndarray | None]:
    """`data` itself, or random pieces of it, each as an episode of its own, that fit into memory together.

    With pieces come the rows of `data` that they are made of.
    """
    if data.num_states <= max_rows and not data.is_mapped:
        return data, None
    starts = np.concatenate([np.arange(a, b, _PIECE) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)])
    ends = np.minimum(starts + _PIECE, data.offsets[np.searchsorted(data.offsets, starts, side="right")])
    whole = ends - starts > 1
    starts, ends = starts[whole], ends[whole]
    order = random.permutation(len(starts))
    chosen = np.sort(order[np.cumsum((ends - starts)[order]) <= max_rows])
    lengths = (ends - starts)[chosen]
    rows = np.repeat(starts[chosen] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    pieces = Trajectories.from_flat(
        read_rows(data.states, rows),
        np.concatenate([[0], np.cumsum(lengths)]),
        times=None if data.times is None else read_rows(data.times, rows),
    )
    return pieces, rows


def moves(data: Trajectories, steps: int) -> Moves:
    """All moves over `steps` steps."""
    episode = episodes(data)
    start = np.flatnonzero(episode[steps:] == episode[:-steps])
    end = start + steps
    cost = np.full(len(start), float(steps)) if data.times is None else data.times[end] - data.times[start]
    return Moves(start, end, cost)


def episodes(data: Trajectories) -> np.ndarray:
    """The episode of every state, (N,)."""
    return np.repeat(np.arange(data.num_episodes), data.lengths)
