"""Gaps in a recording of states that repeat: places where nobody was, but nobody had much of a chance to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from ._edges import LENDERS, RADIUS, SNAP, Edges, lenders, offers
from ._evidence import after, probably, rate_of
from ._moves import LentMoves
from ._neighbours import nearest, neighbours

_GRAIN = 100  # places equal to a hundredth of a typical move are the same
_WAYS_OUT = 16


class Gaps(NamedTuple):
    """Places that were probably missed, and the borrowed moves that lead into them."""

    start: np.ndarray  # (m,) the node that a move starts from
    gap: np.ndarray  # (m,) the gap that it leads into
    cost: np.ndarray  # (m,)
    places: np.ndarray  # (g, k)


def bridged_edges(tree: KDTree, size: int, lent: LentMoves, gaps: Gaps) -> Iterator[Edges]:
    """Two borrowed moves in a row, through a gap: from a node to it, and from it to a node."""
    start, gap, cost, places = gaps
    if len(places) == 0:
        return
    leaves, ends, costs = _ways_out(tree, size, lent, places)
    first = np.searchsorted(leaves, np.arange(len(places) + 1))
    for way in range(min(_WAYS_OUT, int(np.diff(first).max(initial=0)))):
        goes = np.flatnonzero(first[gap] + way < first[gap + 1])
        out = first[gap[goes]] + way
        elsewhere = ends[out] != start[goes]
        yield Edges(start[goes][elsewhere], ends[out][elsewhere], (cost[goes] + costs[out])[elsewhere])


def find_gaps(tree: KDTree, size: int, lent: LentMoves, visits: np.ndarray, absorbing: np.ndarray) -> Gaps:
    """The gaps beside nodes.

    A place beside nodes that were visited often and never left for it is a wall. One beside nodes that were hardly ever
    visited was probably missed: in KeyDoor few episodes go on after finding the key, and cross half of the cells.
    """
    found = []
    for node, move in offers(lenders(tree, size, tree.data), lent):
        landing = tree.data[node] + lent.shift[move]
        nobody = ~np.isfinite(nearest(tree, landing, SNAP).away) & ~absorbing[node]
        found.append((node[nobody], landing[nobody], lent.share[move[nobody]], lent.cost[move[nobody]]))
    node, landing, share, cost = (np.concatenate(part) for part in zip(*found, strict=True))
    _, one, gap = np.unique(np.round(landing * _GRAIN), axis=0, return_index=True, return_inverse=True)
    places, gap = landing[one], gap.reshape(-1)
    # Of what several lenders say about the same move, the one that makes it likeliest counts.
    order = np.lexsort((-share, gap, node))
    node, gap, share, cost = node[order], gap[order], share[order], cost[order]
    once = np.concatenate([[True], (node[1:] != node[:-1]) | (gap[1:] != gap[:-1])])[: len(node)]
    node, gap, share, cost = node[once], gap[once], share[once], cost[once]
    missed = np.exp(np.bincount(gap, visits[node] * np.log1p(-share), minlength=len(places)))
    kept = _probably(tree, places, missed)
    renumbered = np.cumsum(kept) - 1
    into = kept[gap]
    return Gaps(node[into], renumbered[gap[into]], cost[into], places[kept])


def _probably(tree: KDTree, places: np.ndarray, missed: np.ndarray) -> np.ndarray:
    """Which of `places` (g, k), where nobody was, were only missed, (g,) bool; beside walls there are rather walls."""
    if len(places) == 0:
        return np.zeros(0, dtype=bool)
    rate = rate_of(tree.n, missed)
    there = np.concatenate([np.ones(tree.n), after(rate, missed), [0.0]])
    every = KDTree(np.concatenate([tree.data, places]))
    beside = neighbours(every, places, LENDERS + 1, RADIUS).node[:, 1:]
    right = there[beside].sum(axis=1)
    wrong = (beside < every.n).sum(axis=1) - right
    return probably(rate, right, wrong, missed)


def _ways_out(
    tree: KDTree, size: int, lent: LentMoves, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The moves out of gaps, as gap, end node and cost (m,), each once, in the order of gaps."""
    found = []
    for gap, move in offers(lenders(tree, size, places), lent):
        away, landing = nearest(tree, places[gap] + lent.shift[move], SNAP)
        lands = np.isfinite(away)
        found.append((gap[lands], landing[lands], lent.cost[move[lands]]))
    gap, end, cost = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((cost, end, gap))
    gap, end, cost = gap[order], end[order], cost[order]
    once = np.concatenate([[True], (gap[1:] != gap[:-1]) | (end[1:] != end[:-1])])[: len(gap)]
    return gap[once], end[once], cost[once]
