"""What nodes can lend: the moves that were recorded at each, as displacements, and how common they are there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._nearness import APART

USUAL = 0.9
"""Moves longer than this quantile of lengths, times `JUMP`, are jumps: taken where they were seen, lent to nobody."""
JUMP = 1.3
CHANCE = 1e-3
"""Endings at a node that are less likely than this to be chance make it one that nothing leaves."""
_GRAIN = 100  # displacements equal to a hundredth of a typical move are the same move


@dataclass(frozen=True)
class LentMoves:
    """The moves that every node lends: node i those from `first[i]` to `first[i + 1]`, the most common first."""

    shift: np.ndarray  # (m, k) displacement, in places
    cost: np.ndarray  # (m,)
    share: np.ndarray  # (m,) how often its node took it, of the times it was there and one more
    first: np.ndarray  # (n + 1,)

    @property
    def most(self) -> int:
        """The largest number of moves that a single node lends."""
        return int(np.diff(self.first).max(initial=0))


def usual(shift: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Which displacements are moves that a neighbour could take as well, (m,) bool: no jump, no change of a key."""
    length = np.linalg.norm(shift, axis=1)
    ordinary = (length > 0) & (length < APART / 2)
    if not ordinary.any():
        return ordinary
    limit = JUMP * np.quantile(length[ordinary], USUAL)
    return ordinary & (length <= limit * np.maximum(1.0, cost / np.median(cost)))


def lent_moves(node: np.ndarray, shift: np.ndarray, cost: np.ndarray, visits: np.ndarray, repeats: bool) -> LentMoves:
    """What nodes lend, given the displacements (m, k) that were recorded at them; where they repeat, each once."""
    if repeats:
        kinds = np.column_stack([node, np.round(shift * _GRAIN).astype(np.int64)])
        _, kept, kind, count = np.unique(kinds, axis=0, return_index=True, return_inverse=True, return_counts=True)
        cheapest = np.full(len(kept), np.inf)
        np.minimum.at(cheapest, kind.reshape(-1), cost)
        node, shift, cost, share = node[kept], shift[kept], cheapest, count / (visits[node[kept]] + 1)
    else:
        share = np.full(len(node), 0.5)
    order = np.lexsort((-share, node))
    first = np.searchsorted(node[order], np.arange(len(visits) + 1))
    return LentMoves(shift[order], cost[order], share[order], first)


def absorbing(visits: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which nodes nothing leaves, (n,) bool: so many episodes ended there, and none went on, that it is no chance."""
    share = ends.sum() / max(1, (visits + ends).sum())
    return (visits == 0) & (ends >= 2) & (share**ends < CHANCE)
