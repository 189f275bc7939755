"""`Distance`: d(s, g) = q(phi(s), phi(g)), the pytree that is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from ._descriptions import describe, make
from .encoders import ENCODERS, Encoder, EncoderModule, InputStatistics
from .encoders._inputs import no_statistics
from .errors import InputError
from .quasimetrics import QUASIMETRICS, Quasimetric, QuasimetricModule


class Distance(eqx.Module):
    """An encoder and a quasimetric on its embeddings."""

    encoder: EncoderModule
    quasimetric: QuasimetricModule

    def __call__(self, states: Shaped[Array, " n *shape"], goals: Shaped[Array, " n *shape"]) -> Float[Array, " n"]:
        return self.quasimetric(self.encoder(states), self.encoder(goals))


@dataclass(frozen=True)
class Architecture:
    """Describes a `Distance`, in code and in the header of a model file."""

    encoder: Encoder
    quasimetric: Quasimetric

    def __post_init__(self) -> None:
        described = ((self.encoder, Encoder, "MLP()"), (self.quasimetric, Quasimetric, "IQE()"))
        for part, kind, example in described:
            if not isinstance(part, kind):
                raise InputError(f"{part!r} is not a description of {kind.__name__}; give one such as ma.{example}.")
        self.quasimetric.check(self.encoder.latent_size)

    @property
    def width(self) -> int:
        """How many numbers a network makes of a state."""
        return self.encoder.latent_size

    def build(self, inputs: InputStatistics, *, key: PRNGKeyArray) -> Distance:
        """An untrained distance. Call `check` first: it refuses parts that do not fit the states or each other."""
        encoder_key, quasimetric_key = jax.random.split(key)
        encoder = self.encoder.build(inputs, key=encoder_key)
        quasimetric = self.quasimetric.build(self.encoder.latent_size, key=quasimetric_key)
        return Distance(encoder, quasimetric)

    def check(self, state_shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        """Raise an `InputError` if states of this shape and type cannot be encoded and measured."""
        states = f"states of shape {state_shape} and type {dtype}"

        def embeddings() -> Array:
            inputs = no_statistics(state_shape)
            encoder = self.encoder.build(inputs, key=jax.random.key(0))
            return encoder(jnp.zeros((3, *state_shape), jax.dtypes.canonicalize_dtype(dtype)))

        def distances(embedded: Array) -> Array:
            quasimetric = self.quasimetric.build(self.encoder.latent_size, key=jax.random.key(0))
            return quasimetric(embedded, embedded)

        embedded = _traced(embeddings, f"The encoder {self.encoder.name!r} cannot take {states}")
        latent = self.encoder.latent_size
        if embedded.shape != (3, latent) or not jnp.issubdtype(embedded.dtype, jnp.floating):
            raise InputError(
                f"The encoder {self.encoder.name!r} gives {embedded.dtype} embeddings of shape {embedded.shape[1:]}, "
                f"but says that they have {latent} numbers, which is what the quasimetric takes."
            )
        name = self.quasimetric.name
        measured = _traced(distances, f"The quasimetric {name!r} cannot measure {latent} numbers", embedded)
        if measured.shape != (3,):
            raise InputError(
                f"The quasimetric {name!r} gives distances of shape {measured.shape} for 3 pairs of embeddings; it "
                "reduces the last axis and leaves the others."
            )

    def as_dict(self) -> dict[str, Any]:
        """Both descriptions in full, as JSON values."""
        return {"encoder": describe(self.encoder), "quasimetric": describe(self.quasimetric)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Architecture:
        """The inverse of `as_dict`."""
        return cls(make(ENCODERS, values["encoder"]), make(QUASIMETRICS, values["quasimetric"]))


def _traced(function: Callable[..., Array], failure: str, *arguments: Any) -> jax.ShapeDtypeStruct:
    """The shape and type of what `function` returns; exceptions become an `InputError` that starts with `failure`."""
    try:
        found = jax.eval_shape(function, *arguments)
    except InputError:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise InputError(f"{failure} ({reason}).") from error
    if not isinstance(found, jax.ShapeDtypeStruct):
        raise InputError(f"{failure}: it gives {type(found).__name__}, not one array.")
    return found
