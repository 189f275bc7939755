"""A* with a distance as its heuristic, and how far that distance is from being admissible."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..environments import TransitionGraph
from ..errors import InputError

Heuristic = Callable[[np.ndarray], np.ndarray]
"""Maps node numbers (k,) to estimates (k,) of their remaining cost to the goal."""


@dataclass(frozen=True)
class SearchResult:
    """A path to the goal, its cost, and how many nodes were expanded to find it."""

    path: tuple[int, ...]  # node by node; empty where there is none
    cost: float  # infinite where there is no path
    expanded: int


@dataclass(frozen=True)
class Admissibility:
    """How often an estimate is at most the truth, over reachable pairs of different states."""

    pairs: int
    share: float  # of the pairs, those with estimate <= truth
    worst_overestimate: float  # largest estimate - truth, 0 where there is none
    worst_ratio: float  # largest estimate / truth


def a_star(graph: TransitionGraph, start: int, goal: int, heuristic: Heuristic | None = None) -> SearchResult:
    """A shortest path from `start` to `goal` in a graph whose edges cost one action each.

    An admissible heuristic, one that never overestimates, gives a shortest path. One that overestimates gives a path
    that is longer by at most as much as the heuristic overestimates along a shortest one. Nodes are expanded again
    when a cheaper path to them is found.

    Args:
        graph: its nodes are numbered by the rows of `graph.states`, its edges are pairs of them, (m, 2).
        start: the number of the first node.
        goal: the number of the last node.
        heuristic: maps node numbers (k,) to estimates (k,) of their remaining cost; all zero (Dijkstra) if None.

    Returns:
        The path, its cost and the number of nodes expanded; an empty path of infinite cost where there is none.

    >>> import numpy as np
    >>> import minaction as ma
    >>> from minaction.environments import TransitionGraph
    >>> line = TransitionGraph(states=np.arange(4)[:, None], edges=np.array([[0, 1], [1, 2], [2, 3], [1, 0]]))
    >>> ma.a_star(line, start=0, goal=3, heuristic=lambda nodes: 3 - nodes)
    SearchResult(path=(0, 1, 2, 3), cost=3.0, expanded=4)
    """
    count = len(graph.states)
    for name, node in (("start", start), ("goal", goal)):
        if not 0 <= node < count:
            raise InputError(f"The {name} is node {node}, but the graph has nodes 0 to {count - 1}.")
    estimate = np.zeros(count) if heuristic is None else np.asarray(heuristic(np.arange(count)), dtype=np.float64)
    if estimate.shape != (count,) or np.isnan(estimate).any():
        raise InputError(f"The heuristic must give one number for each of {count} nodes, not {estimate.shape} or NaN.")
    successors: list[list[int]] = [[] for _ in range(count)]
    for tail, head in graph.edges.tolist():
        successors[tail].append(head)
    cost, parent = np.full(count, np.inf), np.full(count, -1)
    cost[start] = 0.0
    # Of equally promising nodes the one estimated nearer to the goal comes first.
    waiting = [(float(estimate[start]), float(estimate[start]), 0.0, start)]
    expanded = 0
    while waiting:
        _, _, paid, node = heapq.heappop(waiting)
        if paid > cost[node]:
            continue  # a cheaper path to it has been found since
        expanded += 1
        if node == goal:
            return SearchResult(_walk(parent, start, goal), float(paid), expanded)
        for head in successors[node]:
            if paid + 1 < cost[head]:
                cost[head], parent[head] = paid + 1, node
                remaining = float(estimate[head])
                heapq.heappush(waiting, (paid + 1 + remaining, remaining, paid + 1, head))
    return SearchResult((), float("inf"), expanded)


def admissibility(estimates: np.ndarray, distances: np.ndarray, tolerance: float = 1e-4) -> Admissibility:
    """Compare estimates with true distances of the same pairs; unreachable and equal states are left out."""
    estimates, distances = np.asarray(estimates, dtype=np.float64), np.asarray(distances, dtype=np.float64)
    if estimates.shape != distances.shape:
        raise InputError(f"There are estimates of shape {estimates.shape} for distances of shape {distances.shape}.")
    judged = np.isfinite(distances) & (distances > 0)
    if not judged.any():
        raise InputError("No pair of different states is reachable, so there is nothing to compare.")
    said, true = estimates[judged], distances[judged]
    return Admissibility(
        pairs=int(judged.sum()),
        share=float((said <= true + tolerance).mean()),
        worst_overestimate=float(max(0.0, (said - true).max())),
        worst_ratio=float((said / true).max()),
    )


def _walk(parent: np.ndarray, start: int, goal: int) -> tuple[int, ...]:
    nodes = [goal]
    while nodes[-1] != start:
        nodes.append(int(parent[nodes[-1]]))
    return tuple(reversed(nodes))
