"""The simplest objective there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

import minaction as ma
from minaction.objectives import EpisodeTable, Pairs, States, trajectory_pairs


@dataclass(frozen=True)
class Regression(ma.Objective):
    """L = E (d(s_i, s_j) - t)^2 / t over pairs of a trajectory, t the time between them."""

    name: ClassVar[str] = "sample-regression"

    learning_rate: float = 3e-3
    batch_size: int = 32
    horizon: int = 20

    def sample(self, key: jax.Array, tables: EpisodeTable) -> Pairs:
        return trajectory_pairs(key, tables, self.batch_size, self.horizon)

    def loss(
        self, distance: Any, extra: Any, batch: Pairs, states: States, progress: jax.Array
    ) -> tuple[jax.Array, dict[str, jax.Array]]:
        (found,) = states.distances(distance, (batch.first, batch.second))
        regression = jnp.mean((found - batch.elapsed) ** 2 / batch.elapsed)
        return regression, {"regression": regression}
