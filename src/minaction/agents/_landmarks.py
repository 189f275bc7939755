"""`landmarks`: a few recorded states from which, by the learned distance, none is far."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._mapped import read_rows
from .._model import DistanceModel
from ..errors import InputError
from ..trajectories import as_trajectories, distinct_states
from ._embedded import steps_apart

_SAMPLE = 10_000


def landmarks(data: Any, model: DistanceModel, k: int, *, seed: int = 0) -> np.ndarray:
    """The rows of `data.states` of `k` different recorded states that are spread out by the learned distance, (k,).

    Each is the state that is furthest from those before it, there or back, whichever is longer; of a large recording
    a random sample is looked at. `seed` draws that, and the first. More than there are different states are refused.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=5)
    >>> model = ma.fit(data, steps=2, progress=False)
    >>> ma.landmarks(data, model, 4).shape
    (4,)
    """
    data, random = as_trajectories(data), np.random.default_rng(seed)
    rows = random.choice(data.num_states, min(_SAMPLE, data.num_states), replace=False)
    states = distinct_states(read_rows(data.states, rows))
    rows = rows[np.unique(states.index, return_index=True)[1]]
    if not isinstance(k, Integral) or not 1 <= k <= len(rows):
        raise InputError(f"Cannot choose {k} landmarks of {len(rows)} different recorded states; give another k.")
    places = model.embed(states.states)
    chosen, away = [0], np.full(len(rows), np.inf)
    while len(chosen) < k:
        newest = places[chosen[-1] :][:1]
        longer = np.maximum(steps_apart(model, newest, places), steps_apart(model, places, newest))
        away = np.minimum(away, longer)
        away[chosen[-1]] = -1.0  # of different states at no distance each is chosen once
        chosen.append(int(np.argmax(away)))
    return rows[chosen]
