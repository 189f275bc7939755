"""Whether states that look alike are near each other: in a grid they are, in a puzzle they need not be."""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

from ..recorded._neighbours import neighbours
from ..trajectories import distinct_states, states_repeat

_MOST = 0.5
"""Looks mislead if more states than this were never seen next to what looks most like them.

Measured: grids, rooms, rings and KeyDoor 0, a grid of which half was never recorded .13, a windy one .21; a car .51, a
cart with inertia .70, sliding tiles .89, Taxi, the towers of Hanoi and random numbers .97 or more.
"""
_ASKED = 4096
_LOOK_ALIKES = 8


def looks_mislead(states: np.ndarray, offsets: np.ndarray, unit: np.ndarray) -> bool:
    """Whether states (N, *shape) repeat and their looks say little about what is next to what.

    Episodes begin at `offsets`; each number of a state is measured in its `unit`, of the same shape.
    """
    if states.ndim > 2 or not states_repeat(states, offsets):
        return False  # images have encoders that do not go by single numbers
    distinct = distinct_states(states)
    count = len(distinct)
    places = (distinct.states / unit).reshape(count, -1)
    asked = np.arange(0, count, -(-count // _ASKED))
    away, alike = neighbours(KDTree(places), places[asked], 1 + _LOOK_ALIKES)
    most_alike = away[:, 1:] <= away[:, 1:2] * (1 + 1e-6)
    before = np.setdiff1d(np.arange(len(states) - 1), offsets[1:] - 1)
    here, there = distinct.index[before].astype(np.int64), distinct.index[before + 1]
    beside = np.isin(
        asked[:, None] * count + alike[:, 1:], np.concatenate([here * count + there, there * count + here])
    )
    return float((beside & most_alike).any(axis=1).mean()) < 1 - _MOST
