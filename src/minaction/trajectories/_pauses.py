"""Pauses: steps in which nothing moves, but for noise of measurement."""

from __future__ import annotations

import numpy as np

STILL = 0.2
"""No number changes by more than this share of its typical change in a step at rest."""
_MANY = 0.3  # of the steps: fewer change no statistics, and some steps of any motion are small


def typical_change(change: np.ndarray) -> np.ndarray:
    """Of every number the size of change that half of its way is made in, (D,), given its changes (m, D).

    A median over steps would be that of the noise, if a robot stood still most of the time.
    """
    size = np.sort(np.abs(change), axis=0)
    way = np.cumsum(size, axis=0)
    return np.take_along_axis(size, (way < way[-1:] / 2).sum(axis=0)[None], axis=0)[0] if len(size) else way.sum(axis=0)


def at_rest(change: np.ndarray) -> np.ndarray:
    """Which steps are part of a pause, (m,) bool, given the changes (m, D); none if they are few."""
    still = np.asarray((np.abs(change) <= STILL * typical_change(change)).all(axis=1))
    return still if still.sum() > _MANY * len(still) else np.zeros_like(still)
