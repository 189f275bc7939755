"""The members against their formulas, computed independently in plain Python and NumPy."""

from __future__ import annotations

import itertools

import equinox as eqx
import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minaction.quasimetrics import IQE, L1, L2, Max, Mean, Quasimetric, QuasimetricModule, Simple, Sum, WideNorm
from minaction.quasimetrics._interval_comparison import union_length as compared_length
from minaction.quasimetrics._interval_sweep import union_lengths_of_rows
from minaction.quasimetrics._pairs import distances_of_all_pairs

X = jnp.array([3.0, -1.0, 2.0, 0.0])
Y = jnp.array([1.0, 4.0, 1.0, 0.0])
distance = eqx.filter_jit(lambda quasimetric, x, y: quasimetric(x, y))
every_pair = eqx.filter_jit(distances_of_all_pairs)
FIRST = jnp.zeros(1, jnp.int32)
slopes_by_comparison = jax.jit(jax.grad(lambda x, y: jnp.sum(compared_length(x, y)), argnums=(0, 1)))
slopes_by_sweep = jax.jit(jax.grad(lambda x, y: jnp.sum(union_lengths_of_rows(x, y, FIRST, FIRST, 1)), argnums=(0, 1)))


def built(quasimetric: Quasimetric, size: int = 4) -> QuasimetricModule:
    return quasimetric.build(size, key=jax.random.key(1))


@pytest.mark.parametrize(
    ("quasimetric", "expected"),
    [
        (Simple(), 0.9 * 2 + 0.1 * 3 / 4),
        (Simple(alpha=0.25), 0.25 * 2 + 0.75 * 3 / 4),
        (Max(), 2.0),
        (Sum(), 3.0),
        (Mean(), 0.75),
        (L1(), 8.0),
        (L2(), np.sqrt(30.0)),
        (IQE(4, "sum"), 5.0),
        (IQE(2, "sum"), 5.0),
        (IQE(2, "maxmean"), 5.0 / (1 + np.e) + (1 - 1 / (1 + np.e)) * 2.5),
    ],
)
def test_values_computed_by_hand(quasimetric: Quasimetric, expected: float) -> None:
    assert float(distance(built(quasimetric), X, Y)) == pytest.approx(expected, rel=1e-6)


def union_length(intervals: list[tuple[float, float]]) -> float:
    """Cut the line at every end point and add up the pieces that some interval covers."""
    cuts = sorted({point for interval in intervals for point in interval})
    return sum(
        right - left
        for left, right in itertools.pairwise(cuts)
        if any(start <= left and right <= end for start, end in intervals)
    )


def brute_force_iqe(x: np.ndarray, y: np.ndarray, component_size: int) -> list[float]:
    lengths = []
    for first in range(0, len(x), component_size):
        pairs = zip(x[first : first + component_size], y[first : first + component_size], strict=True)
        lengths.append(union_length([(float(a), max(float(a), float(b))) for a, b in pairs]))
    return lengths


wide = hnp.arrays(np.float32, (2, 24), elements=st.floats(-100, 100, width=32))
with_many_ties = hnp.arrays(np.float32, (2, 24), elements=st.integers(-4, 4).map(float))


@pytest.mark.parametrize("component_size", [1, 3, 8, 24])
@settings(max_examples=40, deadline=None)
@given(st.one_of(wide, with_many_ties))
def test_iqe_is_the_measure_of_interval_unions(component_size: int, values: np.ndarray) -> None:
    x, y = values
    lengths = brute_force_iqe(x, y, component_size)
    summed = float(distance(built(IQE(component_size, "sum")), jnp.asarray(x), jnp.asarray(y)))
    assert summed == pytest.approx(sum(lengths), rel=1e-5, abs=1e-5)
    alpha = 1 / (1 + np.e)
    combined = float(distance(built(IQE(component_size, "maxmean")), jnp.asarray(x), jnp.asarray(y)))
    expected = alpha * max(lengths) + (1 - alpha) * np.mean(lengths)
    assert combined == pytest.approx(expected, rel=1e-5, abs=1e-5)
    targets = jnp.asarray(np.concatenate([values, values]))  # enough of them to be measured in passing
    (row,) = every_pair(built(IQE(component_size, "sum")), jnp.asarray(x[None]), targets)
    assert row.tolist() == pytest.approx([0, sum(lengths)] * 2, rel=1e-5, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(with_many_ties)
def test_unions_have_as_many_starts_and_ends_however_they_are_found(values: np.ndarray) -> None:
    """Of equal intervals either may count, so that only the sums of the slopes must agree."""
    x, y = (jnp.asarray(row).reshape(1, 3, 8) for row in values)
    compared, passed = slopes_by_comparison(x, y), slopes_by_sweep(x, y)
    for one, other in zip(compared, passed, strict=True):
        np.testing.assert_array_equal(one.sum(-1), other.sum(-1))
        assert set(np.unique(other)) <= {-1.0, 0.0, 1.0}


@pytest.mark.parametrize(("components", "component_size"), [(64, 32), (16, 16)])
def test_iqe_at_its_usual_sizes_is_the_measure_of_interval_unions(components: int, component_size: int) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 5, components * component_size)).astype(np.float32)
    expected = [sum(brute_force_iqe(a, b, component_size)) for a, b in zip(x, y, strict=True)]
    measured = distance(built(IQE(component_size, "sum")), jnp.asarray(x), jnp.asarray(y))
    np.testing.assert_allclose(measured, expected, rtol=1e-5)


