"""Borrowed moves where states repeat: those that the nodes near a node, and its own missed chances, make likely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from ._edges import Edges, lenders, offers
from ._evidence import after, probably, rate_of
from ._moves import LentMoves
from ._neighbours import nearest

SNAP = 0.25
"""How far from a node a guess may land: where states repeat, those that the same move leads to are the same."""
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


@dataclass(frozen=True)
class Visited:
    """What is known of nodes where states repeat: how often each was left, and for which node."""

    tree: KDTree
    size: int  # how many coordinates of a place measure distance
    visits: np.ndarray  # (n,)
    absorbing: np.ndarray  # (n,) bool
    _keys: np.ndarray
    _counts: np.ndarray

    @classmethod
    def of(
        cls, tree: KDTree, size: int, visits: np.ndarray, absorbing: np.ndarray, start: np.ndarray, end: np.ndarray
    ) -> Visited:
        """By the recorded moves from `start` to `end`, both (m,)."""
        keys, counts = np.unique(start.astype(np.int64) * tree.n + end, return_counts=True)
        return cls(tree, size, visits, absorbing, keys, counts)

    def taken(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How often the move from each of `start` to each of `end` was recorded."""
        key = start.astype(np.int64) * self.tree.n + end
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, self._counts[place], 0)


def guessed_edges(world: Visited, lent: LentMoves, tick: float) -> Iterator[Edges]:
    """A node s beside n, where a move n -> n' was recorded, probably goes to what lies at s + (n' - n)."""
    count = world.tree.n
    asked = _guesses(world, lent, tick, np.arange(0, count, max(1, count // _ASKED)))
    rate = rate_of(asked.taken.sum(), asked.missed[~asked.taken])
    for begin in range(0, count, _NODES_AT_A_TIME):
        found = _guesses(world, lent, tick, np.arange(begin, min(begin + _NODES_AT_A_TIME, count)))
        likely = found.likely(rate) & ~world.absorbing[found.node]
        yield Edges(found.node[likely], found.end[likely], found.cost[likely])


def _guesses(world: Visited, lent: LentMoves, tick: float, nodes: np.ndarray) -> Guesses:
    tree = world.tree
    near = lenders(tree, world.size, tree.data[nodes])
    near[near == nodes[:, None]] = tree.n  # what a node itself did is no guess
    place, move = (np.concatenate(part) for part in zip(*offers(near, lent), strict=True))
    away, end = nearest(tree, tree.data[nodes[place]] + lent.shift[move], SNAP)
    cost = lent.cost[move] + tick * away
    # Several lenders may offer a way to the same node: it is one guess, at the least of their costs.
    lands = np.flatnonzero(np.isfinite(away) & (end != nodes[place]))
    lands = lands[np.argsort(cost[lands], kind="stable")]
    lands = lands[np.unique(np.column_stack([place[lands], end[lands]]), axis=0, return_index=True)[1]]
    place, move, end, cost = place[lands], move[lands], end[lands], cost[lands]

    node, others = nodes[place], near[place]
    places = np.append(tree.data, tree.data[:1], axis=0)[others] + lent.shift[move][:, None]
    theirs = nearest(tree, places.reshape(-1, tree.m), SNAP).node.reshape(others.shape)
    # One for whom the move leads nowhere says nothing about one for whom it leads somewhere.
    could = (others < tree.n) & (theirs < tree.n) & (theirs != others) & ~np.append(world.absorbing, True)[others]
    count = np.where(could, world.taken(others, theirs), 0)
    took, chances = count > 0, np.append(world.visits, 0)[others]
    share = count.sum(axis=1) / np.maximum(1, np.where(took, chances + 1, 0).sum(axis=1))
    missed = np.where(could & ~took, (1 - share[:, None]) ** chances, np.nan)
    own = world.taken(node, end) > 0
    return Guesses(node, end, cost, own, (1 - share) ** world.visits[node], took, missed)
