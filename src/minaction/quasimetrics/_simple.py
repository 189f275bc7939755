"""Quasimetrics made of rectified differences: how far x lies above y, coordinate by coordinate."""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import InputError
from ._base import Quasimetric
from ._reductions import rectified_maxmean


class Simple(Quasimetric):
    """d_simple(x, y) = alpha max_i relu(x_i - y_i) + (1 - alpha) mean_i relu(x_i - y_i).

    The paper's own quasimetric. relu(a + b) <= relu(a) + relu(b) and relu(c a) = c relu(a) give the laws for
    one coordinate; maximum and mean keep them. It is zero wherever x <= y in every coordinate.
    """

    name: ClassVar[str] = "simple"
    alpha: float = eqx.field(default=0.9, static=True)

    def __check_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"The alpha of the simple quasimetric is {self.alpha}; choose one between 0 and 1.")

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return rectified_maxmean(x - y, self.alpha)

    def hyperparameters(self) -> dict[str, Any]:
        return {"alpha": self.alpha}


class _Parameterless(Quasimetric):
    def hyperparameters(self) -> dict[str, Any]:
        return {}


class Max(_Parameterless):
    """max_i relu(x_i - y_i). Keeps the laws as `Simple` with alpha = 1."""

    name: ClassVar[str] = "max"

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return jnp.max(jax.nn.relu(x - y), axis=-1)


class Sum(_Parameterless):
    """sum_i relu(x_i - y_i). Keeps the laws because each summand does."""

    name: ClassVar[str] = "sum"

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return jnp.sum(jax.nn.relu(x - y), axis=-1)


class Mean(_Parameterless):
    """mean_i relu(x_i - y_i). Keeps the laws as `Simple` with alpha = 0."""

    name: ClassVar[str] = "mean"

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return jnp.mean(jax.nn.relu(x - y), axis=-1)
