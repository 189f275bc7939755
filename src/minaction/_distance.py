"""`Distance`: d(s, g) = q(phi(s), phi(g)), the thing that is trained; a pure pytree for compiled code."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from .encoders import Encoder, Network, build_encoder
from .encoders._standardise import Statistics
from .quasimetrics import Quasimetric, make_quasimetric


class Distance(eqx.Module):
    """An encoder and a quasimetric on its embeddings."""

    encoder: Encoder
    quasimetric: Quasimetric

    def __call__(
        self, states: Float[Array, "*batch size"], goals: Float[Array, "*batch size"]
    ) -> Float[Array, "*batch"]:
        return self.quasimetric(self.encoder(states), self.encoder(goals))


@dataclass(frozen=True)
class Architecture:
    """All that is needed to build a `Distance` of the right shape: what a model file says before its weights."""

    network: Network
    quasimetric: str

    def build(self, statistics: Statistics, *, key: PRNGKeyArray) -> Distance:
        """An untrained distance."""
        encoder_key, quasimetric_key = jax.random.split(key)
        return Distance(
            build_encoder(self.network, statistics, key=encoder_key),
            make_quasimetric(self.quasimetric, self.network.latent_size, key=quasimetric_key),
        )

    def as_dict(self) -> dict:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> Architecture:
        """The inverse of `as_dict`."""
        network = dict(values["network"])
        network["stages"] = tuple(tuple(stage) for stage in network["stages"])
        if "standardise" in network:  # what `scaling` was before it could be shared
            network["scaling"] = "each" if network.pop("standardise") else "none"
        return cls(Network(**network), values["quasimetric"])
