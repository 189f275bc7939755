"""The interface of a quasimetric: a frozen, serialisable description, and the module that it builds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from ..errors import InputError
from ..registry import Registry


def _own() -> Mapping[str, Any]:
    from ._deep_norm import DeepNorm
    from ._iqe import IQE
    from ._mrn import MRN
    from ._norms import L1, L2
    from ._pqe import PQE
    from ._simple import Max, Mean, Simple, Sum
    from ._wide_norm import WideNorm

    own = (Simple, Max, Sum, Mean, WideNorm, DeepNorm, IQE, MRN, PQE, L1, L2)
    members: dict[str, Any] = {member.name: member for member in own}
    return {**members, "iqe-sum": IQE(reduction="sum"), "pqe-gg": PQE(form="gg")}


QUASIMETRICS: Registry[Any] = Registry("quasimetric", "minaction.quasimetrics", _own)
"""Every quasimetric by name."""


class QuasimetricModule(eqx.Module):
    """The module that a quasimetric builds: measures distances between embeddings, and may have weights.

    >>> import jax
    >>> import minaction as ma
    >>> isinstance(ma.IQE(component_size=4).build(8, key=jax.random.key(0)), ma.QuasimetricModule)
    True
    """

    @abstractmethod
    def __call__(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        """The distances (...) from `x` (..., k) to `y` (..., k), whose leading axes broadcast.

        All pairs are `q(x[:, None], y[None, :])`; what depends on `x` alone should be computed once per row of `x`.
        """


@dataclass(frozen=True)
class Quasimetric(ABC):
    """Describes a distance q(x, y) on R^k that need not be symmetric.

    Every member keeps these laws, for all x, y, z and c > 0 and for any value of what it learns:

    - identity: q(x, x) = 0
    - non-negativity: q(x, y) >= 0
    - triangle inequality: q(x, z) <= q(x, y) + q(y, z)
    - positive homogeneity, unless it says `homogeneous = False`: q(c x, c y) = c q(x, y)

    Where it is not differentiable (above all at x = y) the gradient is finite: one of the one-sided slopes, or zero.
    A member's docstring says why the laws hold and in which direction it measures; `minaction.testing` checks them.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> import minaction as ma
    >>> q = ma.QUASIMETRICS["simple"]().build(3, key=jax.random.key(0))
    >>> q(jnp.ones((4, 1, 3)), jnp.zeros((1, 6, 3))).shape
    (4, 6)
    """

    family: ClassVar[Registry[Any]] = QUASIMETRICS
    name: ClassVar[str]
    symmetric: ClassVar[bool] = False
    """Whether q(x, y) = q(y, x)."""
    homogeneous: ClassVar[bool] = True
    """Whether q(c x, c y) = c q(x, y) for all c > 0."""
    greatest_difference: ClassVar[bool] = False
    """Whether q(x, y) is max_i relu(x_i - y_i), or nearly so. Then distances to and from landmarks are an embedding
    that never overestimates, and is exact where a shortest path goes on to a landmark or comes from one."""

    @abstractmethod
    def build(self, latent_size: int, *, key: PRNGKeyArray) -> QuasimetricModule:
        """A module for embeddings of `latent_size` dimensions, with initial weights drawn with `key`."""

    def check(self, latent_size: int) -> None:
        """Raise an `InputError` if embeddings of `latent_size` dimensions cannot be measured."""
        if latent_size < 1:
            raise InputError(f"A latent of {latent_size} numbers cannot be measured; choose a size of at least 1.")


def require_positive_integer(value: Any, what: str) -> None:
    """Raise an `InputError` unless `value` is a whole number of at least 1; `what` names it in the message."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"The {what} is {value!r}; give a whole number of at least 1.")
