"""The symmetric baselines: distances that come from a norm."""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from ._base import Quasimetric
from ._reductions import euclidean_norm


class _Norm(Quasimetric):
    @property
    def symmetric(self) -> bool:
        return True

    def hyperparameters(self) -> dict[str, Any]:
        return {}


class L1(_Norm):
    """sum_i |x_i - y_i|: a metric, so all four laws and symmetry hold, and only equal points are 0 apart."""

    name: ClassVar[str] = "l1"

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        difference = x - y
        # The slope of `jnp.abs` at 0 is 1, which would push equal points apart one way; here it is 0.
        return jnp.sum(difference * jnp.sign(difference), axis=-1)


class L2(_Norm):
    """sqrt(sum_i (x_i - y_i)^2): a metric as well; at x = y, where it has no slope, the gradient is zero."""

    name: ClassVar[str] = "l2"

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return euclidean_norm(x - y)
