"""MRN, PQE and the Deep Norm against plain computations, and what each can and cannot say."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm, poisson

from minaction.errors import InputError
from minaction.quasimetrics import MRN, PQE, DeepNorm, Quasimetric, QuasimetricModule

distance = eqx.filter_jit(lambda quasimetric, x, y: quasimetric(x, y))


def built(quasimetric: Quasimetric, size: int) -> QuasimetricModule:
    return quasimetric.build(size, key=jax.random.key(1))


def pairs(size: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(0).normal(scale=scale, size=(2, 20, size)).astype(np.float32)
    return x, y


def test_mrn_is_a_euclidean_distance_and_the_worst_rise() -> None:
    x, y = pairs(8)
    expected = [
        sum((a - b) ** 2 for a, b in zip(p[:4], q[:4], strict=True)) ** 0.5
        + max(max(a - b, 0.0) for a, b in zip(p[4:], q[4:], strict=True))
        for p, q in zip(x.tolist(), y.tolist(), strict=True)
    ]
    np.testing.assert_allclose(distance(built(MRN(), 8), jnp.asarray(x), jnp.asarray(y)), expected, rtol=1e-5)


def test_an_odd_latent_cannot_be_halved() -> None:
    with pytest.raises(InputError, match="halve a latent of 7 numbers"):
        MRN().check(7)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_deep_norm_is_its_recursion(layers: int) -> None:
    quasimetric = DeepNorm(width=6, layers=layers).build(5, key=jax.random.key(2))
    x, y = pairs(5)
    inputs = [np.asarray(weight, np.float64) for weight in quasimetric.inputs]
    weights = [np.asarray(root, np.float64) ** 2 for root in quasimetric.roots]
    alpha, expected = 1 / (1 + np.e), []
    for row in x.astype(np.float64) - y:
        hidden = [max(0.0, sum(row * inputs[0][:, unit])) for unit in range(6)]
        for k, weight in enumerate(weights):
            hidden = [
                max(0.0, sum(row * inputs[k + 1][:, unit]) + sum(hidden[i] * weight[i, unit] for i in range(6)))
                for unit in range(6)
            ]
        expected.append(alpha * max(hidden) + (1 - alpha) * sum(hidden) / 6)
    found = distance(quasimetric, jnp.asarray(x), jnp.asarray(y))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [16, 256])
def test_the_deep_norm_starts_near_the_latents_own_scale(size: int) -> None:
    x, y = pairs(size)
    found = distance(built(DeepNorm(), size), jnp.asarray(x), jnp.asarray(y))
    assert 0.3 < np.mean(np.asarray(found) / np.abs(x - y).mean(axis=1)) < 6


def race_lost(more: float, less: float) -> float:
    """The probability that a Poisson count of one mean exceeds one of another."""
    counts = np.arange(60)
    return float(np.sum(poisson.pmf(counts, less) * poisson.sf(counts, more)))


def gaussian_excess(u: float, v: float) -> float:
    """The measure of the region below one density and above the other, summed strip by strip."""
    at = np.linspace(-12, 12, 200_001)
    between = np.maximum(norm.pdf(at, u) - norm.pdf(at, v), 0.0)
    return float(trapezoid(between * np.exp(-(at**2) / 2), at))


def half_line_excess(u: float, v: float) -> float:
    return max(u - v, 0.0)


@pytest.mark.parametrize(("form", "excess"), [("lh", half_line_excess), ("gg", gaussian_excess)])
def test_pqe_is_the_probability_that_counts_fall(form: str, excess: object) -> None:
    x, y = pairs(6)
    quasimetric = PQE(component_size=3, form=form).build(6, key=jax.random.key(0))  # type: ignore[arg-type]
    weights = [1.5, 0.25]
    quasimetric = eqx.tree_at(lambda q: q.log_weights, quasimetric, jnp.log(jnp.array(weights)))
    expected = []
    for p, q in zip(x[:8].tolist(), y[:8].tolist(), strict=True):
        kept = [1 - race_lost(excess(a, b), excess(b, a)) for a, b in zip(p, q, strict=True)]  # type: ignore[operator]
        expected.append(sum(w * (1 - np.prod(kept[3 * c : 3 * c + 3])) for c, w in enumerate(weights)))
    found = distance(quasimetric, jnp.asarray(x[:8]), jnp.asarray(y[:8]))
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


def test_half_lines_are_a_race_too() -> None:
    """Of two half-lines one contains the other, so that one count exceeds by whatever falls between."""
    assert race_lost(0.7, 0.0) == pytest.approx(1 - np.exp(-0.7))


@pytest.mark.parametrize("form", ["lh", "gg"])
def test_pqe_does_not_scale_with_the_latent(form: str) -> None:
    """It is bounded by the sum of its weights: the law that it does not keep."""
    quasimetric = built(PQE(component_size=4, form=form), 16)  # type: ignore[arg-type]
    assert not PQE.homogeneous
    x, y = (jnp.asarray(side) for side in pairs(16))
    once, thrice = distance(quasimetric, x, y), distance(quasimetric, 3 * x, 3 * y)
    assert np.all(np.asarray(thrice) < 2.5 * np.asarray(once))
    assert np.all(np.asarray(distance(quasimetric, 1000 * x, 1000 * y)) <= 4.0 + 1e-5)


def test_pqe_names_its_forms_and_sizes() -> None:
    with pytest.raises(InputError, match="form of PQE"):
        PQE(form="gl")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="multiple of 4"):
        PQE().check(6)
