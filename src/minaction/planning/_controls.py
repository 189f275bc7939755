"""Distances that know nothing of a maze, to compare a learned one with; `_fields` has the best possible ones."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .._model import DistanceModel, Provenance
from ..encoders import input_statistics
from ..mazes._layouts import MazeLayout
from ..objectives import MadDist


def euclidean(states: jax.Array, goals: jax.Array) -> jax.Array:
    """The straight line in x and y, right through the walls."""
    return jnp.sqrt(((states[..., :2] - goals[..., :2]) ** 2).sum(axis=-1))


def untrained(layout: MazeLayout, seed: int = 0) -> DistanceModel:
    """The model that MadDist starts from: random weights, inputs standardised to positions in the maze."""
    return untrained_on(layout.random_positions(1000, np.random.default_rng(seed)), seed)


def untrained_on(states: np.ndarray, seed: int = 0) -> DistanceModel:
    """The same for states (n, *shape) such as these."""
    architecture = MadDist().architecture
    network = architecture.build(input_statistics(states), key=jax.random.key(seed))
    return DistanceModel(network, architecture, Provenance("untrained", seed=seed), states.shape[1:])
