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
    """sum_i |x_i - y_i|: a metric, so all four laws and symmetry hold, and only equal points are 0 apart."""

    name: ClassVar[str] = "l1"
    symmetric: ClassVar[bool] = True

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _Absolute()


@dataclass(frozen=True)
class L2(Quasimetric):
    """sqrt(sum_i (x_i - y_i)^2): a metric as well; at x = y, where it has no slope, the gradient is zero."""

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
