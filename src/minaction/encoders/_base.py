"""The interface of an encoder: a frozen, serialisable description, and the module that it builds."""

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
    """The trainable module that an encoder builds: maps states (n, *shape) to embeddings (n, latent).

    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([jnp.eye(3)])
    >>> model = ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=16)), steps=1, progress=False)
    >>> model.network.encoder(jnp.eye(3)).shape
    (3, 16)
    """

    @abstractmethod
    def __call__(self, states: Shaped[Array, " n *shape"]) -> Float[Array, "n latent"]:
        """The embeddings (n, latent) of `states` (n, *shape), given as they were recorded: images as uint8."""


@dataclass(frozen=True)
class Encoder(ABC):
    """Describes phi, which maps states to embeddings.

    A subclass is a frozen dataclass with a `name`, fields that can be stored as JSON, `latent_size` and `build`.

    >>> import minaction as ma
    >>> ma.MLP(hidden=(256, 256), latent=128, fourier=64).latent_size
    128
    """

    family: ClassVar[Registry[Any]] = ENCODERS
    name: ClassVar[str]

    @property
    @abstractmethod
    def latent_size(self) -> int:
        """The number of dimensions of an embedding."""

    @abstractmethod
    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> EncoderModule:
        """An untrained module, with initial weights drawn with `key`.

        `inputs` has the statistics of the states to be trained on; its arrays have the shape of a state.
        """
