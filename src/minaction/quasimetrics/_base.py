"""`Quasimetric`: what every distance on the latent space offers, and what it promises."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int

from ..errors import InputError
from ._blocks import Count, measured_in_blocks

# Differences of embeddings that are made in pieces stay in a CPU's cache, which is several times faster.
_CACHE_BYTES = 4 << 20


class Quasimetric(eqx.Module):
    """A distance q(x, y) on R^k that need not be symmetric.

    Every member keeps these laws, for all x, y, z and c > 0 and for any value of what it learns:

    - identity: q(x, x) = 0
    - non-negativity: q(x, y) >= 0
    - triangle inequality: q(x, z) <= q(x, y) + q(y, z)
    - positive homogeneity: q(c x, c y) = c q(x, y)

    Where a law is a kink (x = y above all) the gradient is finite: one of the one-sided slopes, or zero.
    A member says in its docstring why the laws hold and in which direction it measures.
    """

    name: ClassVar[str]

    @property
    def symmetric(self) -> bool:
        """Whether q(x, y) = q(y, x)."""
        return False

    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch _"]) -> Float[Array, "*#batch"]:
        """The distance from `x` to `y`: the last axis is reduced, the leading ones broadcast.

        All pairs are `q(x[:, None], y[None, :])`; what depends on `x` alone is computed once per row of `x`.
        """
        if x.shape[-1] != y.shape[-1]:
            raise InputError(
                f"Cannot measure from a latent of {x.shape[-1]} numbers to one of {y.shape[-1]}; "
                "encode both with the same encoder."
            )
        self.check_size(x.shape[-1])
        return self.between(x, y)

    @abstractmethod
    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        """The distance itself, for latents whose size was checked."""

    def among(
        self,
        x: Float[Array, "sources k"],
        y: Float[Array, "targets k"],
        first: Int[Array, " n"],
        second: Int[Array, " n"],
        count: Count | None = None,
    ) -> Float[Array, " n"]:
        """q(x[first], y[second]), for a CPU and many pairs of few rows; of the first `count` pairs, if that is given,
        and for the others nothing that means anything.
        """
        return measured_in_blocks((self, x, y), first, second, len(first) if count is None else count)

    def every_pair(self, x: Float[Array, "sources k"], y: Float[Array, "targets k"]) -> Float[Array, "sources targets"]:
        """q(x[:, None], y[None]), for a CPU: as many pairs at a time as its cache holds."""
        few = min(len(x), len(y))
        together = max(1, _CACHE_BYTES // (4 * few * x.shape[1]))
        if len(y) == few:
            return jax.lax.map(lambda row: self.between(row, y), x, batch_size=together)
        return jax.lax.map(lambda row: self.between(x, row), y, batch_size=together).T

    def check_size(self, latent_size: int) -> None:
        """Refuse a latent size that this distance cannot measure."""
        if latent_size < 1:
            raise InputError(f"A latent of {latent_size} numbers cannot be measured; choose a size of at least 1.")

    def to_config(self) -> dict[str, Any]:
        """What `quasimetric_from_config` needs to build it again, fit for JSON; without what was learned."""
        return {"name": self.name, **self.hyperparameters()}

    @abstractmethod
    def hyperparameters(self) -> dict[str, Any]:
        """The arguments it was built with: numbers, strings, and descriptions of other members."""

    @classmethod
    def from_hyperparameters(cls, hyperparameters: Mapping[str, Any]) -> Quasimetric:
        """The inverse of `hyperparameters`; whatever is learned has its starting values."""
        return cls(**hyperparameters)


def require_positive_integer(value: Any, what: str) -> None:
    """Refuse a count that is not a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"The {what} is {value!r}; give a whole number of at least 1.")
