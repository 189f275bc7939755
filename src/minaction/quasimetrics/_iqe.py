"""The Interval Quasimetric Embedding (Wang and Isola, 2022): lengths of unions of intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError, unknown_name
from ._base import Quasimetric, QuasimetricModule, require_positive_integer
from ._interval_comparison import union_length
from ._reductions import LearnedMaxMean

Reduction = Literal["sum", "maxmean"]


@dataclass(frozen=True)
class IQE(Quasimetric):
    """Sum or maxmean over components c of the length of the union over j of [x_cj, max(x_cj, y_cj)].

    A point between x_cj and z_cj lies between x_cj and y_cj or between y_cj and z_cj, so the union for (x, z)
    is covered by those for (x, y) and (y, z): the triangle inequality. Lengths scale with the latent. It
    measures upwards: it is zero wherever y <= x in every coordinate. The weight alpha of maxmean is learned.

    ::

        latent   |x_11 .. x_1m|x_21 .. x_2m| ... |      m = component_size numbers per component

    Args:
        component_size: the number of dimensions of a component; it must divide the latent size.
        reduction: how components are combined: "sum" or "maxmean".

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.IQE(component_size=2, reduction="sum").build(2, key=jax.random.key(0))
    >>> x, y = jnp.array([3.0, 1.0]), jnp.array([1.0, 2.0])
    >>> round(float(q(x, y)), 4), round(float(q(y, x)), 4)
    (1.0, 2.0)
    """

    name: ClassVar[str] = "iqe"

    component_size: int = 16
    reduction: Reduction = "maxmean"

    def __post_init__(self) -> None:
        require_positive_integer(self.component_size, "component size of IQE")
        if self.reduction not in get_args(Reduction):
            raise unknown_name("reduction of IQE", str(self.reduction), get_args(Reduction))

    def build(self, latent_size: int, *, key: PRNGKeyArray) -> IntervalUnion:
        return IntervalUnion(self.component_size, LearnedMaxMean() if self.reduction == "maxmean" else None)

    def check(self, latent_size: int) -> None:
        super().check(latent_size)
        if latent_size % self.component_size:
            raise InputError(
                f"IQE cannot split a latent of {latent_size} numbers into components of "
                f"{self.component_size}; choose a latent size that is a multiple of {self.component_size}."
            )


class IntervalUnion(QuasimetricModule):
    """What `IQE` builds."""

    component_size: int = eqx.field(static=True)
    combine: LearnedMaxMean | None

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        return self.reduced(union_length(self.split(x), self.split(y)))

    def split(self, latent: Float[Array, "*batch k"]) -> Float[Array, "*batch c m"]:
        """The latent (..., k), split into components (..., c, m)."""
        return latent.reshape(*latent.shape[:-1], latent.shape[-1] // self.component_size, self.component_size)

    def reduced(self, lengths: Float[Array, "*batch c"]) -> Float[Array, "*batch"]:
        """The distance, from the lengths of all components."""
        return jnp.sum(lengths, axis=-1) if self.combine is None else self.combine(lengths)
