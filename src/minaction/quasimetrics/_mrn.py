"""The Metric Residual Network (Liu et al., 2023): a metric, and what is missing one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError
from ._base import Quasimetric, QuasimetricModule
from ._reductions import euclidean_norm, largest


@dataclass(frozen=True)
class MRN(Quasimetric):
    """||x_s - y_s||_2 + max_i relu(x_a,i - y_a,i), with (x_s, x_a) the two halves of a latent.

    The first summand is a metric and the second keeps the laws as `Max`, so that their sum keeps all four. It is zero
    only where the symmetric halves agree and x_a <= y_a, and no pair is closer one way than its symmetric part says.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.MRN().build(4, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 0.0, 1.0, 5.0]), jnp.array([0.0, 4.0, 2.0, 3.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (7.0, 6.0)
    """

    name: ClassVar[str] = "mrn"

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        return _MetricAndResidual()

    def check(self, latent_size: int) -> None:
        super().check(latent_size)
        if latent_size % 2:
            raise InputError(f"MRN cannot halve a latent of {latent_size} numbers; choose an even latent size.")


class _MetricAndResidual(QuasimetricModule):
    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        symmetric, residual = jnp.split(x - y, 2, axis=-1)
        return euclidean_norm(symmetric) + largest(jax.nn.relu(residual))
