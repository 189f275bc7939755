"""Encoders made of encoders: one followed by a projector, and several in parallel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import jax
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from ..errors import InputError
from ._base import Encoder, EncoderModule
from ._inputs import InputStatistics
from ._mlp import MLP, check_sizes
from ._perceptron import Perceptron

_MOST_MEMBERS = 100  # built one by one: a file that asks for a million would keep a machine busy for hours


@dataclass(frozen=True)
class Projected(Encoder):
    """An encoder followed by a perceptron that projects its embedding to the latent space, as in QRL.

    Args:
        base: the encoder whose embedding is projected.
        hidden: the sizes of the projector's hidden layers.
        latent: the number of dimensions of the projected embedding.
        activation: of the projector: "selu", "relu" or "gelu".
        layer_norm: whether to normalise after every hidden layer of the projector.

    >>> import minaction as ma
    >>> ma.Projected(ma.MLP(hidden=(512, 512), latent=128), hidden=(512,), latent=2048).latent_size
    2048
    """

    name: ClassVar[str] = "projected"

    base: Encoder = field(default_factory=MLP)
    hidden: tuple[int, ...] = (512,)
    latent: int = 512
    activation: Literal["selu", "relu", "gelu"] = "selu"
    layer_norm: bool = False

    def __post_init__(self) -> None:
        check_sizes(*self.hidden, self.latent)

    @property
    def latent_size(self) -> int:
        return self.latent

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> ProjectedModule:
        base_key, projector_key = jax.random.split(key)
        sizes = (*self.hidden, self.latent)
        projector = Perceptron(self.base.latent_size, sizes, self.activation, self.layer_norm, key=projector_key)
        return ProjectedModule(self.base.build(inputs, key=base_key), projector)


class ProjectedModule(EncoderModule):
    """What `Projected` builds."""

    base: EncoderModule
    projector: Perceptron

    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        return self.projector(self.base(states))


@dataclass(frozen=True)
class Ensemble(Encoder):
    """Several encoders of one kind, each with its own weights; the embedding is the mean of theirs.

    Hilbert trains two. The module's `members` are the single encoders.

    Args:
        base: describes each of them.
        size: how many there are.

    >>> import minaction as ma
    >>> ma.Ensemble(ma.MLP(hidden=(512, 512), latent=32), size=3).latent_size
    32
    """

    name: ClassVar[str] = "ensemble"

    base: Encoder = field(default_factory=MLP)
    size: int = 2

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"An ensemble has at least one member, not {self.size}.")
        if self.size > _MOST_MEMBERS:
            raise InputError(f"An ensemble has at most {_MOST_MEMBERS} members, not {self.size}.")

    @property
    def latent_size(self) -> int:
        return self.base.latent_size

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> EnsembleModule:
        keys = jax.random.split(key, self.size) if self.size > 1 else [key]
        return EnsembleModule(tuple(self.base.build(inputs, key=one) for one in keys))


class EnsembleModule(EncoderModule):
    """What `Ensemble` builds."""

    members: tuple[EncoderModule, ...]

    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        first, *others = (member(states) for member in self.members)
        return sum(others, start=first) / len(self.members)
