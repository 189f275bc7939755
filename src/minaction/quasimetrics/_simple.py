"""Quasimetrics of rectified differences: how far x lies above y, coordinate by coordinate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError
from ._base import Quasimetric, QuasimetricModule
from ._reductions import rectified_maxmean


@dataclass(frozen=True)
class Simple(Quasimetric):
    """d_simple(x, y) = alpha max_i relu(x_i - y_i) + (1 - alpha) mean_i relu(x_i - y_i).

    The paper's own quasimetric. relu(a + b) <= relu(a) + relu(b) and relu(c a) = c relu(a) imply the laws for
    one coordinate; maximum and mean preserve them. It is zero wherever x <= y in every coordinate.

    Args:
        alpha: the weight of the maximum, from 0 to 1; the paper gives none, and 0.9 reproduces its curves.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.Simple(alpha=0.5).build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (1.5, 0.75)
    """

    name: ClassVar[str] = "simple"
    greatest_difference: ClassVar[bool] = True

    alpha: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"The alpha of the simple quasimetric is {self.alpha}; choose one between 0 and 1.")

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return MaxMean(self.alpha)


@dataclass(frozen=True)
class Max(Quasimetric):
    """max_i relu(x_i - y_i): `Simple` with alpha = 1.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.Max().build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (2.0, 1.0)
    """

    name: ClassVar[str] = "max"
    greatest_difference: ClassVar[bool] = True

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _Rectified("max")


@dataclass(frozen=True)
class Sum(Quasimetric):
    """sum_i relu(x_i - y_i). The laws hold because they hold for each summand.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.Sum().build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (2.0, 1.0)
    """

    name: ClassVar[str] = "sum"

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _Rectified("sum")


@dataclass(frozen=True)
class Mean(Quasimetric):
    """mean_i relu(x_i - y_i): `Simple` with alpha = 0.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.Mean().build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (1.0, 0.5)
    """

    name: ClassVar[str] = "mean"

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _Rectified("mean")


class MaxMean(QuasimetricModule):
    """What `Simple` builds."""

    alpha: float = eqx.field(static=True)

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return rectified_maxmean(x - y, self.alpha)


class _Rectified(QuasimetricModule):
    reduction: Literal["max", "sum", "mean"] = eqx.field(static=True)

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return getattr(jnp, self.reduction)(jax.nn.relu(x - y), axis=-1)
