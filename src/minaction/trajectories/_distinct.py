"""The distinct states of a data set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._mapped import read_rows, row_blocks
from ._arrays import positive_zeros, row_keys

_GLANCE = 10_000


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


def states_repeat(states: np.ndarray) -> bool:
    """Whether states (n, *shape), n at least 1, are seen twice or more on average, as in a world of finitely many."""
    glance = states[:: -(-len(states) // _GLANCE)]
    if len(glance) < len(states) and len(distinct_states(glance)) > 0.99 * len(glance):
        return False  # settles continuous data without sorting all of it
    return 2 * len(distinct_states(states)) <= len(states)


def sample_has_at_most(states: np.ndarray, limit: int) -> bool:
    """Whether a sample of `states` has at most `limit` distinct ones; False settles the question for all of them."""
    sample = states[:: max(1, len(states) // (4 * limit + 1))]
    return len({hash(row.tobytes()) for row in sample}) <= limit
