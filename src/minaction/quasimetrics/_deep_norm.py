"""The Deep Norm (Pitis et al., 2020): a network of the difference that is convex by its construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ._base import Quasimetric, QuasimetricModule, require_positive_integer
from ._reductions import LearnedMaxMean


@dataclass(frozen=True)
class DeepNorm(Quasimetric):
    """Maxmean of h_L, with h_1 = relu(U_1 z), h_l = relu(U_l z + W_l h_(l-1)), z = x - y and every entry of W_l >= 0.

    A rectified sum of convex functions with non-negative weights is convex, and without biases it scales with z: every
    unit is convex and positively homogeneous in z, hence subadditive, which is the triangle inequality. It is zero at
    z = 0 and never negative. W is the square of what is learned, as in `WideNorm`. Symmetric only if the weights are;
    points may be 0 apart one way or both.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.DeepNorm(width=16, layers=2).build(2, key=jax.random.key(0))
    >>> q(jnp.ones((5, 2)), jnp.zeros((5, 2))).shape
    (5,)
    """

    name: ClassVar[str] = "deep-norm"

    width: int = 128
    """Units to a layer."""
    layers: int = 3

    def __post_init__(self) -> None:
        require_positive_integer(self.width, "width of the Deep Norm")
        require_positive_integer(self.layers, "number of layers of the Deep Norm")

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> DeepNormModule:
        direct, passed = jax.random.split(key)
        # With these scales every layer adds as much of z to what it is passed, whatever the sizes.
        inputs = latent_size**-0.5 * jax.random.normal(direct, (self.layers, latent_size, self.width))
        roots = (2 * self.width) ** -0.5 * jax.random.normal(passed, (self.layers - 1, self.width, self.width))
        return DeepNormModule(tuple(inputs), tuple(roots), LearnedMaxMean())


class DeepNormModule(QuasimetricModule):
    """What `DeepNorm` builds.

    ::

        inputs   (k, width) for every layer: U, of either sign
        roots    (width, width) for every layer but the first: W is their square
    """

    inputs: tuple[Float[Array, "k width"], ...]
    roots: tuple[Float[Array, "width width"], ...]
    combine: LearnedMaxMean

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        difference = x - y
        hidden = jax.nn.relu(difference @ self.inputs[0])
        for direct, root in zip(self.inputs[1:], self.roots, strict=True):
            hidden = jax.nn.relu(difference @ direct + hidden @ jnp.square(root))
        return self.combine(hidden)
