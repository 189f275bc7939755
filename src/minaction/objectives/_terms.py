"""Terms of the losses: pure functions of distances and elapsed times."""

from __future__ import annotations

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Tree = TypeVar("Tree")


def relative_error_term(distance: Float[Array, " n"], target: Float[Array, " n"]) -> Float[Array, ""]:
    """mean (d / t - 1)^2: scale-free regression on a target time."""
    return jnp.mean((distance / target - 1.0) ** 2)


def separation_term(distance: Float[Array, " n"], limit: float) -> Float[Array, ""]:
    """mean relu(1 - d / limit)^2: push pairs apart until they are `limit` apart."""
    return jnp.mean(jax.nn.relu(1.0 - distance / limit) ** 2)


def excess(distance: Float[Array, " n"], bound: Float[Array, " n"]) -> Float[Array, " n"]:
    """relu(d - bound): by how much an upper bound is exceeded."""
    return jax.nn.relu(distance - bound)


def constraint_term(distance: Float[Array, " n"], bound: Float[Array, " n"]) -> Float[Array, ""]:
    """sum relu(d - bound)^2 over the batch: a sum, not a mean, as the published curves need."""
    return jnp.sum(excess(distance, bound) ** 2)


def relative_constraint_term(distance: Float[Array, " n"], bound: Float[Array, " n"]) -> Float[Array, ""]:
    """mean relu(d / bound - 1)^2: the mean squared excess relative to the bound."""
    return jnp.mean(jax.nn.relu(distance / bound - 1.0) ** 2)


def mean_squared_excess(distance: Float[Array, " n"], bound: Float[Array, " n"]) -> Float[Array, ""]:
    """mean relu(d - bound)^2: the mean squared excess over the bound."""
    return jnp.mean(excess(distance, bound) ** 2)


def push_term(distance: Float[Array, " n"], offset: float, sharpness: float) -> Float[Array, ""]:
    """mean log(1 + exp(sharpness (offset - d))) / sharpness: push pairs apart, less and less beyond `offset`."""
    return jnp.mean(jax.nn.softplus(sharpness * (offset - distance))) / sharpness


def expectile_weight(advantage: Float[Array, "*n"], expectile: float) -> Float[Array, "*n"]:
    """`expectile` where the advantage is not negative, 1 - expectile where it is."""
    return jnp.where(advantage >= 0.0, expectile, 1.0 - expectile)


def moved_towards(target: Tree, online: Tree, fraction: float) -> Tree:
    """target + fraction (online - target), array by array: one step of an exponential moving average."""

    def move(old: Array, new: Array) -> Array:
        return old + fraction * (new - old) if eqx.is_inexact_array(old) else old

    return jax.tree.map(move, target, online)
