"""Distances that know nothing, to compare a learned one with; what the planner can do at best is `step_truth`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from ..encoders.standardise import fit_standardise
from ..mazes.layouts import MazeLayout
from ..model import DistanceModel, Provenance
from ..objectives import MadDist


def euclidean(states: jax.Array, goals: jax.Array) -> jax.Array:
    """The straight line, through walls and all."""
    return jnp.sqrt(((states - goals) ** 2).sum(axis=-1))


def untrained(layout: MazeLayout, seed: int = 0) -> DistanceModel:
    """A model as MadDist begins with: random weights, its inputs standardised to the maze."""
    architecture = MadDist().architecture
    standardise = fit_standardise(layout.random_positions(1000, np.random.default_rng(seed)))
    network = architecture.build(standardise, key=jax.random.key(seed))
    return DistanceModel(network, architecture, Provenance("untrained", seed=seed))
