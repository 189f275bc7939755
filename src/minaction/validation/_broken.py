"""Whether training broke a model altogether."""

from __future__ import annotations

import jax
import numpy as np

from .._model import DistanceModel
from ..trajectories import Trajectories

_ABSURD = 1000.0  # an untrained one of a few states measures up to a hundred times their recording


def what_broke(model: DistanceModel, data: Trajectories) -> str | None:
    """What is wrong with the weights, or with distances between some of the recorded states; None if nothing is."""
    some = np.linspace(0, data.num_states - 1, 16, dtype=int)
    states = np.asarray(data.states[some])
    found = np.asarray(model.distance(states, states[::-1]))
    finite = all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(model.network)) and np.isfinite(found).all()
    if not finite:
        return "infinite or NaN"
    if found.max() > _ABSURD * data.durations.sum():
        return "a thousand times longer than all that was recorded"
    differ = (states != states[::-1]).reshape(len(states), -1).any(axis=1)
    # Both ways are among them, of which one may be 0 where the other is not.
    return "0 between all recorded states" if differ.any() and not found[differ].any() else None
