"""The contract of an encoder: a description that is frozen and serialisable, and the module that it builds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from ..registry import Registry
from ._inputs import InputStatistics


def _own() -> Mapping[str, Any]:
    from ._composed import Ensemble, Projected
    from ._image import ImageEncoder
    from ._mlp import MLP

    return {member.name: member for member in (MLP, ImageEncoder, Projected, Ensemble)}


ENCODERS: Registry[Any] = Registry("encoder", "minaction.encoders", _own)
"""Every encoder by name."""


class EncoderModule(eqx.Module):
    """What an encoder builds: states to embeddings, with weights that are trained.

    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([jnp.eye(3)])
    >>> model = ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=16)), steps=1, progress=False)
    >>> model.network.encoder(jnp.eye(3)).shape
    (3, 16)
    """

    @abstractmethod
    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        """The embeddings of a batch of states, which come as they were recorded: images as uint8."""


@dataclass(frozen=True)
class Encoder(ABC):
    """Describes phi. Derive a frozen dataclass with a `name`, fields that JSON can hold, and the two members below.

    >>> import minaction as ma
    >>> ma.MLP(hidden=(256, 256), latent=128, fourier=64).latent_size
    128
    """

    family: ClassVar[Registry[Any]] = ENCODERS
    name: ClassVar[str]

    @property
    @abstractmethod
    def latent_size(self) -> int:
        """How many numbers an embedding has."""

    @abstractmethod
    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> EncoderModule:
        """An untrained module for states like those that `inputs` was taken from."""
