"""Weighted averages of other quasimetrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from ..errors import InputError
from ._base import Quasimetric


class Convex(Quasimetric):
    """sum_m w_m q_m(x, y) with fixed weights w_m >= 0 that sum to 1.

    The four laws are inequalities and equalities that survive such sums. Symmetric if all members are.
    """

    name: ClassVar[str] = "convex"
    members: tuple[Quasimetric, ...]
    weights: tuple[float, ...] = eqx.field(static=True)

    def __init__(self, members: Sequence[Quasimetric], weights: Sequence[float]) -> None:
        self.members = tuple(members)
        self.weights = tuple(float(weight) for weight in weights)
        if len(self.members) == 0 or len(self.members) != len(self.weights):
            raise InputError(
                f"A convex combination of {len(self.members)} quasimetrics was given {len(self.weights)} "
                "weights; give at least one quasimetric and one weight for each."
            )
        for member in self.members:
            if not isinstance(member, Quasimetric):
                raise InputError(f"{member!r} was given as a quasimetric, but only quasimetrics can be combined.")
        if min(self.weights) < 0 or not math.isclose(sum(self.weights), 1, abs_tol=1e-6):
            raise InputError(f"The weights {list(self.weights)} are not convex; give non-negative ones that sum to 1.")

    @property
    def symmetric(self) -> bool:
        return all(member.symmetric for member in self.members)

    def between(self, x: Float[Array, "*#batch k"], y: Float[Array, "*#batch k"]) -> Float[Array, "*#batch"]:
        first, *others = [
            weight * member.between(x, y) for weight, member in zip(self.weights, self.members, strict=True)
        ]
        return sum(others, start=first)

    def check_size(self, latent_size: int) -> None:
        for member in self.members:
            member.check_size(latent_size)

    def hyperparameters(self) -> dict[str, Any]:
        return {"members": [member.to_config() for member in self.members], "weights": list(self.weights)}
