"""How many steps make a move and which inputs count: such that recorded states have neighbours within a move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from ..trajectories import Trajectories, periods, turned
from ._nearness import COPY, Embedding, Nearness, embedded, fit_nearness, independent, remembered, slowness
from ._neighbours import neighbours
from ._sample import Moves, moves

HORIZONS = (1, 4, 16, 64, 256)
"""Over so many steps an input must be remembered to count: the first horizon at which states are near each other."""
MOVES = 16
"""A horizon has at least so many moves, so that what is forgotten within it is small beside the distances measured."""
SLOW = 0.5
"""An input of at least this share of the slowness of the slowest remembered one is not forgotten."""
LONG = 4.0
"""What was forgotten on the way comes back if it has at least this slowness, and states stay dense.

Measured: the place in one of two rooms 10, a temperature 6, what is half forgotten after three steps 1.3.
"""
CLOSE = 0.5
"""Half of the states need one of another time at most so many typical moves away."""
OF_ONE = 4
"""Inputs that never change within an episode say what it was for if so few episodes share their values, or fewer."""
_FEWEST_PURPOSES = 10
_SAMPLE = 60_000
_SAMPLE_NUMBERS = 20_000_000  # of images, fewer: 160 MB as coordinates
_ASKED = 4_000
_NEIGHBOURS = 32


@dataclass(frozen=True)
class Resolution:
    """The steps of a move, the moves, and the nearness that goes with them."""

    steps: int
    moves: Moves
    nearness: Nearness


def choose_resolution(
    data: Trajectories, repeats: bool, embedding: Embedding | None, random: np.random.Generator
) -> Resolution:
    """Single steps and all inputs but noise where states repeat or lie dense; else longer moves, or fewer inputs.

    States of many numbers are hardly ever near each other: of an ant's 29 the nearest is 6 typical steps away. What
    is forgotten within a few steps can be set right on the way, so that it hardly matters to long distances: joints
    go first, then the heading, and the place is left. An input about as slow as the slowest remembered one is kept
    with it: where all go the same way to one goal, the heading tells more of what it was than the place does. What
    slower inputs foretell is left out before any of that, copies at once, and so is what an episode was for.
    """
    found: list[tuple[float, Resolution]] = []
    tried: set[tuple[int, bytes]] = set()
    size = max(100, min(_SAMPLE, _SAMPLE_NUMBERS // data.state_shape[0]))
    straight = repeats or embedding is not None
    period = np.full(len(embedded(data.states[:1], embedding)[0]), np.inf) if straight else periods(data)

    single = moves(data, 1).sampled(size, random)
    before = data.states[single.start]
    purpose = _purposes(data, before, data.states[single.end]) if embedding is None else None

    def attempt(steps: int, lasting: np.ndarray, random: np.random.Generator = random) -> tuple[float, Resolution]:
        return _try(data, steps, lasting, embedding, period, size, random, purpose)

    after = data.states[single.end] if straight else turned(data.states[single.end], before, period)
    slow = slowness(before, after, embedding)
    slowest_first, at_first = np.argsort(-slow), np.ones(len(slow), bool)
    useful = np.ones(len(slow), bool) if straight else independent(before, after, slow, embedding, COPY)
    for horizon in HORIZONS:
        later = moves(data, horizon)
        if len(later) == 0:
            break
        some = later.sampled(size, random)
        lasting = remembered(data.states[some.start], data.states[some.end], embedding, period)
        if lasting.any():
            lasting |= slow >= SLOW * slow[lasting].max()
        at_first = lasting if horizon == HORIZONS[0] else at_first
        lasting = (lasting & useful) | repeats  # beside noise no state would repeat; a grid's two rows are forgotten
        steps = 1
        while steps <= max(1, horizon // MOVES):
            if (steps, lasting.tobytes()) not in tried:
                tried.add((steps, lasting.tobytes()))
                away, resolution = attempt(steps, lasting)
                if repeats or away <= CLOSE:
                    spare = slowest_first[(at_first & useful & ~lasting & (slow >= LONG))[slowest_first]]
                    return _widened(resolution, lasting, spare, attempt)
                found.append((away, resolution))
            steps *= 2
        if horizon == HORIZONS[0]:
            useful = independent(before, after, slow, embedding)
    return min(found, key=lambda pair: pair[0])[1]


def _widened(
    resolution: Resolution, lasting: np.ndarray, spare: np.ndarray, attempt: Callable[..., tuple[float, Resolution]]
) -> Resolution:
    """With as many of the `spare` inputs, numbers in the order they are wanted in, as states still lie dense in.

    What was forgotten first need not be the fastest: in two rooms apart from each other the room is remembered longer
    than the place in it (.72, .999 with all of the place).
    """
    for number in spare:
        lasting = lasting | (np.arange(len(lasting)) == number)
        away, wider = attempt(resolution.steps, lasting, np.random.default_rng(0))
        if away > CLOSE:
            break
        resolution = wider
    return resolution


def _purposes(data: Trajectories, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which inputs say what an episode was for, as the goal beside a robot's place does, (D,) bool.

    They never change within an episode, and hardly two episodes share their values. If they had to agree, every
    episode would be a world of its own. Values that many episodes share may well be of different worlds: maps, robots.
    """
    found = (before == after).all(axis=0)
    for column in np.flatnonzero(found):
        changes = np.diff(data.states[:, column]) != 0
        changes[data.offsets[1:-1] - 1] = False
        found[column] = not changes.any()
    values = len(np.unique(data.states[data.offsets[:-1]][:, found], axis=0)) if found.any() else 0
    return found & (values >= max(_FEWEST_PURPOSES, data.num_episodes / OF_ONE))


def _try(
    data: Trajectories,
    steps: int,
    lasting: np.ndarray,
    embedding: Embedding | None,
    period: np.ndarray,
    size: int,
    random: np.random.Generator,
    purpose: np.ndarray | None,
) -> tuple[float, Resolution]:
    """How far states are away from the nearest one of another time, and the resolution."""
    recorded = moves(data, steps)
    some = recorded.sampled(size, random)
    nearness = fit_nearness(data.states[some.start], data.states[some.end], lasting, embedding, period, purpose)
    places = nearness.place(data.states[some.start])
    other = other_times(places, some.start, steps, random.choice(len(some), min(_ASKED, len(some)), replace=False))
    return other.away, Resolution(steps, recorded, nearness)


@dataclass(frozen=True)
class OtherTimes:
    """Pairs of near states that are no neighbours in time."""

    here: np.ndarray  # (m,)
    there: np.ndarray  # (m,)
    away: float  # the median distance


def other_times(places: np.ndarray, rows: np.ndarray, steps: int, asked: np.ndarray) -> OtherTimes:
    """The nearest of `places` (n, k) for each one `asked` for that was not recorded within the same few moves."""
    distance, near = neighbours(KDTree(places), places[asked], _NEIGHBOURS)
    apart = np.abs(rows[near] - rows[asked, None]) > 2 * steps
    first = np.argmax(apart, axis=1)
    any_apart = apart[np.arange(len(asked)), first]
    away = np.where(any_apart, distance[np.arange(len(asked)), first], distance[:, -1])
    here = np.flatnonzero(any_apart)
    return OtherTimes(asked[here], near[here, first[here]], float(np.median(away)))
