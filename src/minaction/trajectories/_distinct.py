"""The distinct states of a data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._mapped import read_rows, row_blocks
from ._arrays import positive_zeros, row_keys

_GLANCE = 10_000
_EPISODES = 5  # of fewer, episodes of a large world may have no state in common
_MET_AGAIN = 0.01
"""Of the states that repeat, so many at least are met in two episodes where there are finitely many states.

Measured: none where every episode has a grid of its own, because it begins anywhere and moves by whole steps; .03 to 1
of five episodes in seventeen worlds of finitely many states (reproductions/other_worlds.py).
"""


@dataclass(frozen=True)
class DistinctStates:
    """The distinct states of a data set, each once: `states[index]` equals the states of the data set."""

    states: np.ndarray  # (U, *shape)
    index: np.ndarray  # (N,) int32

    def __len__(self) -> int:
        return len(self.states)


def distinct_states(states: np.ndarray) -> DistinctStates:
    """The distinct ones of `states` (N, *shape), in order of appearance.

    States are equal if all their bits are, except that -0.0 equals 0.0.
    """
    keys = np.concatenate([row_keys(rows) for rows in row_blocks(states)])
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return DistinctStates(positive_zeros(read_rows(states, first[order])), rank[index].astype(np.int32))


def states_repeat(states: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether states (n, *shape), n at least 1, are visited twice or more on average, as in a world of finitely many.

    Episodes begin at `offsets`.
    """
    glance = states[:: -(-len(states) // _GLANCE)]
    if len(glance) < len(states) and len(distinct_states(glance)) > 0.99 * len(glance):
        return False  # settles continuous data without sorting all of it
    return met_again(distinct_states(states), offsets, 2)


def met_again(distinct: DistinctStates, offsets: np.ndarray, times: int) -> bool:
    """Whether states are visited so many `times` on average and, if there are enough episodes to tell, in several.

    Rows of an episode in which the state stays as it is are one visit: a robot that stands still repeats its state in
    row after row, and moves in a continuum nonetheless.
    """
    index = distinct.index
    arrives = np.append(True, index[1:] != index[:-1])
    arrives[offsets[:-1]] = True
    if times * len(distinct) > arrives.sum():
        return False
    if len(offsets) <= _EPISODES:
        return True
    episode = np.searchsorted(offsets, np.arange(len(index)), side="right")
    met = np.unique(index.astype(np.int64) * len(offsets) + episode) // len(offsets)
    return bool((np.bincount(met) > 1).sum() >= _MET_AGAIN * (np.bincount(index) > 1).sum())


def sample_has_at_most(states: np.ndarray, limit: int) -> bool:
    """Whether a sample of `states` has at most `limit` distinct ones; False settles the question for all of them."""
    sample = states[:: max(1, len(states) // (4 * limit + 1))]
    return len({hash(row.tobytes()) for row in sample}) <= limit
