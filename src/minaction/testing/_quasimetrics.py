"""The laws of a quasimetric."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._descriptions import make
from ..quasimetrics import QUASIMETRICS, Quasimetric, QuasimetricModule
from ..quasimetrics._pairs import distances_of_all_pairs, distances_of_rows
from ._laws import attempting, check_description, check_weak_types, moved, require, require_close, require_finite

_measure = eqx.filter_jit(lambda module, x, y: module(x, y))
_slopes = eqx.filter_jit(eqx.filter_grad(lambda parts: jnp.sum(parts[0](parts[1], parts[2]))))
_ROUNDING = 1e-5
_SYMMETRY = 1e-4


def check_quasimetric(quasimetric: Quasimetric | type[Quasimetric] | str, latent_size: int = 32) -> None:
    """Check that a quasimetric keeps its laws, as it starts and with other values of what it learns.

    They are identity, non-negativity, the triangle inequality and, unless it says that it is not `homogeneous`,
    positive homogeneity; finite gradients where points or coordinates coincide; broadcasting, `jit` and `vmap`; a true
    `symmetric` flag; a description that survives JSON; and agreement with the kernels that measure many pairs on a CPU.

    Args:
        quasimetric: a description, its class, or its name.
        latent_size: the size of the embeddings to check it with; `check` of the description must accept it.

    Raises:
        AssertionError: where a law fails, with the law and the numbers.

    >>> import minaction as ma
    >>> from minaction.testing import check_quasimetric
    >>> check_quasimetric(ma.Simple(alpha=0.5), latent_size=8)
    """
    described: Quasimetric = make(QUASIMETRICS, quasimetric() if isinstance(quasimetric, type) else quasimetric)
    what = f"the quasimetric {described.name!r}"
    check_description(described, what)
    with attempting(f"Building {what} for {latent_size} numbers"):
        described.check(latent_size)
        untrained = described.build(latent_size, key=jax.random.key(0))
    require(isinstance(untrained, QuasimetricModule), f"{what} builds {untrained!r}, not a QuasimetricModule.")
    check_weak_types(untrained, what)
    points = _points(latent_size)
    with attempting(f"Measuring with {what}"):
        gradients = _slopes((untrained, points[:-1], points[1:]))
        trained = moved(untrained, gradients[0])
        for state, module in ((what, untrained), (f"{what} with other weights", trained)):
            _check_laws(module, points, described.homogeneous, state)
        _check_symmetry(trained, points, described.symmetric, what)
        _check_broadcasting(trained, points, what)
        _check_gradients(trained, points, what)
        _check_kernels(trained, points, what)


def _points(size: int) -> jax.Array:
    """Random points, steps from one of them along few coordinates, whole numbers with ties, zero, and a repeat.

    Shortcuts show first between points that differ in one or two coordinates: random ones are far detours.
    """
    random = np.random.default_rng(0)
    anywhere = random.normal(size=(8, size))
    steps = np.zeros((8, size))
    steps[np.arange(8), random.integers(0, size, 8)] = [1, -1, 1, -1, 2, -2, 0.5, -0.5]
    twice = steps[:4] + np.roll(steps[:4], 1, axis=0)
    ties = random.integers(-2, 3, (4, size))
    rows = [anywhere, anywhere[0] + steps, anywhere[0] + twice, ties, np.zeros((1, size)), anywhere[:1]]
    return jnp.asarray(np.concatenate(rows), jnp.float32)


def _check_laws(module: QuasimetricModule, points: jax.Array, homogeneous: bool, what: str) -> None:
    for scale in (1.0, 1e-3, 1e3):
        between = np.asarray(_measure(module, scale * points[:, None], scale * points[None, :]), np.float64)
        law = f"{what}, with embeddings of size {scale:g}"
        count = len(points)
        require(between.shape == (count, count), f"Broadcasting of {what} gives {between.shape}, not {count, count}.")
        require(np.isfinite(between).all(), f"Distances are finite: {law} gives NaN or infinity.")
        rounding = _ROUNDING * between.max()
        require(between.min() >= 0, f"Non-negativity, q(x, y) >= 0: {law} gives {between.min():.9g}.")
        itself = np.abs(np.diag(between)).max()
        require(itself <= rounding, f"Identity, q(x, x) = 0: {law} gives {itself:.9g}.")
        _check_triangle(between, rounding, law)
        if scale == 1.0:
            unit = between
            require(unit.max() > 0, f"{what} gives 0 for all points.")
        if homogeneous:
            require_close(
                between,
                scale * unit,  # type: ignore[possibly-undefined]
                f"Positive homogeneity, q(c x, c y) = c q(x, y), of {what} with c = {scale:g}",
                rtol=1e-4,
                atol=10 * rounding,
            )


def _check_triangle(between: np.ndarray, rounding: float, law: str) -> None:
    detours = between[:, :, None] + between[None, :, :]
    shortest = detours.min(axis=1)
    worst = np.unravel_index(int(np.argmax(between - shortest)), between.shape)
    require(
        between[worst] <= shortest[worst] * (1 + _ROUNDING) + rounding,
        f"Triangle inequality, q(x, z) <= q(x, y) + q(y, z): {law} gives {between[worst]:.9g} directly and "
        f"{shortest[worst]:.9g} by a detour.",
    )


def _check_symmetry(module: QuasimetricModule, points: jax.Array, claimed: bool, what: str) -> None:
    between = np.asarray(_measure(module, points[:, None], points[None, :]), np.float64)
    apart = np.abs(between - between.T).max() / between.max()
    require(
        (apart <= _SYMMETRY) == claimed,
        f"`symmetric` of {what} is {claimed}, but distances there and back differ by up to {apart:.3g} of the largest.",
    )


def _check_broadcasting(module: QuasimetricModule, points: jax.Array, what: str) -> None:
    x, y = points[:3], points[3:7]
    expected = np.asarray(_measure(module, points[:, None], points[None, :]))[:3, 3:7]
    one = _measure(module, x[0], y[0])
    require(one.shape == (), f"A single pair has a single distance: {what} gives an array of shape {one.shape}.")
    require_close(one, expected[0, 0], f"A single pair is measured as among many by {what}")
    require_close(_measure(module, x[0], y), expected[0], f"One point against several, by {what}")
    require_close(_measure(module, x, y[0]), expected[:, 0], f"Several points against one, by {what}")
    require_close(module(x[:, None], y[None, :]), expected, f"{what} agrees with itself compiled by `jit`")
    require_close(jax.vmap(module)(x, y[:3]), np.diag(expected), f"{what} agrees with itself under `vmap`")
    none = jax.eval_shape(module, x[:0], y[:0])
    require(none.shape == (0,), f"No pairs have no distances: {what} gives an array of shape {none.shape}.")


def _check_gradients(module: QuasimetricModule, points: jax.Array, what: str) -> None:
    for scale in (1.0, 0.0, 1e-20, 1e4):
        x = scale * points[:4]
        y = jnp.stack([x[0], x[1].at[0].add(scale), jnp.roll(x[2], 1), jnp.zeros_like(x[3])])
        law = f"Gradients of {what} are finite where points or coordinates coincide (embeddings of size {scale:g})"
        require_finite(_slopes((module, x, y)), law)


def _check_kernels(module: QuasimetricModule, points: jax.Array, what: str) -> None:
    """`fit` and `pairwise` measure many pairs in an order that suits a CPU; the numbers stay those of the module."""
    x, y = points[:6], points[6:11]
    first, second = np.random.default_rng(1).integers(0, (6, 5), (17, 2)).T
    weight = jnp.asarray(np.random.default_rng(2).normal(size=17), jnp.float32)

    def together(parts: Any) -> jax.Array:
        return jnp.sum(weight * distances_of_rows(*parts, jnp.asarray(first), jnp.asarray(second)))

    def each(parts: Any) -> jax.Array:
        return jnp.sum(weight * parts[0](parts[1][first], parts[2][second]))

    parts = (module, x, y)
    found, found_slope = eqx.filter_jit(eqx.filter_value_and_grad(together))(parts)
    expected, slope = eqx.filter_jit(eqx.filter_value_and_grad(each))(parts)
    law = f"Many pairs of few rows are measured by {what} as each pair is"
    require_close(found, expected, law, rtol=1e-4, atol=1e-4)
    for one, other in zip(jax.tree.leaves(found_slope), jax.tree.leaves(slope), strict=True):
        require_close(one, other, f"{law}, with its gradient", rtol=1e-3, atol=1e-4 * (1 + np.abs(other).max()))
    everything = eqx.filter_jit(distances_of_all_pairs)(module, x, y)
    require_close(everything, _measure(module, x[:, None], y[None, :]), f"All pairs are measured by {what} as each is")
