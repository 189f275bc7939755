"""From a recording to a graph: choose nodes, then lay recorded, borrowed and straight edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import KDTree

from ..trajectories import Trajectories, repaired, states_repeat
from ._edges import Edges, borrowed_edges, cheapest, reach, spacing_of, straight_edges, unknown
from ._freedom import free_norm
from ._gaps import bridged_edges, find_gaps
from ._ground import Ground, Walked, ground_of
from ._guesses import Visited, guessed_edges
from ._moves import absorbing, lent_moves, usual
from ._moving import at_rows, moving_rows
from ._nearness import Embedding, Nearness
from ._noise import STEPS, noisy_inputs, steady_pace
from ._resolution import choose_resolution
from ._sample import MAX_ROWS, bounded, episodes

NODES = 200_000
"""The most nodes. With inertia their density limits accuracy: MountainCar .939 with 60,000 and .955 with 127,000."""
FREE_NODES = 60_000
"""The most nodes where moves are free, and straight joins make few do: giant-stitch .9998 in 23 ms per source."""


@dataclass(frozen=True)
class Built:
    """A graph and what it was built from."""

    nodes: np.ndarray
    rows: np.ndarray  # (n,) the row of the recording in which each node was first seen
    graph: csr_array
    tree: KDTree
    spacing: np.ndarray | None  # (n,) how far each node is from others, where moves are free
    nearness: Nearness
    ground: Ground | None  # where moves are free
    steps: int
    tick: float
    repeats: bool
    gaps: np.ndarray  # (g, k) places beside nodes that were probably missed; none where states do not repeat


def build(
    data: Trajectories, embedding: Embedding | None, max_nodes: int | None, seed: int, even: bool = False
) -> Built:
    """The graph of a recording; `seed` decides which states of a large one are nodes, and which are joined.

    If `even`, nodes are drawn alike everywhere instead of as often as a place was visited.
    """
    random = np.random.default_rng(seed)
    data, kept = bounded(data, random, MAX_ROWS)
    repeats = embedding is None and states_repeat(data.states, data.offsets)
    data = data if repeats else repaired(data)
    resolution = choose_resolution(data, repeats, embedding, random)
    if not repeats:
        rows = moving_rows(resolution.nearness.measured(data.states), episodes(data))
        if len(rows) < data.num_states:
            data, kept = at_rows(data, rows), rows if kept is None else kept[rows]
            resolution = choose_resolution(data, repeats, embedding, random)
    nearness, moves = resolution.nearness, resolution.moves
    some = moves.sampled(NODES, random)
    before = nearness.place(data.states[some.start])
    shift = nearness.place(data.states[some.end]) - before
    ordinary = usual(shift, some.cost)
    shift = shift[:, : nearness.size]
    rate = shift / some.cost[:, None]
    if embedding is None and not repeats and resolution.steps < STEPS:  # beside noise no state would repeat
        noisy = noisy_inputs(data, nearness)
        rate[:, noisy] = steady_pace(data, nearness, some, noisy)
    norm = free_norm(before[ordinary], some.start[ordinary], resolution.steps, shift[ordinary], rate[ordinary], random)
    tick = float(np.median(some.cost))

    most = max_nodes or (NODES if norm is None else FREE_NODES)
    nodes, node_of = _choose_nodes(data, repeats, most, random, nearness if even else None)
    tree = KDTree(nearness.place(nodes))
    rows = _first_rows(node_of, len(nodes))
    # Where states repeat, when each was first seen says nothing.
    spacing = None if norm is None else spacing_of(tree, rows, 0 if repeats else resolution.steps)
    ground = None if norm is None else ground_of(tree, Walked(before, shift, rate, some.start), norm, repeats)
    start, end = node_of[moves.start], node_of[moves.end]
    begins = start >= 0
    visits = np.bincount(start[begins], minlength=len(nodes))
    edges = _recorded_edges(data, node_of, start, end, moves.cost)

    start, first, last, cost = start[begins], moves.start[begins], moves.end[begins], moves.cost[begins]
    shift = nearness.place(data.states[last]) - nearness.place(data.states[first])
    ordinary = usual(shift, cost)
    lent = lent_moves(start[ordinary], shift[ordinary], cost[ordinary], visits, repeats)
    finals = node_of[data.offsets[1:] - 1]
    ends = np.bincount(finals[finals >= 0], minlength=len(nodes))
    gaps = np.empty((0, tree.m))
    if repeats:
        stuck = absorbing(visits, ends)
        missed = find_gaps(tree, nearness.size, lent, visits, stuck)
        gaps = missed.places
        guessed = [
            *guessed_edges(Visited.of(tree, nearness.size, visits, stuck, *edges[0][:2]), lent, tick),
            *bridged_edges(tree, nearness.size, lent, missed),
        ]
        # What a step takes where it was seen to be taken, no neighbour knows better.
        graph = cheapest([*edges, *unknown(guessed, edges, len(nodes))], len(nodes))
    else:
        guessed = [*borrowed_edges(tree, nearness.size, lent, ground, tick)]
        if ground is not None and spacing is not None:
            guessed += straight_edges(tree, spacing, ground, reach(some.cost, spacing, ground.norm), random)
        graph = cheapest([*edges, *guessed], len(nodes))
    rows = rows if kept is None else kept[rows]
    return Built(nodes, rows, graph, tree, spacing, nearness, ground, resolution.steps, tick, repeats, gaps)


def _first_rows(node_of: np.ndarray, count: int) -> np.ndarray:
    rows = np.flatnonzero(node_of >= 0)[::-1]
    first = np.zeros(count, dtype=np.int64)
    first[node_of[rows]] = rows  # of several, the last to be written is the first row
    return first


def _choose_nodes(
    data: Trajectories, repeats: bool, most: int, random: np.random.Generator, evenly: Nearness | None
) -> tuple[np.ndarray, np.ndarray]:
    """The states that are nodes (n, D), and the node of every recorded state, -1 where it is none."""
    if repeats:
        states, index = data.distinct.states, data.distinct.index
    else:
        states, index = data.states, np.arange(data.num_states)
    if len(states) <= most:
        return states, index
    share = None
    if evenly is not None:
        cells, visits = np.unique(np.floor(evenly.place(states)), axis=0, return_inverse=True, return_counts=True)[1:]
        share = 1 / visits[cells.ravel()]
        share /= share.sum()
    chosen = np.sort(random.choice(len(states), most, replace=False, p=share))
    renumbered = np.full(len(states), -1)
    renumbered[chosen] = np.arange(most)
    return states[chosen], renumbered[index]


def _recorded_edges(
    data: Trajectories, node_of: np.ndarray, start: np.ndarray, end: np.ndarray, cost: np.ndarray
) -> list[Edges]:
    """Recorded moves between nodes, and from each node of an episode to its next one, at the elapsed time."""
    moved = (start >= 0) & (end >= 0) & (start != end)
    rows = np.flatnonzero(node_of >= 0)
    episode = episodes(data)[rows]
    now, later = rows[:-1][episode[1:] == episode[:-1]], rows[1:][episode[1:] == episode[:-1]]
    time = np.arange(data.num_states, dtype=np.float64) if data.times is None else data.times
    changed = node_of[now] != node_of[later]
    now, later = now[changed], later[changed]
    return [
        Edges(start[moved], end[moved], cost[moved]),
        Edges(node_of[now], node_of[later], time[later] - time[now]),
    ]
