"""Models of every kind: each encoder, with states of its own shape and type, beside each quasimetric."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from minaction._descriptions import make
from minaction._distance import Architecture
from minaction._model import DistanceModel, Provenance
from minaction.encoders import MLP, Encoder, Ensemble, ImageEncoder, Projected, input_statistics
from minaction.quasimetrics import QUASIMETRICS, Quasimetric


@dataclass(frozen=True)
class Case:
    """An encoder, what its states look like, and how far beyond the data it is asked."""

    encoder: Encoder
    shape: tuple[int, ...] = (3,)
    dtype: str = "float32"
    extremes: tuple[float, ...] = (0.0, 1e-30, 1e6, -1e15)


# Far out, the phase of a Fourier feature has rounding errors of its own in every runtime.
FOURIER_EXTREMES = (0.0, 1e-30, 30.0, -30.0)

CASES = {
    "selu": Case(MLP(hidden=(24, 16), latent=32)),
    "rectified": Case(MLP(hidden=(24,), latent=32, rectified=True, gain=True)),
    "linear": Case(MLP(hidden=(), latent=32, scaling="none"), shape=()),
    "relu-normed": Case(MLP(hidden=(24, 16), latent=32, activation="relu", layer_norm=True), shape=(2, 3)),
    "gelu-fourier": Case(
        MLP(hidden=(24,), latent=32, activation="gelu", fourier=5), shape=(1,), extremes=FOURIER_EXTREMES
    ),
    "image": Case(MLP(hidden=(24,), latent=32), shape=(4, 3, 2), dtype="uint8", extremes=(0, 255)),
    "conv": Case(ImageEncoder(channels=(4, 6), hidden=(24,), latent=32), (9, 7, 2), "uint8", extremes=(0, 255)),
    "projected": Case(
        Projected(MLP(hidden=(24,), latent=8, fourier=4), hidden=(16,), latent=48, layer_norm=True, activation="gelu"),
        extremes=FOURIER_EXTREMES,
    ),
    "ensemble": Case(Ensemble(Projected(MLP(hidden=(24,), latent=8), hidden=(16,), latent=32), size=3)),
}


def states_of(case: Case, count: int, seed: int) -> np.ndarray:
    """States like those of the data; the first few are extreme in one number, and in all."""
    random = np.random.default_rng(seed)
    states = random.normal(size=(count, *case.shape)) * 2 + 1
    if case.dtype == "uint8":
        states = random.integers(0, 256, (count, *case.shape))
    states = states.astype(case.dtype)
    for k, extreme in enumerate(case.extremes):
        states[k] = extreme
        states[len(case.extremes) + k].flat[:1] = extreme  # type: ignore[union-attr]
    return states


def model_of(case: Case, quasimetric: str | Quasimetric) -> DistanceModel:
    """An untrained model; even what starts at zero has values of its own."""
    architecture = Architecture(case.encoder, make(QUASIMETRICS, quasimetric))
    network = architecture.build(input_statistics(states_of(case, 200, 7)[20:]), key=jax.random.key(1))
    leaves, tree = jax.tree.flatten(network)
    random = np.random.default_rng(3)
    leaves = [leaf + np.float32(0.05) * random.uniform(size=leaf.shape).astype(np.float32) for leaf in leaves]
    return DistanceModel(jax.tree.unflatten(tree, leaves), architecture, Provenance("test"), case.shape, case.dtype)
