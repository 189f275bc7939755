"""The Interval Quasimetric Embedding (Wang and Isola, 2022): lengths of unions of intervals."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..errors import InputError, unknown_name
from ._base import Quasimetric, require_positive_integer
from ._blocks import Count
from ._interval_comparison import union_length
from ._interval_sweep import union_lengths_among
from ._reductions import LearnedMaxMean

Reduction = Literal["sum", "maxmean"]

# With fewer targets there may be so many sources to a block of pairs that their orders take more memory than it may.
_TARGETS_WORTH_ORDERING = 4


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
        return self._reduced(union_length(self._split(x), self._split(y)))

    def among(
        self,
        x: Float[Array, "sources k"],
        y: Float[Array, "targets k"],
        first: Int[Array, " n"],
        second: Int[Array, " n"],
        count: Count | None = None,
    ) -> Float[Array, " n"]:
        count = len(first) if count is None else count
        return self._reduced(union_lengths_among(self._split(x), self._split(y), first, second, count))

    def every_pair(self, x: Float[Array, "sources k"], y: Float[Array, "targets k"]) -> Float[Array, "sources targets"]:
        if len(y) < _TARGETS_WORTH_ORDERING:
            return super().every_pair(x, y)
        first, second = jnp.repeat(jnp.arange(len(x)), len(y)), jnp.tile(jnp.arange(len(y)), len(x))
        return self.among(x, y, first, second).reshape(len(x), len(y))

    def _reduced(self, lengths: Float[Array, "*batch c"]) -> Float[Array, "*batch"]:
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
