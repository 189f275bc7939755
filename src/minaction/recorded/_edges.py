"""The edges of the graph: recorded, borrowed and straight ones, and the sparse matrix of the cheapest of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import KDTree

from ._freedom import Norm
from ._ground import Ground
from ._moves import LentMoves
from ._neighbours import nearest, neighbours

LENDERS = 8
"""How many of the nearest nodes lend. More give more lucky landings: MountainCar .951 with 8, .924 with 16."""
RADIUS = 1.5
"""How far away a lender may be, in typical moves: in a grid the eight cells around."""
SNAP = 0.5
"""How far from a recorded state a borrowed move may land; the error is paid for as the time to make it good."""
SNAP_DIRECTED = 1.0
"""The same where moves are not free, and nothing else joins what lies apart.

A car with a heading, 60,000 states: .77 with .5, .94 with 1; picking and placing .83 and .91; MountainCar .91 with
either, and .005 less with .3, where 1.7% of the pairs have no path.
"""
JOINS = 24
POOL = 40
REACH = 2.0
"""A node is joined to `JOINS` of its `POOL` nearest within `REACH` of the fastest moves of a short time."""
SHORT = 0.1
"""That time is this quantile of the durations of moves, since longer ones, where rows were lost, lead around corners.

With the median, two rooms of whose rows two thirds were lost had .84 instead of .97.
"""
WIDE = 4.0
"""Joins reach at least so many times as far as recorded states are from each other, or most nodes would have none."""
CLEARANCE = 1.25
"""A join passes recorded states at most so many times their own spacing away, or it may cut through a wall."""
_SAME = 1e-6  # typical moves: the same place again, as of a robot that comes back to its dock
_KINDS = 8  # of the moves that one lender lends
_ALL_BUT = 0.99  # of the nodes have others near; what lies apart, as an ant on its back, says nothing of walls around


class Edges(NamedTuple):
    """Directed edges (m,) with their costs."""

    start: np.ndarray
    end: np.ndarray
    cost: np.ndarray


def borrowed_edges(tree: KDTree, size: int, lent: LentMoves, ground: Ground | None, tick: float) -> Iterator[Edges]:
    """A node s beside n, where a move n -> n' was recorded, goes to what lies at s + (n' - n), if anything does."""
    for node, move in offers(lenders(tree, size, tree.data), lent):
        aim = tree.data[node] + lent.shift[move]
        miss, landing = nearest(tree, aim, SNAP_DIRECTED if ground is None else SNAP)
        found = np.flatnonzero((landing < tree.n) & (landing != node))
        if ground is not None:
            begin = tree.data[node[found]]
            found = found[~ground.bars(begin, tree.data[landing[found]] - begin)[0]]
        node, move, landing = node[found], move[found], landing[found]
        short = tree.data[landing] - aim[found]
        rest = tick * miss[found] if ground is None else ground.times(short, landing)
        yield Edges(node, landing, lent.cost[move] + rest)


def lenders(tree: KDTree, size: int, places: np.ndarray) -> np.ndarray:
    """The nodes (n, l) that lend their moves to each of `places` (n, k), `tree.n` standing for none.

    Of the places only the first `size` coordinates measure distance; nodes that differ in another one, a key, lend only
    at the same place.
    """
    near = neighbours(tree, places, LENDERS + 1, RADIUS).node
    if places.shape[1] > size:  # keys; without this KeyDoor seed 2 had no path for 5% of the pairs
        same_place = neighbours(KDTree(tree.data[:, :size]), places[:, :size], LENDERS + 1, SNAP).node
        near = np.concatenate([near, same_place], axis=1)
    return near


def offers(near: np.ndarray, lent: LentMoves) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All moves that are lent to each row of `near` (n, l), as pairs (row, move) of indices, some at a time."""
    count = np.append(np.diff(lent.first), 0)  # the number of nodes stands for no neighbour, who offers nothing
    for lender in near.T:
        for kind in range(min(lent.most, _KINDS)):
            place = np.flatnonzero(count[lender] > kind)
            yield place, lent.first[lender[place]] + kind


