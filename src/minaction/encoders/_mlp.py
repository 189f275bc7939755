"""`MLP`: scaled inputs, random Fourier features if wanted, and a perceptron."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from ..errors import InputError, unknown_name
from ._base import Encoder, EncoderModule
from ._fourier import FourierFeatures, lowered, per_step
from ._inputs import InputStatistics, Scale
from ._perceptron import ACTIVATIONS, Perceptron

_MOST_LAYERS = 256

Scaling = Literal["each", "shared", "range", "none"]


@dataclass(frozen=True)
class MLP(Encoder):
    """A perceptron over all numbers of a state.

    Distances jump where states lie close together (a wall, a cliff), and a perceptron on plain coordinates learns
    jumps slowly: `fourier` random frequencies beside the inputs let it follow.

    >>> import minaction as ma
    >>> objective = ma.MadDist(encoder=ma.MLP(hidden=(512, 256), latent=64, fourier=64))
    """

    name: ClassVar[str] = "mlp"

    hidden: tuple[int, ...] = (512, 512, 256, 128)
    """Sizes of the hidden layers; the output layer is linear."""
    latent: int = 512
    """How many numbers an embedding has."""
    activation: Literal["selu", "relu", "gelu"] = "selu"
    layer_norm: bool = False
    """Whether to normalise after every hidden layer."""
    fourier: int = 0
    """How many random frequencies to add to the inputs; 0 for none."""
    fourier_sigma: float = 1.0
    """Standard deviation of those frequencies, in radians per unit of the input."""
    fourier_unit: Literal["deviation", "step"] = "deviation"
    """Whether that unit is an input's standard deviation, or how far it changes in a typical step: then what is told
    apart follows from how far a step leads, however large the world is."""
    fourier_rate: float = 3.0
    """Inputs that change more than this many times as fast as the slowest get lower frequencies in proportion."""
    scaling: Scaling = "each"
    """Whether every input is brought to mean 0 and standard deviation 1 over the data set (each), or all to mean 0 and
    together to standard deviation 1, so that a position that varies by metres counts for more than an angle (shared),
    or all begin at 0 and the one with the widest range ends at 1 (range), or none are changed (none): then the network
    depends on the unit and the origin of the states."""

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise unknown_name("activation", self.activation, ACTIVATIONS)
        check_sizes(*self.hidden, self.latent)
        positive = self.fourier_sigma > 0 and self.fourier_rate > 0  # NaN is not
        if self.fourier < 0 or not positive:
            raise InputError("fourier of an MLP must be 0 or more, fourier_sigma and fourier_rate positive.")

    @property
    def latent_size(self) -> int:
        return self.latent

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> MLPModule:
        inputs = inputs.flattened().scaled(self.scaling)
        size, features = inputs.mean.shape[0], None
        fourier_key, weight_key = jax.random.split(key)
        if self.fourier:
            sigma = lowered(self.fourier_sigma, inputs.rate, self.fourier_rate)
            if self.fourier_unit == "step":
                sigma = per_step(sigma, inputs.stride)
            features = FourierFeatures(self.fourier, sigma, key=fourier_key)
            size = features.output_size
        (weight_key,) = jax.random.split(weight_key, 1)  # once more, so that seeds keep the weights they always had
        sizes = (*self.hidden, self.latent)
        perceptron = Perceptron(size, sizes, self.activation, self.layer_norm, key=weight_key)
        return MLPModule(Scale(inputs.mean, inputs.scale), features, perceptron)


class MLPModule(EncoderModule):
    """States to embeddings."""

    scale: Scale
    fourier: FourierFeatures | None
    perceptron: Perceptron

    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        x = self.scale(states.reshape(len(states), math.prod(states.shape[1:])).astype(jnp.float32))
        return self.perceptron(x if self.fourier is None else self.fourier(x))


def check_sizes(*sizes: int) -> None:
    """Refuse layers that have no units."""
    if not sizes or any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in sizes):
        raise InputError(f"Layer sizes must be whole numbers of at least 1, not {list(sizes)}.")
    if len(sizes) > _MOST_LAYERS:
        raise InputError(f"A perceptron has at most {_MOST_LAYERS} layers, not {len(sizes)}.")
