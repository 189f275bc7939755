"""A quasimetric made of other quasimetrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax

import minaction as ma


@dataclass(frozen=True)
class Weighted(ma.Quasimetric):
    """sum_k w_k q_k(x, y) with w_k > 0: each summand keeps the laws, and so does the sum."""

    name: ClassVar[str] = "sample-weighted"

    parts: tuple[ma.Quasimetric, ...] = (ma.Simple(alpha=0.5), ma.L2())
    weights: tuple[float, ...] = (0.75, 0.25)

    def __post_init__(self) -> None:
        if len(self.parts) != len(self.weights) or not all(weight > 0 for weight in self.weights):
            raise ValueError("there is one positive weight for each part")

    def build(self, latent_size: int, *, key: jax.Array) -> WeightedModule:
        keys = jax.random.split(key, len(self.parts))
        built = tuple(part.build(latent_size, key=one) for part, one in zip(self.parts, keys, strict=True))
        return WeightedModule(built, self.weights)

    def check(self, latent_size: int) -> None:
        for part in self.parts:
            part.check(latent_size)


class WeightedModule(ma.QuasimetricModule):
    parts: tuple[ma.QuasimetricModule, ...]
    weights: tuple[float, ...] = eqx.field(static=True)

    def __call__(self, x: jax.Array, y: jax.Array) -> jax.Array:
        first, *others = (weight * part(x, y) for weight, part in zip(self.weights, self.parts, strict=True))
        return sum(others, start=first)
