"""The encoder of a model: standardised input, optional Fourier features, one or more perceptrons."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError, unknown_name
from ._fourier import FourierFeatures, paced
from ._mlp import ACTIVATIONS, Perceptron
from ._standardise import SCALINGS, Standardise, Statistics


@dataclass(frozen=True)
class Network:
    """The shape of an encoder.

    Each stage is a perceptron given by its hidden sizes and, last, its output size, which stays linear; most encoders
    have one stage, QRL has an embedding and a projector. `members` networks are trained side by side and their
    embeddings averaged for use (Hilbert has two).
    """

    stages: tuple[tuple[int, ...], ...] = ((512, 512, 256, 128, 512),)
    activation: str = "selu"
    layer_norm: bool = False
    fourier_features: int = 0
    """How many random frequencies to add to the input; 0 for none."""
    fourier_sigma: float = 1.0
    """Standard deviation of those frequencies, in radians per standard deviation of the input."""
    fourier_pace: float = 3.0
    """Inputs that change more than this many times as fast as the slowest get lower frequencies in proportion."""
    members: int = 1
    scaling: str = "each"
    """Whether every input is brought to mean 0 and standard deviation 1 over the data set (each), or all to mean 0 and
    together to standard deviation 1, so that a position that varies by metres counts for more than an angle (shared),
    or none are changed (none)."""

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise unknown_name("activation", self.activation, ACTIVATIONS)
        if self.scaling not in SCALINGS:
            raise unknown_name("scaling", self.scaling, SCALINGS)
        if not self.stages or any(not stage or min(stage) < 1 for stage in self.stages):
            raise InputError(f"Layer sizes must be positive, not {self.stages}.")
        positive = self.fourier_sigma > 0 and self.fourier_pace > 0  # NaN is not
        if self.fourier_features < 0 or not positive or self.members < 1:
            raise InputError("Fourier features must be 0 or more, their sigma and pace positive, members 1 or more.")

    @property
    def latent_size(self) -> int:
        """How many numbers an embedding has."""
        return self.stages[-1][-1]


class Encoder(eqx.Module):
    """States to embeddings. With several members, the mean of theirs; `members` gives each alone."""

    standardise: Standardise
    fourier: FourierFeatures | None
    stacks: tuple[tuple[Perceptron, ...], ...]

    def features(self, states: Float[Array, "*batch size"]) -> Float[Array, "*batch features"]:
        """What the perceptrons see."""
        x = self.standardise(states)
        return x if self.fourier is None else self.fourier(x)

    def members(self, states: Float[Array, "*batch size"]) -> tuple[Float[Array, "*batch latent"], ...]:
        """The embedding of each member network."""
        features = self.features(states)
        embeddings = []
        for stack in self.stacks:
            x = features
            for perceptron in stack:
                x = perceptron(x)
            embeddings.append(x)
        return tuple(embeddings)

    def __call__(self, states: Float[Array, "*batch size"]) -> Float[Array, "*batch latent"]:
        embeddings = self.members(states)
        return sum(embeddings[1:], start=embeddings[0]) / len(embeddings)


def build_encoder(network: Network, statistics: Statistics, *, key: PRNGKeyArray) -> Encoder:
    """An untrained encoder of the given shape."""
    statistics = statistics.scaled(network.scaling)
    size = statistics.mean.shape[0]
    # Every member and every further stage has a key of its own; an encoder of one stage takes the key itself.
    member_keys = jax.random.split(key, network.members) if network.members > 1 else [key]
    fourier = None
    if network.fourier_features:
        sigma = paced(network.fourier_sigma, statistics.pace, network.fourier_pace)
        fourier = FourierFeatures(network.fourier_features, sigma, key=jax.random.split(member_keys[0])[0])
        size = fourier.output_size
    stacks = []
    for member_key in member_keys:
        inputs, stack, stage_key = size, [], member_key
        for place, sizes in enumerate(network.stages):
            own_key = stage_key
            if len(network.stages) - place > 1:
                own_key, stage_key = jax.random.split(stage_key)
            (weight_key,) = jax.random.split(jax.random.split(own_key)[1], 1) if place == 0 else (own_key,)
            stack.append(Perceptron(inputs, sizes, network.activation, network.layer_norm, key=weight_key))
            inputs = sizes[-1]
        stacks.append(tuple(stack))
    return Encoder(Standardise(statistics.mean, statistics.scale), fourier, tuple(stacks))
