"""The Wide Norm (Pitis et al., 2020): learned norms of the positive and negative parts of a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError
from ._base import Quasimetric, require_positive_integer
from ._reductions import LearnedMaxMean, euclidean_norm


class WideNorm(Quasimetric):
    """Maxmean over components c of ||W_c (relu(x - y) :: relu(y - x))||_2, with every entry of W_c >= 0.

    Rectified differences obey the triangle inequality coordinate by coordinate; the norm passes it on because
    a non-negative W_c makes it monotone, which a W_c of either sign would not. W is the square of what is
    learned: non-negative by itself, and on CliffWalking it learned much faster than a softplus or an
    exponential of it. Scaling both latents scales every norm. Symmetric only if W weighs both parts alike.

    ::

        roots    (2 k, components * component_size): the upper k rows weigh relu(x - y), the lower relu(y - x)
    """

    name: ClassVar[str] = "wide-norm"
    latent_size: int = eqx.field(static=True)
    components: int = eqx.field(static=True)
    component_size: int = eqx.field(static=True)
    roots: Float[Array, "two_k outputs"]
    combine: LearnedMaxMean

    def __init__(self, latent_size: int, components: int = 32, component_size: int = 32, *, key: PRNGKeyArray) -> None:
        require_positive_integer(latent_size, "latent size of the Wide Norm")
        require_positive_integer(components, "number of components of the Wide Norm")
        require_positive_integer(component_size, "component size of the Wide Norm")
        self.latent_size = latent_size
        self.components = components
        self.component_size = component_size
        # With this scale a component starts near the mean absolute difference, whatever the sizes.
        scale = (latent_size * component_size**0.5) ** -0.5
        self.roots = scale * jax.random.normal(key, (2 * latent_size, components * component_size))
        self.combine = LearnedMaxMean()

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        difference = x - y
        parts = jnp.concatenate([jax.nn.relu(difference), jax.nn.relu(-difference)], axis=-1)
        outputs = parts @ jnp.square(self.roots)
        rows = outputs.reshape(*outputs.shape[:-1], self.components, self.component_size)
        return self.combine(euclidean_norm(rows))

    def check_size(self, latent_size: int) -> None:
        if latent_size != self.latent_size:
            raise InputError(
                f"This Wide Norm measures latents of {self.latent_size} numbers, not {latent_size}; "
                f"build it with latent_size={latent_size}."
            )

    def hyperparameters(self) -> dict[str, Any]:
        return {
            "latent_size": self.latent_size,
            "components": self.components,
            "component_size": self.component_size,
        }

    @classmethod
    def from_hyperparameters(cls, hyperparameters: Mapping[str, Any]) -> WideNorm:
        return cls(**hyperparameters, key=jax.random.key(0))
