"""Distances to a few goals as fields over the maze: computed once on a lattice, then interpolated while planning.

A planner needs the distances of millions of positions to a handful of goals, and positions in a maze are two numbers.
Encoding a lattice once and interpolating is hundreds of times cheaper than encoding every position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

from .._model import DistanceModel
from ..errors import InputError
from ..mazes._layouts import STEP_LENGTH, MazeLayout
from ..mazes._truth import free_lattice

_DEEPEST = 0.4  # how deep into a wall's margin MuJoCo may let the ball sink during a step


class GoalFields(eqx.Module):
    """The distance to each of some goals, linear between the points of a lattice."""

    fields: jax.Array  # (goals, nx, ny), continued into the walls
    goals: jax.Array  # (goals, 2)
    origin: jax.Array  # x and y of fields[:, 0, 0]
    spacing: float = eqx.field(static=True)

    @classmethod
    def from_points(cls, points: np.ndarray, values: np.ndarray, goals: np.ndarray, spacing: float) -> GoalFields:
        """From the values (goals, n) at lattice points (n, 2); elsewhere the value of the nearest point is used."""
        origin = points.min(axis=0)
        places = np.round((points - origin) / spacing).astype(np.int64)
        known = np.zeros(places.max(axis=0) + 1, dtype=bool)
        known[tuple(places.T)] = True
        fields = np.zeros((len(goals), *known.shape), np.float32)
        fields[:, places[:, 0], places[:, 1]] = values
        nearest: Any = distance_transform_edt(~known, return_distances=False, return_indices=True)
        filled = jnp.asarray(fields[:, nearest[0], nearest[1]])
        return cls(filled, jnp.asarray(goals, jnp.float32), jnp.asarray(origin, jnp.float32), spacing)

    def __call__(self, states: jax.Array, goals: jax.Array) -> jax.Array:
        """From `states` to `goals`, which are among those it was made for (the nearest one is taken).

        Only the first two numbers of a state, x and y, matter.
        """
        states, goals = states[..., :2], goals[..., :2]
        which = jnp.argmin(jnp.abs(goals[..., None, :] - self.goals).max(axis=-1), axis=-1)
        last = jnp.array(self.fields.shape[1:]) - 1
        scaled = jnp.clip((states - self.origin) / self.spacing, 0.0, last - 1e-3)
        low = jnp.floor(scaled)
        u, v = jnp.moveaxis(scaled - low, -1, 0)
        i, j = jnp.moveaxis(low.astype(jnp.int32), -1, 0)
        near = (1 - v) * self.fields[which, i, j] + v * self.fields[which, i, j + 1]
        far = (1 - v) * self.fields[which, i + 1, j] + v * self.fields[which, i + 1, j + 1]
        return (1 - u) * near + u * far


def learned_fields(model: DistanceModel, layout: MazeLayout, goals: np.ndarray, spacing: float = 0.1) -> GoalFields:
    """A model's distances from everywhere in the maze to the goals (n, 2)."""
    if spacing <= 0:
        raise InputError(f"A lattice cannot have a spacing of {spacing:g}; give a positive number.")
    goals = np.unique(goals, axis=0)
    low, high = layout.centres.min(axis=0), layout.centres.max(axis=0)
    half = 0.5 * layout.cell_size
    axes = [np.arange(a - half, b + half + spacing, spacing) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    points = points[layout.clearance(points) > layout.ball_radius - _DEEPEST]
    return GoalFields.from_points(points, model.pairwise(points, goals).T, goals, spacing)


def step_truth(layout: MazeLayout, goals: np.ndarray) -> GoalFields:
    """The minimum numbers of steps of OGBench's ball to the goals (n, 2), solved on the lattice of `mazes._truth`.

    A goal is moved to its nearest lattice point: by at most 0.1 in x and in y, half a step.
    """
    return _solved(layout, goals, lambda moved: np.abs(moved).max(axis=1) / STEP_LENGTH)


def walking_truth(layout: MazeLayout, goals: np.ndarray, speed: float) -> GoalFields:
    """The steps of a body that walks `speed` per step to the goals (n, 2), on the same lattice.

    A path along the lattice's eight directions is up to 8% longer than the shortest.
    """
    return _solved(layout, goals, lambda moved: np.hypot(*moved.T) / speed)


def _solved(layout: MazeLayout, goals: np.ndarray, cost: Callable[[np.ndarray], np.ndarray]) -> GoalFields:
    """The minimum costs to the goals, where `cost` maps moves (m, 2) to their costs (m,)."""
    goals = np.unique(goals, axis=0)
    lattice = free_lattice(layout)
    count = len(lattice.points)
    costs = cost(lattice.points[lattice.moves[:, 1]] - lattice.points[lattice.moves[:, 0]])
    graph = csr_array(coo_array((costs, tuple(lattice.moves.T)), shape=(count, count)))
    nearest = np.atleast_1d(KDTree(lattice.points).query(goals)[1])
    found = np.asarray(dijkstra(graph, directed=False, indices=nearest))
    return GoalFields.from_points(lattice.points, found, goals, lattice.spacing)
