"""A* with a distance as its heuristic, and how far that distance is from never saying too much."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..environments._grid import TransitionGraph
from ..errors import InputError

Heuristic = Callable[[np.ndarray], np.ndarray]
"""For node numbers (k,), an estimate of what each still costs to the goal, (k,)."""


@dataclass(frozen=True)
class SearchResult:
    """A way to the goal, node by node, what it costs, and how many nodes were looked at to find it."""

    path: tuple[int, ...]  # empty where there is no way
    cost: float  # infinite where there is no way
    expanded: int


@dataclass(frozen=True)
class Admissibility:
    """How often an estimate is at most the truth, over reachable pairs of different states."""

    pairs: int
    share: float  # of pairs with estimate <= truth
    worst_overestimate: float  # largest estimate - truth, 0 where there is none
    worst_ratio: float  # largest estimate / truth


def a_star(graph: TransitionGraph, start: int, goal: int, heuristic: Heuristic | None = None) -> SearchResult:
    """The cheapest walk from `start` to `goal`, where every edge costs one action.

    A heuristic that never says too much gives the cheapest walk there is; one that sometimes does gives a walk that
    costs at most as much more as the heuristic exaggerates along a cheapest one. Without a heuristic nothing is
    known and nodes are looked at in order of their cost. A node is looked at again if a cheaper way to it turns up.
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
    # Of equal promise the one nearer to the goal goes first.
    waiting = [(float(estimate[start]), float(estimate[start]), 0.0, start)]
    expanded = 0
    while waiting:
        _, _, paid, node = heapq.heappop(waiting)
        if paid > cost[node]:
            continue  # a cheaper way to it was found since
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
