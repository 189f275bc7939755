"""Distances between embeddings that are at hand already."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._model import DistanceModel
from ..quasimetrics import QuasimetricModule


def steps_apart(model: DistanceModel, first: Float[Array, "n latent"], second: Float[Array, "n latent"]) -> np.ndarray:
    """The learned distances (n,) in typical steps between what `model.embed` gave; either may have a single row."""
    return np.asarray(_measure(model.network.quasimetric, *jnp.broadcast_arrays(first, second)))


@eqx.filter_jit
def _measure(quasimetric: QuasimetricModule, first: Array, second: Array) -> Array:
    return quasimetric(first, second)
