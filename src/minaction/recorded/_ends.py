"""Where a path between any two states enters and leaves the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from ._edges import are_lined
from ._ground import Ground
from ._nearness import APART
from ._neighbours import neighbours

ENDS = 64
"""By at most so many of its nearest nodes a state enters and leaves the graph.

MountainCar with 16: ratio 1.09 instead of 1.03, because paths that came near enough were not seen to arrive.
"""
ARRIVED = 0.5
"""Where moves are not free, a path arrives once it is so near in every input, in typical moves.

This has to be defined, because with inertia hardly any path meets a state exactly, and it matters: MountainCar's own
truth for coming within a half and within a quarter of a typical step correlate by .943 only.
"""
_SAME = 1e-9


@dataclass(frozen=True)
class Ends:
    """Of every state, nodes near it and what it costs to go to them and to come from them; infinite if not possible."""

    places: np.ndarray  # (n, k)
    nodes: np.ndarray  # (n, e)
    out_of: np.ndarray  # (n, e)
    into: np.ndarray  # (n, e)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, rows: slice) -> Ends:
        return Ends(self.places[rows], self.nodes[rows], self.out_of[rows], self.into[rows])

    def straight_to(self, targets: Ends, ground: Ground | None) -> np.ndarray:
        """The costs (n, m) of going there past the graph: for pairs nearer to each other than to what was recorded."""
        way = targets.places[None] - self.places[:, None]
        if ground is None:
            return np.where((way == 0).all(axis=-1), 0.0, np.inf)
        nearest = (np.broadcast_to(nodes, way.shape[:2]).ravel() for nodes in (self.nodes[:, :1], targets.nodes[:, 0]))
        cost = ground.between(way.reshape(-1, way.shape[-1]), *nearest).reshape(way.shape[:2])
        detour = self.out_of.min(axis=1)[:, None] + targets.into.min(axis=1)[None]
        together = np.abs(way[..., -1]) < APART / 2
        return np.where(together & (cost <= detour) & np.isfinite(detour), cost, np.inf)


def ends_of(places: np.ndarray, tree: KDTree, spacing: np.ndarray | None, ground: Ground | None, repeats: bool) -> Ends:
    """The ends of states at `places` (n, k), given the nodes and, where moves are free, their `spacing` and the ground.

    A state that is a node is one. Others go straight to and from the nodes around where moves are free, unless a wall
    may lie between (parts-4 with data of seed 1: Pearson .961 without that, and .999 with it); where moves are not
    free, the nearest node stands for the state that a path begins at, and every node within `ARRIVED` for the one it
    ends at.
    """
    away, nodes = neighbours(tree, places, ENDS, p=2 if ground else np.inf)
    count = nodes.shape[1]
    if ground is None or spacing is None:
        nearest = np.arange(count) == 0
        out_of = np.where(nearest, 0.0, np.inf) + np.zeros_like(away)
        into = np.where(nearest | ((away <= ARRIVED) & (not repeats)), 0.0, np.inf)
    else:
        way = (tree.data[nodes] - places[:, None]).reshape(len(places) * count, -1)
        out_of, into = (ground.times(sign * way, nodes.ravel()).reshape(away.shape) for sign in (1, -1))
        beside = (away[:, :1] < _SAME) | _behind_walls(tree, spacing, places, away, nodes)
        beside[:, 0] = False
        for cost, barred in zip((out_of, into), ground.bars(np.repeat(places, count, axis=0), way), strict=True):
            closed = beside | barred.reshape(away.shape)
            closed[closed.all(axis=1), 0] = False  # barriers all around are a mistake
            cost[closed] = np.inf
    apart = away >= APART / 2
    out_of[apart] = into[apart] = np.inf
    return Ends(places, nodes, out_of, into)


def _behind_walls(
    tree: KDTree, spacing: np.ndarray, places: np.ndarray, away: np.ndarray, nodes: np.ndarray
) -> np.ndarray:
    """Which of the `nodes` (n, e), so far `away` (n, e) from `places` (n, k), nothing recorded leads straight to."""
    spacing = np.maximum(spacing[nodes], away[:, :2][:, -1:])
    way = tree.data[nodes] - places[:, None]
    start = np.broadcast_to(places[:, None], way.shape)
    size = way.shape[-1]
    lined = are_lined(tree, start.reshape(-1, size), way.reshape(-1, size), spacing.ravel())
    return ~lined.reshape(nodes.shape)


@dataclass(frozen=True)
class Arrivals:
    """Of every node, those at which a path to it has arrived; `n` fills up rows that have fewer."""

    near: np.ndarray  # (n, e)

    def least(self, distances: np.ndarray) -> np.ndarray:
        """From distances (k, n) to the nodes themselves, the distances (k, n) to arriving at them."""
        padded = np.append(distances, np.full((len(distances), 1), np.inf), axis=1)
        return np.stack([row[self.near].min(axis=1) for row in padded])


def arrivals(tree: KDTree) -> Arrivals:
    """The nodes within `ARRIVED` of each node in every input, the nearest of them."""
    return Arrivals(neighbours(tree, tree.data, ENDS, ARRIVED, p=np.inf).node.astype(np.int32))