def test_iqe_does_not_lose_small_lengths_far_from_zero() -> None:
    x = 4096 + jnp.array([0.0, 0.5, 0.25, 2.0])
    y = x + jnp.array([0.5, 0.25, 0.125, -1.0])
    assert float(distance(built(IQE(4, "sum")), x, y)) == 0.75


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
def test_iqe_slopes_at_equal_starts(order: list[int]) -> None:
    # Two single points (where y <= x) and one interval that starts where they lie: only the interval matters.
    x = jnp.array([1.0, 1.0, 1.0])[jnp.array(order)]
    y = jnp.array([0.0, 3.0, 0.5])[jnp.array(order)]
    x_slope, y_slope = jax.jit(jax.grad(built(IQE(3, "sum")), argnums=(0, 1)))(x, y)
    is_interval = np.asarray(y > x)
    np.testing.assert_array_equal(x_slope, np.where(is_interval, -1, 0))
    np.testing.assert_array_equal(y_slope, np.where(is_interval, 1, 0))


def test_iqe_slopes_of_repeated_and_nested_intervals_add_up() -> None:
    x = jnp.array([0.0, 0.0, 0.0, 1.0, 5.0, 5.0])
    y = jnp.array([2.0, 2.0, 1.0, 1.5, 6.0, 6.0])
    x_slope, y_slope = jax.jit(jax.grad(built(IQE(6, "sum")), argnums=(0, 1)))(x, y)
    assert [float(x_slope[:4].sum()), float(x_slope[4:].sum())] == [-1, -1]
    assert [float(y_slope[:4].sum()), float(y_slope[4:].sum())] == [1, 1]
    np.testing.assert_array_equal(np.asarray(y_slope)[2:4], 0)  # the nested ones end inside another


def test_directions() -> None:
    low, high = jnp.zeros(32), jnp.ones(32)
    for downwards in map(built, (Simple(), Max(), Sum(), Mean())):
        assert float(distance(downwards, low, high)) == 0 < float(distance(downwards, high, low))
    for upwards in (built(IQE(16, "sum")), built(IQE(16, "maxmean"))):
        assert float(distance(upwards, high, low)) == 0 < float(distance(upwards, low, high))


def test_wide_norm_is_its_formula() -> None:
    quasimetric = WideNorm(components=3, component_size=4).build(6, key=jax.random.key(1))
    x, y = np.random.default_rng(5).normal(size=(2, 6))
    weights = np.asarray(quasimetric.roots, np.float64) ** 2
    parts = np.concatenate([np.maximum(x - y, 0), np.maximum(y - x, 0)])
    norms = [np.sqrt(sum((weights[:, 4 * c + i] @ parts) ** 2 for i in range(4))) for c in range(3)]
    alpha = 1 / (1 + np.e)
    expected = alpha * max(norms) + (1 - alpha) * sum(norms) / 3
    assert float(distance(quasimetric, jnp.asarray(x), jnp.asarray(y))) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("latent_size", "component_size"), [(16, 32), (256, 8), (512, 32)])
def test_wide_norm_starts_near_the_mean_absolute_difference(latent_size: int, component_size: int) -> None:
    quasimetric = WideNorm(component_size=component_size).build(latent_size, key=jax.random.key(0))
    x, y = jnp.asarray(np.random.default_rng(0).normal(size=(2, 200, latent_size)), jnp.float32)
    ratio = np.asarray(distance(quasimetric, x, y)) / np.mean(np.abs(x - y), axis=-1)
    assert 0.7 < ratio.mean() < 1.6


def test_euclidean_distance_over_the_range_of_float32() -> None:
    slope = jax.jit(jax.grad(built(L2())))
    for scale in (1e-30, 1e-10, 1.0, 1e10, 1e30):
        x = scale * jnp.array([3.0, 0.0, -4.0])
        assert float(distance(built(L2()), x, jnp.zeros(3))) == pytest.approx(5 * scale, rel=1e-6)
        np.testing.assert_allclose(slope(x, jnp.zeros(3)), [0.6, 0, -0.8], rtol=1e-6)


def test_equal_maxima_share_the_slope() -> None:
    slope = jax.grad(built(Max()))(jnp.array([2.0, 2.0, 1.0, 2.0]), jnp.zeros(4))
    np.testing.assert_allclose(slope, [1 / 3, 1 / 3, 0, 1 / 3], rtol=1e-6)
