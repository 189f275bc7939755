"""What the ground allows: where moves are slower than at the fastest recorded pace, carried by a current, or barred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from ._barriers import LEDGES, WALLS, Barriers, barriers_of
from ._freedom import Norm, fastest
from ._moves import usual
from ._neighbours import nearest, neighbours

NEAR = 128
"""The moves around a place that tell its pace: those of an area two or three steps wide where states lie dense."""
BEST = 0.95
"""The quantile of their paces that counts; few of them go straight ahead at full pace."""
SLOW = 0.7
"""Ground is slow where that is less than this share of what it is elsewhere.

On even ground it is less than .7 at under 1% of the nodes, and less than .94 at a tenth of them.
"""
CARRIED = 0.15
"""A current has to add this share to the pace of the fastest. A wall makes moves one-sided, too, but none faster."""
INPUTS = 3
"""Of more inputs, some are a posture, and a robot that stays where it wants to be has another one than while it walks.

Ants of stitch, who wait at their goals, have .9962 by the graph, and .9907 if that makes the ground slow.
"""
_LEAST = 0.02  # of the full pace: what is slower against a current makes no headway


@dataclass(frozen=True)
class Ground:
    """The time that displacements take at each node: a norm, times a drag, after what a current adds to every move.

    No straight way leads through a barrier.
    """

    norm: Norm
    drag: np.ndarray  # (n,) 1 where the pace is full
    current: np.ndarray  # (n, k) places per time
    barriers: tuple[Barriers, ...]

    @classmethod
    def even(cls, norm: Norm, count: int) -> Ground:
        """The same norm at all of `count` nodes."""
        size = norm.directions.shape[1]
        return cls(norm, np.ones(count), np.zeros((count, size)), ())

    def times(self, way: np.ndarray, node: np.ndarray) -> np.ndarray:
        """How long displacements (m, k or more) take at these nodes (m,); infinite where a current is too strong."""
        time = self.norm(way) * self.drag[node]
        carried = np.flatnonzero(self.current[node].any(axis=1))
        if len(carried):
            ways, node = self.norm.directions, node[carried]
            ahead = way[carried, : ways.shape[1]] @ ways.T
            pace = self.norm.pace / self.drag[node, None] + self.current[node] @ ways.T
            held = pace <= _LEAST * self.norm.pace
            slowest = np.where(held, np.where(ahead > 0, np.inf, 0.0), ahead / np.where(held, 1.0, pace))
            time[carried] = slowest.max(axis=1)
        return np.maximum(time, 0.0)

    def bars(self, start: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which straight ways (m, k or more) from `start` (m, k or more) barriers do not let pass, and which back."""
        forth, back = np.zeros(len(start), bool), np.zeros(len(start), bool)
        for barriers in self.barriers:
            barred = barriers.bar(start, way)
            forth |= barred[0]
            back |= barred[1]
        return forth, back

    def between(self, way: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """How long displacements (m, k or more) from nodes `start` to nodes `end` take: the mean of both."""
        return (self.times(way, start) + self.times(way, end)) / 2


class Walked(NamedTuple):
    """Recorded moves: where each began, (m, k or more), its displacement and pace, (m, k), and its row, (m,)."""

    start: np.ndarray
    shift: np.ndarray
    rate: np.ndarray
    rows: np.ndarray


def ground_of(tree: KDTree, walked: Walked, norm: Norm, repeats: bool) -> Ground:
    """The ground at the nodes, given recorded moves and their norm.

    It is slow where nobody was fast. Recorded states alone do not show it: straight ways across mud looked as quick as
    those beside it. Of uneven ground, the full pace is that of moves where it is not slow and nothing is carried.
    """
    rate = walked.rate
    if repeats or rate.shape[1] > INPUTS:
        return Ground.even(norm, tree.n)
    near = neighbours(KDTree(walked.start), tree.data, NEAR).node
    node = nearest(tree, walked.start).node
    current = _current(near, rate)
    own = rate - current[node]  # what carries a move is nobody's own pace
    local = np.quantile(norm(own).astype(np.float32)[near], BEST, axis=1)
    drag = np.quantile(local, BEST) / np.maximum(local, 1e-6)
    drag = np.where(drag > 1 / SLOW, drag, 1.0)
    even = (drag == 1) & ~current.any(axis=1)
    if not even.all() and even[node].any():
        own = own[even[node]]
        norm = fastest(own[usual(own, np.ones(len(own)))], norm.directions)
    ordinary = usual(walked.shift, np.ones(len(rate)))  # no jump
    kept = walked.start[ordinary], walked.shift[ordinary], walked.rows[ordinary]
    return Ground(norm, drag, current, tuple(barriers_of(*kept, search) for search in (WALLS, LEDGES)))


def _current(near: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """By how much moves around each place (n, moves) go further one way than moves do anywhere else, (n, k)."""
    found = np.zeros((len(near), rate.shape[1]))
    for number, column in enumerate(rate.T.astype(np.float32)):
        low, high = np.quantile(column[near], (1 - BEST, BEST), axis=1)
        middle, half = (low + high) / 2, (high - low) / 2
        full = np.quantile(half, BEST)
        shift = middle - np.median(middle)
        excess = half + np.abs(shift) - full
        found[:, number] = np.where(excess > CARRIED * full, np.sign(shift) * excess, 0.0)
    return found
