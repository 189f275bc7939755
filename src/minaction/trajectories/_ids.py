"""Whole numbers that name states, such as the cells of a grid, instead of measuring anything."""

from __future__ import annotations

import numpy as np

from .._mapped import read_rows

GLANCE = 20_000
"""Steps that are looked at."""
MEMORY = 0.5
"""Of what measures something, the correlation with itself a step later is above this."""
_FEW_VALUES = 10
_OFTEN = 0.05  # of the steps


def some_steps(states: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States (n, *shape) before and after some recorded steps, in the order of the recording."""
    rows = np.sort(np.random.default_rng(0).choice(len(states), min(GLANCE, len(states)), replace=False))
    rows = rows[~np.isin(rows, offsets[1:] - 1)]  # the last state of an episode has no successor
    return read_rows(states, rows), read_rows(states, rows + 1)


def remembered(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Which numbers of states (n, D) change, and are correlated with their value one step later, (D,) bool."""
    first, second = before - before.mean(axis=0), after - after.mean(axis=0)
    spread = np.sqrt((first**2).mean(axis=0) * (second**2).mean(axis=0))
    return (spread > 0) & ((first * second).mean(axis=0) >= MEMORY * spread)


def are_ids(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether states (n, 1), before and after recorded steps, are ids: whole numbers, often repeated, without order.

    A coordinate is near its own value a step later; ids in no order are not. Numbered row by row, the cells of a grid
    have steps of 1 and of its width, and nothing between.
    """
    if before.shape[1:] != (1,) or len(before) == 0 or (before != np.round(before)).any():
        return False
    if not _FEW_VALUES <= len(np.unique(before)) <= len(before) / 2:
        return False
    sizes, counts = np.unique(np.abs(after - before)[after != before], return_counts=True)
    often = sizes[counts >= _OFTEN * counts.sum()]
    return not remembered(before, after).all() or (len(often) == 2 and bool(often[1] >= 3 * often[0]))
