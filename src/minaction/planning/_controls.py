"""Distances that know nothing, to compare a learned one with; the best there can be are the truths in `fields`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .._model import DistanceModel, Provenance
from ..encoders._standardise import fit_statistics
from ..mazes._layouts import MazeLayout
from ..objectives import MadDist


def euclidean(states: jax.Array, goals: jax.Array) -> jax.Array:
    """The straight line in x and y, through walls and all."""
    return jnp.sqrt(((states[..., :2] - goals[..., :2]) ** 2).sum(axis=-1))


def untrained(layout: MazeLayout, seed: int = 0) -> DistanceModel:
    """A model as MadDist begins with: random weights, its inputs standardised to positions in the maze."""
    return untrained_on(layout.random_positions(1000, np.random.default_rng(seed)), seed)


def untrained_on(states: np.ndarray, seed: int = 0) -> DistanceModel:
    """The same for states (n, D) such as these."""
    architecture = MadDist().architecture
    network = architecture.build(fit_statistics(states), key=jax.random.key(seed))
    return DistanceModel(network, architecture, Provenance("untrained", seed=seed))