def spacing_of(tree: KDTree, rows: np.ndarray, steps: int) -> np.ndarray:
    """How densely places were recorded: of every node how far the second nearest of another time is, (n,).

    `rows` (n,) say when nodes were recorded. Those of the same few moves, of so many `steps`, lie on one line, however
    far all others are: by them, states of six numbers would be joined along recorded ways alone (Pearson .89 in a free
    world of six dimensions, .97 without them). A node that lies apart is given the spacing of nearly all others at
    most, or it would be joined to one behind a wall (an ant in a large maze .938, .998 without).
    """
    away, near = neighbours(tree, tree.data, POOL + 1)
    of_another_time = (np.abs(rows[near] - rows[:, None]) > 2 * steps) & (away > _SAME)
    spacing = np.sort(np.where(of_another_time, away, away[:, -1:]), axis=1)[:, min(1, away.shape[1] - 1)]
    return np.minimum(spacing, np.quantile(spacing, _ALL_BUT))


def reach(durations: np.ndarray, spacing: np.ndarray, norm: Norm) -> float:
    """How long a straight join may take, given the durations of moves and how far nodes are from each other."""
    needed = WIDE * float(np.median(spacing)) / float(norm.pace.max())
    return min(REACH * float(np.median(durations)), max(REACH * float(np.quantile(durations, SHORT)), needed))


def straight_edges(
    tree: KDTree, spacing: np.ndarray, ground: Ground, limit: float, random: np.random.Generator
) -> Iterator[Edges]:
    """Nodes joined to random near ones at the cost of the straight way, where recorded states line it."""
    places, count = tree.data, tree.n
    radius = limit * float(ground.norm.pace.max())
    distance, near = neighbours(tree, places, POOL + 1, radius)
    choices = np.isfinite(distance).sum(axis=1)
    for _ in range(JOINS):
        column = 1 + (random.random(count) * np.maximum(0, choices - 1)).astype(np.int64)
        node = np.flatnonzero(column < choices)
        other = near[node, column[node]]
        way = places[other] - places[node]
        clear = np.flatnonzero(ground.norm(way) <= limit)
        node, other, way = node[clear], other[clear], way[clear]
        lined = are_lined(tree, places[node], way, np.maximum(spacing[node], spacing[other]))
        node, other, way = node[lined], other[lined], way[lined]
        barred, barred_back = ground.bars(places[node], way)
        forth, back = ~barred, ~barred_back
        yield Edges(node[forth], other[forth], ground.between(way[forth], node[forth], other[forth]))
        yield Edges(other[back], node[back], ground.between(-way[back], other[back], node[back]))


def are_lined(tree: KDTree, start: np.ndarray, way: np.ndarray, spacing: np.ndarray) -> np.ndarray:
    """Which of the straight ways (m, k) from `start` (m, k) are lined by nodes, whose usual `spacing` (m,) is."""
    lined, clearance = np.ones(len(start), bool), CLEARANCE * spacing
    length = np.linalg.norm(way, axis=1)
    for share in (0.5, 0.25, 0.75):
        asked = np.flatnonzero(lined & (length * min(share, 1 - share) > clearance))
        if len(asked):
            away, _ = nearest(tree, start[asked] + share * way[asked])
            lined[asked[away > clearance[asked]]] = False
    return lined


def unknown(guessed: list[Edges], known: list[Edges], count: int) -> list[Edges]:
    """Those of the guessed edges that are not among the known ones, whatever they cost."""
    keys = np.concatenate([_keys(edges, count) for edges in known])
    fresh = []
    for edges in guessed:
        new = ~np.isin(_keys(edges, count), keys)
        fresh.append(Edges(edges.start[new], edges.end[new], edges.cost[new]))
    return fresh


def cheapest(edges: list[Edges], count: int) -> csr_array:
    """The graph (count, count) of the cheapest of all parallel edges; those of infinite cost are none."""
    start, end, cost = (np.concatenate([np.asarray(edge[part]) for edge in edges]) for part in range(3))
    possible = np.isfinite(cost)
    start, end, cost = start[possible], end[possible], cost[possible]
    key = _keys(Edges(start, end, cost), count)
    order = np.lexsort((cost, key))
    key = key[order]
    kept = order[np.concatenate([[True], key[1:] != key[:-1]])[: len(key)]]
    return csr_array((np.maximum(cost[kept], 0.0), (start[kept], end[kept])), shape=(count, count))


def _keys(edges: Edges, count: int) -> np.ndarray:
    return edges.start.astype(np.int64) * count + edges.end
