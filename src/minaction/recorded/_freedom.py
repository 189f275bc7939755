"""Where moves go every way: then distance is a norm, whose unit ball is the hull of the recorded moves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ._resolution import other_times

FREE = 0.2
"""Moves are free if those of near states oppose each other by this share of what unrelated ones do, in every input.

Measured: CliffWalking .45, other grids .85, rooms 1, ants .7, OGBench's ball .4 to .7, an arm .5; MountainCar .02 and
less, one-way rings and a robot that drives where it heads, stops and turns 0. How much moves differ does not tell the
last from the ball: near states differ in whether they move at all.
"""
FAST = 0.999
"""The quantile of the recorded pace in a direction that is taken as the fastest possible.

The minimum is what counts, and steps of every length and direction are hardly ever the longest straight ahead: with
.99, distances in four rooms were 8% too long (error 1.1 steps; .3 with .999). Where steps are limited coordinate by
coordinate, as in grids and OGBench's mazes, the two are the same.
"""
_SAMPLE = 20_000
_MOST_DIRECTIONS = 1024
_IN_A_PLANE = 16  # directions, of two of many inputs


@dataclass(frozen=True)
class Norm:
    """The time that a displacement takes at the fastest recorded pace: max over directions w of w·x / pace(w).

    In the plane that is the gauge of the moves' convex hull: the maximum norm for a ball whose x and y are limited
    by themselves, the Manhattan distance for four moves, and one-sided where one way is faster than the other.
    """

    directions: np.ndarray  # (w, k)
    pace: np.ndarray  # (w,)

    def __call__(self, shift: np.ndarray) -> np.ndarray:
        """The times of displacements (n, k or more): what is behind the k-th coordinate is not looked at."""
        return np.max(shift[:, : self.directions.shape[1]] @ (self.directions / self.pace[:, None]).T, axis=1)


def free_norm(
    places: np.ndarray, rows: np.ndarray, steps: int, shift: np.ndarray, rate: np.ndarray, random: np.random.Generator
) -> Norm | None:
    """The norm of a world where moves (from `places`, recorded at `rows`, by `shift`) go every way, else None.

    `rate` is the pace of each move, (m, k).
    """
    if len(shift) < 2:
        return None
    some = np.sort(random.choice(len(shift), min(len(shift), _SAMPLE), replace=False))
    shift, rate = shift[some], rate[some]
    pairs = other_times(places[some], rows[some], steps, np.arange(len(some)))
    together = shift[pairs.here] * shift[pairs.there]
    if len(together) == 0 or (together.mean(axis=0) > (1 - FREE) * np.abs(together).mean(axis=0)).any():
        return None
    return fastest(rate, _directions(shift.shape[1]))


def fastest(rate: np.ndarray, directions: np.ndarray) -> Norm:
    """The norm of the fastest of recorded paces (m, k)."""
    return Norm(directions, np.maximum(np.quantile(rate @ directions.T, FAST, axis=0), 1e-6))


def _directions(size: int) -> np.ndarray:
    """Directions all around: evenly in the plane, else evenly in the planes of every two inputs, and random ones.

    Joints that move one at a time go along circles, each in the plane of its cosine and sine: with random directions
    and the axes alone distances of an arm were 6% too short.
    """
    if size == 1:
        return np.array([[1.0], [-1.0]])
    if size == 2:
        return _all_around(64)
    random = np.random.default_rng(0).normal(size=(min(64 * size, _MOST_DIRECTIONS), size))
    planes = list(combinations(range(size), 2))[: _MOST_DIRECTIONS // _IN_A_PLANE]
    even = np.zeros((len(planes), _IN_A_PLANE, size))
    for plane, inputs in zip(even, planes, strict=True):
        plane[:, inputs] = _all_around(_IN_A_PLANE)
    axes = np.eye(size)
    return np.concatenate([axes, -axes, even.reshape(-1, size), random / np.linalg.norm(random, axis=1, keepdims=True)])


def _all_around(count: int) -> np.ndarray:
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
