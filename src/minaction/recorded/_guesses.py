"""Borrowed moves where states repeat: those that the nodes near a node, and its own missed chances, make likely."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from ._edges import SNAP, Edges, lenders, offers
from ._evidence import after, probably, rate_of
from ._moves import LentMoves
from ._neighbours import nearest

_NODES_AT_A_TIME = 20_000
_ASKED = 5_000  # nodes that tell how often guesses are right


class Guesses(NamedTuple):
    """Moves that nodes near a node were seen to take and that would lead to a node; the nodes near it in columns."""

    node: np.ndarray  # (m,) where the move would start
    end: np.ndarray  # (m,) where it would lead
    cost: np.ndarray  # (m,)
    taken: np.ndarray  # (m,) bool: it was recorded
    missed: np.ndarray  # (m,) how likely the node's visits are without it, if it is there
    others_took: np.ndarray  # (m, l) bool
    others_missed: np.ndarray  # (m, l) the same of those who did not take it; NaN of those who could not

    def likely(self, rate: float) -> np.ndarray:
        """Which of them are probably there, and not known to be, (m,) bool."""
        theirs = np.where(np.isnan(self.others_missed), 0.0, after(rate, self.others_missed))
        wrong = np.where(np.isnan(self.others_missed), 0.0, 1 - theirs).sum(axis=1)
        right = self.others_took.sum(axis=1) - 1 + theirs.sum(axis=1)  # without one who took it, there is no guess
        return probably(rate, right, wrong, self.missed) & ~self.taken


def guessed_edges(
    tree: KDTree, size: int, lent: LentMoves, visits: np.ndarray, absorbing: np.ndarray, tick: float
) -> Iterator[Edges]:
    """A node s beside n, where a move n -> n' was recorded, probably goes to what lies at s + (n' - n)."""
    taken = _Taken(lent, visits)

    def guesses(nodes: np.ndarray) -> Guesses:
        return _guesses(tree, size, lent, taken, visits, absorbing, tick, nodes)

    asked = guesses(np.arange(0, tree.n, max(1, tree.n // _ASKED)))
    rate = rate_of(asked.taken.sum(), asked.missed[~asked.taken])
    for begin in range(0, tree.n, _NODES_AT_A_TIME):
        found = guesses(np.arange(begin, min(begin + _NODES_AT_A_TIME, tree.n)))
        likely = found.likely(rate) & ~absorbing[found.node]
        yield Edges(found.node[likely], found.end[likely], found.cost[likely])


def _guesses(
    tree: KDTree,
    size: int,
    lent: LentMoves,
    taken: _Taken,
    visits: np.ndarray,
    absorbing: np.ndarray,
    tick: float,
    nodes: np.ndarray,
) -> Guesses:
    near = lenders(tree, size, tree.data[nodes])
    near[near == nodes[:, None]] = tree.n  # what a node itself did is no guess
    place, move = (np.concatenate(part) for part in zip(*offers(near, lent), strict=True))
    # The same move of several lenders is one guess.
    _, one = np.unique(np.column_stack([place, lent.kind[move]]), axis=0, return_index=True)
    place, move = place[one], move[one]
    away, end = nearest(tree, tree.data[nodes[place]] + lent.shift[move], SNAP)
    lands = np.isfinite(away) & (end != nodes[place])
    place, move, away, end = place[lands], move[lands], away[lands], end[lands]
    node, others, kind = nodes[place], near[place], lent.kind[move]

    count = taken.count(others, kind[:, None])
    took, chances = count > 0, np.append(visits, 0)[others]
    share = count.sum(axis=1) / np.where(took, chances + 1, 0).sum(axis=1)
    idle = ~took & ~np.append(absorbing, True)[others]
    # One for whom the move leads nowhere says nothing about one for whom it leads somewhere.
    row, column = np.nonzero(idle)
    lands = np.isfinite(nearest(tree, tree.data[others[row, column]] + lent.shift[move[row]], SNAP).away)
    idle[row, column] = lands
    missed = np.where(idle, (1 - share[:, None]) ** chances, np.nan)
    own = taken.count(node, kind) > 0
    return Guesses(node, end, lent.cost[move] + tick * away, own, (1 - share) ** visits[node], took, missed)


class _Taken:
    """How often each node took each kind of move."""

    def __init__(self, lent: LentMoves, visits: np.ndarray) -> None:
        node = np.repeat(np.arange(len(visits)), np.diff(lent.first))
        self._kinds = int(lent.kind.max(initial=0)) + 1
        key = node * self._kinds + lent.kind
        order = np.argsort(key)
        self._keys, self._counts = key[order], (lent.share * (visits[node] + 1))[order]

    def count(self, node: np.ndarray, kind: np.ndarray) -> np.ndarray:
        key = node.astype(np.int64) * self._kinds + kind
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, self._counts[place], 0.0)
