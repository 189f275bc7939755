"""The Wide Norm (Pitis et al., 2020): learned norms of the positive and negative parts of a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ._base import Quasimetric, QuasimetricModule, require_positive_integer
from ._reductions import LearnedMaxMean, euclidean_norm


@dataclass(frozen=True)
class WideNorm(Quasimetric):
    """Maxmean over components c of ||W_c (relu(x - y) :: relu(y - x))||_2, with every entry of W_c >= 0.

    Rectified differences obey the triangle inequality coordinate by coordinate, and so does the norm: it is monotone
    because W_c has no negative entries. W is the elementwise square of the learned weights, which keeps it non-negative
    and, on CliffWalking, learned much faster than a softplus or an exponential of them. Scaling both latents scales
    every norm. It is symmetric only if W weighs both parts equally.

    Args:
        components: the number of norms that are combined.
        component_size: the number of rows of each W_c, whose shape is (component_size, 2 * latent_size).

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.WideNorm(components=4, component_size=8).build(2, key=jax.random.key(0))
    >>> q(jnp.ones((5, 2)), jnp.zeros((5, 2))).shape
    (5,)
    """

    name: ClassVar[str] = "wide-norm"

    components: int = 32
    component_size: int = 32

    def __post_init__(self) -> None:
        require_positive_integer(self.components, "number of components of the Wide Norm")
        require_positive_integer(self.component_size, "component size of the Wide Norm")

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> WideNormModule:
        # With this scale, a component is near the mean absolute difference at first, whatever the sizes.
        scale = (latent_size * self.component_size**0.5) ** -0.5
        roots = scale * jax.random.normal(key, (2 * latent_size, self.components * self.component_size))
        return WideNormModule(self.components, roots, LearnedMaxMean())


class WideNormModule(QuasimetricModule):
    """What `WideNorm` builds.

    ::

        roots    (2 k, components * component_size): the upper k rows weigh relu(x - y), the lower relu(y - x)
    """

    components: int = eqx.field(static=True)
    roots: Float[Array, "two_k outputs"]
    combine: LearnedMaxMean

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        difference = x - y
        parts = jnp.concatenate([jax.nn.relu(difference), jax.nn.relu(-difference)], axis=-1)
        outputs = parts @ jnp.square(self.roots)
        size = outputs.shape[-1] // self.components
        return self.combine(euclidean_norm(outputs.reshape(*outputs.shape[:-1], self.components, size)))
