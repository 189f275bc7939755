"""Every quasimetric through one set of checks: the laws, broadcasting, gradients, descriptions."""

from __future__ import annotations

import functools
import json
from typing import Any

import equinox as eqx
import hypothesis.extra.numpy as hnp
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from minaction._descriptions import describe, make
from minaction.errors import InputError
from minaction.quasimetrics import (
    IQE,
    L1,
    L2,
    MRN,
    PQE,
    QUASIMETRICS,
    DeepNorm,
    Max,
    Mean,
    Quasimetric,
    QuasimetricModule,
    Simple,
    Sum,
    WideNorm,
)
from minaction.quasimetrics import _blocks as blocks
from minaction.quasimetrics._pairs import distances_of_all_pairs, distances_of_rows
from minaction.testing import check_quasimetric

MEMBERS: dict[str, Quasimetric] = {
    "simple": Simple(),
    "max": Max(),
    "sum": Sum(),
    "mean": Mean(),
    "wide-norm": WideNorm(components=3, component_size=5),
    "wide-norm-one-row": WideNorm(components=1, component_size=1),
    "iqe-sum": IQE(component_size=4, reduction="sum"),
    "iqe": IQE(component_size=4),
    "iqe-one-component": IQE(component_size=8),
    "l1": L1(),
    "l2": L2(),
    "mrn": MRN(),
    "deep-norm": DeepNorm(width=5, layers=3),
    "pqe": PQE(),
    "pqe-gg": PQE(form="gg"),
}
# Sums of either sign and differences of areas cancel: beside the latents' own size, and beside 1, their rounding shows.
CANCELLING = {"deep-norm": 1e-5}
ROUNDING = {"pqe-gg": 1e-5}
SHAPES = [(8,), (2, 3, 16)]  # few, so that each is compiled once
EVERY = pytest.mark.parametrize("member", MEMBERS)
distance = eqx.filter_jit(lambda quasimetric, x, y: quasimetric(x, y))
# The gradient of the sum of all distances by what is learned, by x and by y.
slopes = eqx.filter_jit(eqx.filter_grad(lambda parts: jnp.sum(parts[0](parts[1], parts[2]))))


def test_every_quasimetric_that_we_offer_is_among_them() -> None:
    assert {member.name for member in MEMBERS.values()} == {make(QUASIMETRICS, name).name for name in QUASIMETRICS}


# Its laws are those that every member is put through below; of each kind of computation one goes through both.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("simple", "iqe", "deep-norm", "pqe-gg") else pytest.mark.slow)
        for name in QUASIMETRICS
    ],
)
def test_every_member_keeps_the_public_contract(name: str) -> None:
    check_quasimetric(name)


@functools.cache
def trained(member: str, size: int) -> QuasimetricModule:
    """The member with other values of what it learns than the ones it starts with."""
    arrays, rest = eqx.partition(MEMBERS[member].build(size, key=jax.random.key(3)), eqx.is_inexact_array)
    leaves, structure = jax.tree.flatten(arrays)
    moved = [leaf + jax.random.normal(jax.random.key(k), leaf.shape, leaf.dtype) for k, leaf in enumerate(leaves)]
    return eqx.combine(jax.tree.unflatten(structure, moved), rest)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@st.composite
def points(draw: st.DrawFn, count: int) -> np.ndarray:
    """`count` arrays of one shape: values of 0.001 to 10000 of either sign, zeros and repeats among them."""
    magnitude = st.floats(2**-10, 10_000, width=32)
    values = st.one_of(st.just(0.0), magnitude, magnitude.map(lambda value: -value))
    return draw(hnp.arrays(np.float32, (count, *draw(st.sampled_from(SHAPES))), elements=values))


@EVERY
@settings(max_examples=15, deadline=None)
@given(points(1))
def test_a_point_is_exactly_zero_away_from_itself(member: str, values: np.ndarray) -> None:
    (x,) = jnp.asarray(values)
    assert not np.any(distance(trained(member, x.shape[-1]), x, x))


