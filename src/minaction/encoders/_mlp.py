"""`MLP`: scaled inputs, optional random Fourier features, and a perceptron."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from ..errors import InputError, unknown_name
from ._base import Encoder, EncoderModule
from ._fourier import FourierFeatures, lowered, per_step
from ._inputs import InputStatistics, Scale
from ._perceptron import ACTIVATIONS, Perceptron

_MOST_LAYERS = 256
_MOST_UNITS = 1 << 20

Scaling = Literal["each", "shared", "range", "none"]


@dataclass(frozen=True)
class MLP(Encoder):
    """A perceptron over all numbers of a state.

    Distances can jump between states that are close together (across a wall, at a cliff), and a perceptron on plain
    coordinates learns jumps slowly. Random Fourier features of the inputs, in addition to the inputs themselves, help.

    Args:
        hidden: the sizes of the hidden layers; the output layer is linear.
        latent: the number of dimensions of an embedding.
        activation: "selu", "relu" or "gelu".
        layer_norm: whether to normalise after every hidden layer.
        fourier: the number of random frequencies; 0 for no Fourier features.
        fourier_sigma: the standard deviation of the frequencies, in radians per unit of the input.
        fourier_unit: what that unit is: "deviation", the standard deviation of an input, or "step", its change in a
            typical step, so that the resolution depends on the length of a step and not on the size of the world.
        fourier_span: the ratio of the finest to the coarsest scale of the frequencies; 1 gives all the same scale.
            Fine features follow jumps, coarse ones carry over to states that nobody recorded.
        fourier_rate: inputs that change more than this many times as fast as the slowest get proportionally lower
            frequencies.
        fourier_codes: the share of the frequencies that give every state a code of its own where states repeat and
            their looks mislead, as in a puzzle, so that they can be learned by heart; elsewhere they are like the rest.
        scaling: "each" brings every input to mean 0 and standard deviation 1 over the data set. "shared" brings every
            input to mean 0 and all of them together to standard deviation 1, so that a position that varies by metres
            counts for more than an angle. "range" shifts every input to a minimum of 0 and scales all of them so that
            the one with the widest range has a maximum of 1. "none" leaves inputs as they are: the network then
            depends on the unit and the origin of the states.
        rectified: whether negative numbers of an embedding become 0.
        gain: whether a learned number, 1 at first, multiplies the embedding.

    >>> import minaction as ma
    >>> objective = ma.MadDist(encoder=ma.MLP(hidden=(512, 256), latent=64, fourier=64))
    """

    name: ClassVar[str] = "mlp"

    hidden: tuple[int, ...] = (512, 512, 256, 128)
    latent: int = 512
    activation: Literal["selu", "relu", "gelu"] = "selu"
    layer_norm: bool = False
    fourier: int = 0
    fourier_sigma: float = 1.0
    fourier_unit: Literal["deviation", "step"] = "deviation"
    fourier_span: float = 1.0
    fourier_rate: float = 3.0
    fourier_codes: float = 0.0
    scaling: Scaling = "each"
    rectified: bool = False
    gain: bool = False

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise unknown_name("activation", self.activation, ACTIVATIONS)
        check_sizes(*self.hidden, self.latent)
        positive = self.fourier_sigma > 0 and self.fourier_rate > 0 and self.fourier_span >= 1  # NaN is not
        if self.fourier < 0 or not positive:
            raise InputError(
                "fourier of an MLP must be 0 or more, fourier_sigma and fourier_rate positive, fourier_span at least 1."
            )
        if not 0 <= self.fourier_codes <= 1:
            raise InputError(f"fourier_codes of an MLP is a share from 0 to 1, not {self.fourier_codes}.")

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
            features = FourierFeatures(self.fourier, sigma, self.fourier_span, key=fourier_key)
            if codes := round(self.fourier_codes * self.fourier):
                code_key = jax.random.fold_in(fourier_key, 2)
                features = features.with_codes(codes, inputs.stride, inputs.misleading, key=code_key)
            size = features.output_size
        (weight_key,) = jax.random.split(weight_key, 1)  # split again, so that seeds keep their established weights
        sizes = (*self.hidden, self.latent)
        perceptron = Perceptron(size, sizes, self.activation, self.layer_norm, key=weight_key)
        gain = jnp.ones((), jnp.float32) if self.gain else None
        return MLPModule(Scale(inputs.mean, inputs.scale), features, perceptron, gain, self.rectified)


class MLPModule(EncoderModule):
    """What `MLP` builds."""

    scale: Scale
    fourier: FourierFeatures | None
    perceptron: Perceptron
    gain: Float[Array, ""] | None
    rectified: bool = eqx.field(static=True)

    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        x = self.scale(states.reshape(len(states), math.prod(states.shape[1:])).astype(jnp.float32))
        embedding = self.perceptron(x if self.fourier is None else self.fourier(x))
        embedding = jax.nn.relu(embedding) if self.rectified else embedding
        return embedding if self.gain is None else self.gain * embedding


def check_sizes(*sizes: int) -> None:
    """Refuse layers without units, and too many layers."""
    whole = all(isinstance(size, int) and not isinstance(size, bool) for size in sizes)
    if not sizes or not whole or not all(1 <= size <= _MOST_UNITS for size in sizes):
        raise InputError(f"Layer sizes must be whole numbers from 1 to {_MOST_UNITS}, not {list(sizes)}.")
    if len(sizes) > _MOST_LAYERS:
        raise InputError(f"A perceptron has at most {_MOST_LAYERS} layers, not {len(sizes)}.")
