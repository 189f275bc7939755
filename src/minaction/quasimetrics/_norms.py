"""The symmetric baselines: distances that come from a norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ._base import Quasimetric, QuasimetricModule
from ._reductions import euclidean_norm


@dataclass(frozen=True)
class L1(Quasimetric):
    """sum_i |x_i - y_i|: a metric, so it is symmetric and zero only between equal points.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.L1().build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (3.0, 3.0)
    """

    name: ClassVar[str] = "l1"
    symmetric: ClassVar[bool] = True

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _Absolute()


@dataclass(frozen=True)
class L2(Quasimetric):
    """sqrt(sum_i (x_i - y_i)^2): a metric; at x = y, where it is not differentiable, the gradient is zero.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.L2().build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (2.2361, 2.2361)
    """

    name: ClassVar[str] = "l2"
    symmetric: ClassVar[bool] = True

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _Euclidean()


class _Absolute(QuasimetricModule):
    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        difference = x - y
        # The slope of `jnp.abs` at 0 is 1, which would push equal points apart one way; here it is 0.
        return jnp.sum(difference * jnp.sign(difference), axis=-1)


class _Euclidean(QuasimetricModule):
    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return euclidean_norm(x - y)
