"""The Interval Quasimetric Embedding (Wang and Isola, 2022): lengths of unions of intervals."""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import InputError, unknown_name
from .base import Quasimetric, require_positive_integer
from .reductions import LearnedMaxMean

Reduction = Literal["sum", "maxmean"]


class IQE(Quasimetric):
    """Sum or maxmean over components c of the length of the union over j of [x_cj, max(x_cj, y_cj)].

    A point between x_cj and z_cj lies between x_cj and y_cj or between y_cj and z_cj, so the union for (x, z)
    is covered by those for (x, y) and (y, z): the triangle inequality. Lengths scale with the latent. It
    measures upwards: zero wherever y <= x in every coordinate. The weight alpha of maxmean is learned.

    ::

        latent   |x_11 .. x_1m|x_21 .. x_2m| ... |      m = component_size numbers to a component
    """

    name: ClassVar[str] = "iqe"
    component_size: int = eqx.field(static=True)
    reduction: Reduction = eqx.field(static=True)
    combine: LearnedMaxMean | None

    def __init__(self, component_size: int, reduction: Reduction = "maxmean") -> None:
        require_positive_integer(component_size, "component size of IQE")
        if reduction not in get_args(Reduction):
            raise unknown_name("reduction of IQE", str(reduction), get_args(Reduction))
        self.component_size = component_size
        self.reduction = reduction
        self.combine = LearnedMaxMean() if reduction == "maxmean" else None

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        lengths = union_length(self._split(x), self._split(y))
        return jnp.sum(lengths, axis=-1) if self.combine is None else self.combine(lengths)

    def _split(self, latent: Float[Array, "*batch k"]) -> Float[Array, "*batch c m"]:
        return latent.reshape(*latent.shape[:-1], latent.shape[-1] // self.component_size, self.component_size)

    def check_size(self, latent_size: int) -> None:
        super().check_size(latent_size)
        if latent_size % self.component_size:
            raise InputError(
                f"IQE cannot split a latent of {latent_size} numbers into components of "
                f"{self.component_size}; choose a latent size that is a multiple of {self.component_size}."
            )

    def hyperparameters(self) -> dict[str, Any]:
        return {"component_size": self.component_size, "reduction": self.reduction}


@jax.custom_jvp
def union_length(x: Float[Array, "*#batch m"], y: Float[Array, "*#batch m"]) -> Float[Array, "*#batch"]:
    """The length of the union over j of [x_j, max(x_j, y_j)].

    The union is a set of stretches: its length is the sum of their ends less the sum of their starts, and that is also
    how it changes with them. Nothing is sorted: for the usual m of 16 or 32, comparing all m^2 pairs of intervals is
    several times faster than a sort and its gathers.
    """
    # A sum of differences of large numbers could come out a rounding error below zero.
    return jax.nn.relu(_ends_less_starts(*_stretches(x, y), x, y))


@union_length.defjvp
def _union_length_derivative(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    stretches = _stretches(*primals)
    return jax.nn.relu(_ends_less_starts(*stretches, *primals)), _ends_less_starts(*stretches, *tangents)


def _ends_less_starts(starts_stretch: Array, ends_stretch: Array, x: Array, y: Array) -> Array:
    return jnp.sum(jnp.where(ends_stretch, y, 0) - jnp.where(starts_stretch, x, 0), axis=-1)


def _stretches(x: Array, y: Array) -> tuple[Array, Array]:
    """Which intervals a stretch starts with, and which it ends with; of equal ones the first by index."""
    count = x.shape[-1]
    index, is_interval = jnp.arange(count), y > x
    starts, ends = jnp.where(is_interval, x, jnp.inf), y  # a single point covers nothing, and must hide nothing

    def look_at(j: Array | int, covered: tuple[Array, Array]) -> tuple[Array, Array]:
        start_covered, end_covered = covered
        start = jax.lax.dynamic_index_in_dim(starts, j, axis=-1)
        end = jax.lax.dynamic_index_in_dim(ends, j, axis=-1)
        comes_first = j < index
        starts_before = jnp.where(comes_first, start <= x, start < x)
        ends_after = jnp.where(comes_first, end >= y, end > y)
        return start_covered | (starts_before & (end >= x)), end_covered | (ends_after & (start <= y))

    none = jnp.zeros(jnp.broadcast_shapes(x.shape, y.shape), bool)

    # A CPU is fastest with a short loop. A GPU would run it as a chain of small kernels: a step of QRL took 2.8 ms, and
    # 0.54 with the search written out. (One reduction over all pairs compiles for minutes there.)
    start_covered, end_covered = jax.lax.platform_dependent(
        cpu=lambda: jax.lax.fori_loop(0, count, look_at, (none, none), unroll=16),
        default=lambda: reduce(lambda covered, j: look_at(j, covered), range(count), (none, none)),
    )
    return is_interval & ~start_covered, is_interval & ~end_covered