@EVERY
@settings(max_examples=15, deadline=None)
@given(points(3))
def test_distances_are_not_negative_and_obey_the_triangle_inequality(member: str, values: np.ndarray) -> None:
    x, y, z = jnp.asarray(values)
    quasimetric = trained(member, x.shape[-1])
    direct = np.asarray(distance(quasimetric, x, z))
    detour = np.asarray(distance(quasimetric, x, y)) + np.asarray(distance(quasimetric, y, z))
    assert direct.shape == values.shape[1:-1]
    assert np.all(np.isfinite(direct))
    assert np.all(direct >= 0)
    rounding = CANCELLING.get(member, 0.0) * np.abs(values).max() + ROUNDING.get(member, 0.0)
    assert np.all(direct <= detour * (1 + 1e-5) + rounding)


@EVERY
def test_no_detour_through_any_of_many_points_is_shorter(member: str) -> None:
    # Points that differ in one or two coordinates: shortcuts show there first, as random points are far detours.
    centre, moves = normal(1, 8), np.concatenate([np.eye(8), -np.eye(8)]).astype(np.float32)
    twice = (moves[:, None] + moves).reshape(-1, 8)
    some = np.concatenate([centre, centre + moves, centre + twice])
    nodes = jnp.asarray(np.unique(some, axis=0))
    between = np.asarray(distance(trained(member, 8), nodes[:, None], nodes[None, :]))
    shortest_detour = np.min(between[:, :, None] + between[None, :, :], axis=1)
    assert np.all(between <= shortest_detour * (1 + 1e-5) + 1e-6)


@pytest.mark.parametrize("member", [name for name, described in MEMBERS.items() if described.homogeneous])
@settings(max_examples=15, deadline=None)
@given(points(2), st.floats(1e-3, 1e4))
def test_distances_scale_with_the_latent(member: str, values: np.ndarray, factor: float) -> None:
    x, y = jnp.asarray(values)
    quasimetric = trained(member, x.shape[-1])
    scaled = np.asarray(distance(quasimetric, factor * x, factor * y))
    expected = factor * np.asarray(distance(quasimetric, x, y), np.float64)
    # Scaling rounds the values themselves, which shows in the differences of close ones.
    rounding = 1e-6 * factor * x.shape[-1] * np.abs(values).max()
    np.testing.assert_allclose(scaled, expected, rtol=1e-5, atol=rounding)


@EVERY
def test_exactly_those_that_say_so_are_symmetric(member: str) -> None:
    x, y = jnp.asarray(normal(2, 2, 3, 16))
    quasimetric = trained(member, 16)
    there, back = np.asarray(distance(quasimetric, x, y)), np.asarray(distance(quasimetric, y, x))
    assert np.allclose(there, back, rtol=1e-6) == MEMBERS[member].symmetric
    assert np.all(np.maximum(there, back) > 0)
    if not MEMBERS[member].symmetric:
        assert np.mean(np.abs(there - back) / np.maximum(there, back)) > 0.02


@EVERY
def test_broadcasting_is_a_loop_over_pairs(member: str) -> None:
    x, y = jnp.asarray(normal(5, 8)), jnp.asarray(normal(7, 8, seed=1))
    quasimetric = trained(member, 8)
    looped = np.array([[distance(quasimetric, a, b) for b in y] for a in x])
    np.testing.assert_allclose(distance(quasimetric, x[:, None], y[None, :]), looped, rtol=2e-6)
    np.testing.assert_allclose(distance(quasimetric, x[0], y), looped[0], rtol=2e-6)
    np.testing.assert_allclose(distance(quasimetric, x, y[0]), looped[:, 0], rtol=2e-6)
    assert jax.eval_shape(quasimetric, x[:0], y[:0]).shape == (0,)


