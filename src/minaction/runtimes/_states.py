"""States as a person gives them, checked and in the type of the recording."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError


def as_rows(
    values: Any, shape: tuple[int, ...], dtype: np.dtype[Any], origin: np.ndarray | None = None
) -> tuple[np.ndarray, tuple[int, ...]]:
    """States (..., *shape), seen from `origin`, as float32 rows (n, size), and their leading axes.

    What `dtype` cannot hold is refused.
    """
    try:
        states = np.asarray(values)
        if dtype.kind != "f" and states.dtype != dtype:
            states = _exactly(states, dtype)
        if origin is not None:
            states = states.astype(np.float64) - origin
        states = states.astype(np.float32, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"States must be numbers in a rectangular array ({error}).") from None
    axes = states.ndim - len(shape)
    if axes < 0 or states.shape[axes:] != shape:
        raise InputError(f"This model takes states of shape {shape}, but the array given has shape {states.shape}.")
    lead = states.shape[:axes]
    return states.reshape(math.prod(lead), math.prod(shape)), lead


def _exactly(states: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # NaN becomes some number, which differs
        cast = states.astype(dtype)
    if not np.array_equal(cast, states):
        raise ValueError(f"this model was trained on {dtype}, which cannot hold all of them; give them as recorded")
    return cast