@EVERY
def test_gradients_of_all_pairs_are_the_sums_of_those_of_each_pair(member: str) -> None:
    x, y = jnp.asarray(normal(4, 16)), jnp.asarray(normal(3, 16, seed=1))
    quasimetric = trained(member, 16)
    _, x_together, y_together = slopes((quasimetric, x[:, None], y[None, :]))
    each = [slopes((quasimetric, jnp.tile(row, (3, 1)), y)) for row in x]
    x_each, y_each = (np.stack([gradients[k] for gradients in each]) for k in (1, 2))
    rounding = 1e-7 * max(np.abs(x_each).max(), np.abs(y_each).max(), 10.0)  # of terms that cancel
    np.testing.assert_allclose(x_together[:, 0], x_each.sum(1), rtol=1e-5, atol=rounding)
    np.testing.assert_allclose(y_together[0], y_each.sum(0), rtol=1e-5, atol=rounding)


@EVERY
def test_many_pairs_of_few_rows_are_measured_as_each_pair_is(member: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_NUMBERS_AT_A_TIME", 3 * 16)  # 3 pairs at a time, and 2 are left
    x, y = jnp.asarray(normal(6, 16)), jnp.asarray(normal(5, 16, seed=1))
    first, second = np.random.default_rng(2).integers(0, (6, 5), (41, 2)).T
    quasimetric, weight = trained(member, 16), jnp.asarray(normal(41, seed=3))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def together(parts: Any) -> jax.Array:
        return jnp.sum(weight * distances_of_rows(*parts, jnp.asarray(first), jnp.asarray(second)))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def each(parts: Any) -> jax.Array:
        return jnp.sum(weight * parts[0](parts[1][first], parts[2][second]))

    parts = (quasimetric, x, y)
    (found, slope), (expected, expected_slope) = together(parts), each(parts)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    leaves, expected_leaves = jax.tree.leaves(slope), jax.tree.leaves(expected_slope)
    assert len(leaves) == len(expected_leaves) >= 2
    for leaf, wanted in zip(leaves, expected_leaves, strict=True):
        np.testing.assert_allclose(leaf, wanted, rtol=1e-4, atol=1e-5)


@EVERY
def test_pairs_after_the_last_one_to_measure_count_for_nothing(member: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_NUMBERS_AT_A_TIME", 3 * 16)
    x, y = jnp.asarray(normal(6, 16)), jnp.asarray(normal(5, 16, seed=1))
    first, second = jnp.asarray(np.random.default_rng(2).integers(0, (6, 5), (41, 2)).T)

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def measured(parts: Any, wanted: jax.Array, count: jax.Array) -> jax.Array:
        found = distances_of_rows(*parts, first, second, count)
        return jnp.sum(jnp.where(jnp.arange(41) < wanted, found, 0))

    parts = (trained(member, 16), x, y)
    for wanted in (0, 1, 3, 7):
        few, all_of_them = (measured(parts, jnp.asarray(wanted), jnp.asarray(count)) for count in (wanted, 41))
        for one, other in zip(jax.tree.leaves(few), jax.tree.leaves(all_of_them), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_different_pairs_are_each_pair_once() -> None:
    first, second = np.random.default_rng(0).integers(0, 5, (2, 60))
    once = jax.jit(blocks.different_pairs, static_argnums=2)(jnp.asarray(first), jnp.asarray(second), 5)
    count = int(once.how_many)
    found = list(zip(once.first[:count].tolist(), once.second[:count].tolist(), strict=True))
    assert sorted(found) == sorted(set(zip(first.tolist(), second.tolist(), strict=True)))
    np.testing.assert_array_equal(once.first[once.place], first)
    np.testing.assert_array_equal(once.second[once.place], second)


@EVERY
@pytest.mark.parametrize(("sources", "targets"), [(6, 5), (2, 9), (1, 1)])
def test_every_pair_is_measured_as_by_broadcasting(member: str, sources: int, targets: int) -> None:
    x, y = jnp.asarray(normal(sources, 16)), jnp.asarray(normal(targets, 16, seed=1))
    quasimetric = trained(member, 16)
    found = eqx.filter_jit(distances_of_all_pairs)(quasimetric, x, y)
    np.testing.assert_allclose(found, distance(quasimetric, x[:, None], y[None]), rtol=2e-6)


@EVERY
def test_what_is_learned_has_types_of_its_own(member: str) -> None:
    """A number of weak type would become a strong one in the first step, and everything be compiled again."""
    assert not any(
        leaf.weak_type
        for leaf in jax.tree.leaves(eqx.filter(MEMBERS[member].build(16, key=jax.random.key(0)), eqx.is_array))
    )


@EVERY
def test_gradients_agree_with_finite_differences(member: str) -> None:
    with jax.enable_x64(True):
        arrays, rest = eqx.partition(trained(member, 8), eqx.is_inexact_array)
        values, unravel = ravel_pytree(jax.tree.map(lambda leaf: leaf.astype(np.float64), arrays))
        both = jnp.asarray(np.random.default_rng(2).normal(scale=3, size=(4, 2, 8)))

        def total(flat: jax.Array) -> jax.Array:
            x, y = jnp.moveaxis(flat[: both.size].reshape(both.shape), 1, 0)
            return jnp.sum(eqx.combine(unravel(flat[both.size :]), rest)(x, y) * jnp.arange(1, 5))

        at = jnp.concatenate([both.ravel(), values])

        @jax.jit
        def both_ways() -> tuple[jax.Array, jax.Array]:
            steps = 1e-5 * jnp.eye(at.size)
            central = jax.vmap(lambda step: (total(at + step) - total(at - step)) / 2e-5)(steps)
            return central, jax.grad(total)(at)

        central, reverse = both_ways()
        np.testing.assert_allclose(reverse, central, rtol=1e-6, atol=1e-7)
        assert np.any(np.abs(reverse) > 0.01)


@EVERY
@pytest.mark.parametrize("scale", [0.0, 1e-20, 1.0, 1e4])
def test_gradients_are_finite_where_points_or_coordinates_coincide(member: str, scale: float) -> None:
    x = scale * jnp.asarray(normal(3, 16))
    y = jnp.stack([x[0], x[1].at[5].add(scale), jnp.roll(x[2], 1)])
    gradients = slopes((trained(member, 16), x, y))
    for leaf in jax.tree.leaves(eqx.filter(gradients, eqx.is_inexact_array)):
        assert np.all(np.isfinite(leaf))
    assert np.all(gradients[1][0] == 0)  # a distance of zero is a minimum


@EVERY
def test_a_description_survives_json_and_builds_the_same_distance(member: str) -> None:
    original = MEMBERS[member]
    rebuilt = make(QUASIMETRICS, json.loads(json.dumps(describe(original))))
    assert rebuilt == original
    assert type(rebuilt) is type(original)
    loaded = eqx.combine(
        eqx.filter(trained(member, 16), eqx.is_inexact_array), rebuilt.build(16, key=jax.random.key(9))
    )
    x, y = jnp.asarray(normal(2, 2, 3, 16))
    np.testing.assert_array_equal(distance(loaded, x, y), distance(trained(member, 16), x, y))


@pytest.mark.parametrize("name", QUASIMETRICS)
def test_every_name_makes_a_member_for_the_usual_latent(name: str) -> None:
    described = make(QUASIMETRICS, name)
    assert describe(described)["name"] == name.removesuffix("-sum").removesuffix("-gg")
    x, y = jnp.asarray(normal(2, 4, 256))
    assert np.all(np.asarray(distance(described.build(256, key=jax.random.key(0)), x, y)) > 0)


@EVERY
def test_a_latent_of_no_size_is_refused(member: str) -> None:
    with pytest.raises(InputError, match="latent"):
        MEMBERS[member].check(0)
