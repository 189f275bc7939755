"""Every loss, term by term, against a computation in NumPy that shares no code with it; and who gets gradients."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction._distance import Distance
from minaction.encoders import MLP, EncoderModule, Ensemble, Projected, input_statistics
from minaction.encoders._composed import EnsembleModule, ProjectedModule
from minaction.encoders._inputs import Scale
from minaction.encoders._mlp import MLPModule
from minaction.encoders._perceptron import Linear, Perceptron
from minaction.objectives import QRL, Hilbert, MadDist, Objective, PlanDist, TDMadDist
from minaction.objectives._states import RecordedStates
from minaction.quasimetrics import IQE, L1, L2, Quasimetric, Simple
from minaction.trajectories._dataset import Trajectories

SIMPLE_ALPHA = 0.9


@pytest.fixture(scope="module")
def data() -> Trajectories:
    """Few states, many of them visited again, at irregular times; one episode of a single state."""
    generator = np.random.default_rng(0)
    lengths = [9, 1, 14, 5]
    episodes = [generator.integers(-3, 4, size=(length, 2)) / 2 for length in lengths]
    times = [np.cumsum(generator.uniform(0.2, 2.5, length)) for length in lengths]
    return Trajectories.from_episodes(episodes, times=times)


# ---------------------------------------------------------------- the model in NumPy, in double precision


def activation(name: str, x: np.ndarray) -> np.ndarray:
    if name == "relu":
        return np.maximum(x, 0)
    if name == "gelu":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))


def member_embeddings(encoder: EncoderModule, states: np.ndarray) -> list[np.ndarray]:
    """What each member of an ensemble gives; an encoder that is none has one."""
    if isinstance(encoder, EnsembleModule):
        return [embedding for member in encoder.members for embedding in member_embeddings(member, states)]
    if isinstance(encoder, ProjectedModule):
        (base,) = member_embeddings(encoder.base, states)
        return [propagated(encoder.projector, base)]
    assert isinstance(encoder, MLPModule)
    scaled = (states - np.float64(encoder.scale.mean)) / np.float64(encoder.scale.scale)
    return [propagated(encoder.perceptron, scaled)]


def propagated(perceptron: Perceptron, x: np.ndarray) -> np.ndarray:
    for k, layer in enumerate(perceptron.layers):
        x = x @ np.float64(layer.weight) + np.float64(layer.bias)
        if k == len(perceptron.layers) - 1:
            break
        x = activation(perceptron.activation, x)
        if perceptron.norms:
            norm = perceptron.norms[k]
            x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
            x = x * np.float64(norm.weight) + np.float64(norm.bias)
    return x


def interval_union(x: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """The length of the union of [x_i, y_i] in each component, by sweeping over end points: (pairs, components)."""
    lengths = np.zeros((len(x), x.shape[1] // size))
    for row in range(len(x)):
        for component in range(lengths.shape[1]):
            part = slice(component * size, (component + 1) * size)
            points = np.unique(np.concatenate([x[row, part], y[row, part]]))
            for low, high in pairwise(points):
                if np.any((x[row, part] <= low) & (y[row, part] >= high)):
                    lengths[row, component] += high - low
    return lengths


def numpy_distance(quasimetric: Quasimetric, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if isinstance(quasimetric, L1):
        return np.abs(x - y).sum(-1)
    if isinstance(quasimetric, L2):
        return np.sqrt(((x - y) ** 2).sum(-1))
    if isinstance(quasimetric, Simple):
        up = np.maximum(x - y, 0)
        return SIMPLE_ALPHA * up.max(-1) + (1 - SIMPLE_ALPHA) * up.mean(-1)
    assert isinstance(quasimetric, IQE)
    components = interval_union(x, y, quasimetric.component_size)
    alpha = 1 / (1 + np.exp(1.0))
    return alpha * components.max(-1) + (1 - alpha) * components.mean(-1)


class Reference:
    """d(first, second) of recorded indices by NumPy."""

    def __init__(self, objective: Objective, distance: Distance, data: Trajectories) -> None:
        self.quasimetric = objective.quasimetric
        self.members = member_embeddings(distance.encoder, data.states.astype(np.float64))

    def __call__(self, first: Any, second: Any) -> np.ndarray:
        mean = np.mean(self.members, axis=0)
        return numpy_distance(self.quasimetric, mean[np.asarray(first)], mean[np.asarray(second)])

    def of_members(self, first: Any, second: Any) -> list[np.ndarray]:
        first, second = np.asarray(first), np.asarray(second)
        return [numpy_distance(self.quasimetric, each[first], each[second]) for each in self.members]


def clock_of(data: Trajectories) -> np.ndarray:
    assert data.times is not None
    return data.times


def random_distance(objective: Objective, data: Trajectories, seed: int) -> Distance:
    """Of the objective's shape, with weights and biases from NumPy: no layer is zero or one, and nothing compiles."""
    generator = np.random.default_rng(seed)
    inputs = input_statistics(data.states)
    shape = eqx.filter_eval_shape(objective.architecture.build, inputs, key=jax.random.key(0))
    drawn = jax.tree.map(
        lambda leaf: jnp.asarray(generator.normal(size=leaf.shape) / np.sqrt(leaf.shape[0]), jnp.float32),
        shape.encoder,
    )
    encoder = jax.tree.map(
        lambda part: Scale(inputs.mean, inputs.scale) if isinstance(part, Scale) else part,
        drawn,
        is_leaf=lambda part: isinstance(part, Scale),
    )
    return Distance(encoder, objective.quasimetric.build(objective.encoder.latent_size, key=jax.random.key(0)))


def output_layers(encoder: EncoderModule) -> list[Linear]:
    """The last layer of each member."""
    if isinstance(encoder, EnsembleModule):
        return [layer for member in encoder.members for layer in output_layers(member)]
    if isinstance(encoder, ProjectedModule):
        return [encoder.projector.layers[-1]]
    assert isinstance(encoder, MLPModule)
    return [encoder.perceptron.layers[-1]]


def prepared(objective: Objective, data: Trajectories) -> tuple[Distance, Any, Any, Reference, Reference]:
    """A distance, another one as target where there is a target, a batch, and both in NumPy."""
    distance, target = random_distance(objective, data, 0), random_distance(objective, data, 1)
    tables = jax.tree.map(jnp.asarray, objective.tables(data))
    batch = jax.jit(objective.sample)(jax.random.key(2), tables)
    return distance, target, batch, Reference(objective, distance, data), Reference(objective, target, data)


def loss_of(objective: Objective, distance: Distance, extra: Any, batch: Any, data: Trajectories) -> tuple:
    states = RecordedStates(jnp.asarray(data.states))
    return eqx.filter_jit(objective.loss)(distance, extra, batch, states, jnp.asarray(0.0))


def assert_terms(found: dict, expected: dict) -> None:
    assert set(found) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=2e-5, atol=1e-6, err_msg=name)


# Large enough outputs that some bounds are broken and some are not, or half the terms would be trivially zero.
SMALL = MLP(hidden=(16, 12), latent=8)


def widened(distance: Distance, factor: float) -> Distance:
    return eqx.tree_at(
        lambda d: [layer.weight for layer in output_layers(d.encoder)],
        distance,
        replace_fn=lambda weight: weight * factor,
    )


# ---------------------------------------------------------------- the losses


@pytest.mark.parametrize("quasimetric", [Simple(), L1()])
def test_maddist(data: Trajectories, quasimetric: Quasimetric) -> None:
    objective = MadDist(encoder=SMALL, quasimetric=quasimetric, batch_size=12, constraint_batch_size=20)
    objective = replace(objective, separation_limit=4.0)
    distance, _, batch, d, _ = prepared(objective, data)
    clock = clock_of(data)
    time = clock[batch.pairs.second] - clock[batch.pairs.first]
    near_time = clock[batch.near.second] - clock[batch.near.first]
    broken = np.maximum(d(batch.near.first, batch.near.second) - near_time, 0)
    assert 0 < np.count_nonzero(broken) < len(broken)
    trajectory = np.mean((d(batch.pairs.first, batch.pairs.second) / time - 1) ** 2)
    separation = np.mean(np.maximum(1 - d(batch.random[0], batch.random[1]) / 4.0, 0) ** 2)
    constraint = np.sum(broken**2)
    value, terms = loss_of(objective, distance, (), batch, data)
    assert_terms(terms, {"trajectory": trajectory, "separation": separation, "constraint": constraint})
    np.testing.assert_allclose(value, trajectory + 10 * separation + 0.01 * constraint, rtol=2e-5)


def test_tdmaddist(data: Trajectories) -> None:
    objective = TDMadDist(encoder=SMALL, batch_size=40, constraint_batch_size=20)
    distance, target, batch, d, d_target = prepared(objective, data)
    clock = clock_of(data)
    i, j = np.asarray(batch.pairs.first), np.asarray(batch.pairs.second)
    bootstrap = (clock[i + 1] - clock[i]) + d_target(i + 1, j)
    elapsed = clock[j] - clock[i]
    tighter = (bootstrap < elapsed) & (j > i + 1)
    assert 0 < np.count_nonzero(tighter) < np.count_nonzero(j > i + 1)
    trajectory = np.mean((d(i, j) / np.where(tighter, bootstrap, elapsed) - 1) ** 2)
    k, r = np.asarray(batch.steps.first), batch.goals
    goal_target = (clock[k + 1] - clock[k]) + d_target(k + 1, r)
    random_goal = np.mean((d(k, r) / goal_target - 1) ** 2)
    near_time = clock[batch.near.second] - clock[batch.near.first]
    constraint = np.sum(np.maximum(d(batch.near.first, batch.near.second) - near_time, 0) ** 2)
    value, terms = loss_of(objective, distance, target, batch, data)
    assert_terms(
        terms,
        {
            "trajectory": trajectory,
            "random_goal": random_goal,
            "constraint": constraint,
            "bootstrap_tighter": np.mean(tighter),
        },
    )
    np.testing.assert_allclose(value, trajectory + 2 * random_goal + 0.001 * constraint, rtol=2e-5)


@pytest.mark.parametrize("quasimetric", [L1(), Simple()])
def test_plandist(data: Trajectories, quasimetric: Quasimetric) -> None:
    objective = PlanDist(encoder=SMALL, quasimetric=quasimetric, batch_size=40, constraint_weight=0.5)
    distance, _, batch, d, _ = prepared(objective, data)
    clock = clock_of(data)
    time = clock[batch.second] - clock[batch.first]
    difference = d(batch.first, batch.second) - time
    assert 0 < np.count_nonzero(difference > 0) < len(difference)
    trajectory = np.mean(difference**2 / time**2)
    constraint = np.mean(np.maximum(difference, 0) ** 2 / time**2)
    value, terms = loss_of(objective, distance, (), batch, data)
    assert_terms(terms, {"trajectory": trajectory, "constraint": constraint})
    np.testing.assert_allclose(value, trajectory + 0.5 * constraint, rtol=2e-5)


@pytest.mark.parametrize(("alpha", "beta"), [(15.0, 0.1), (500.0, 0.01), (1.0, 2.0)])
def test_qrl(data: Trajectories, alpha: float, beta: float) -> None:
    base = MLP(hidden=(16,), latent=6, activation="relu")
    encoder = Projected(base, hidden=(10,), latent=8, activation="relu")
    objective = QRL(encoder=encoder, quasimetric=IQE(component_size=4), batch_size=24)
    objective = replace(objective, push_offset=alpha, push_sharpness=beta)
    distance, _, batch, _, _ = prepared(objective, data)
    distance = widened(distance, 2.0)
    d = Reference(objective, distance, data)
    clock = clock_of(data)
    i, random = np.asarray(batch.steps.first), np.asarray(batch.random)
    broken = np.maximum(d(i, i + 1) - (clock[i + 1] - clock[i]), 0)
    assert 0 < np.count_nonzero(broken) < len(broken)
    violation = np.mean(broken**2) - 0.25**2
    partner = np.array([random[k - 1] for k in range(len(random))])
    push = np.mean(np.log1p(np.exp(beta * (alpha - d(random, partner)))) / beta)
    value, terms = loss_of(objective, distance, objective.init(distance), batch, data)
    expected = {"push": push, "constraint": np.mean(broken**2), "violation": violation, "multiplier": 0.01}
    assert_terms(terms, expected)
    np.testing.assert_allclose(value, push + 0.01 * violation, rtol=2e-5)


@pytest.mark.parametrize("members", [1, 2])
def test_hilbert(data: Trajectories, members: int) -> None:
    encoder = Ensemble(MLP(hidden=(16, 12), latent=4, activation="gelu", layer_norm=True), size=members)
    objective = Hilbert(encoder=encoder, batch_size=800, discount=0.8, expectile=0.7)
    distance, target, batch, d, d_target = prepared(objective, data)
    clock = clock_of(data)
    i, g = np.asarray(batch.steps.first), np.asarray(batch.goals)
    arrived = (data.states[i] == data.states[g]).all(axis=1)
    assert arrived.any()
    time = clock[i + 1] - clock[i]
    # What `time` unit steps of reward -1 with discount 0.8 add up to; for one step it is -1 and 0.8.
    reward = np.where(arrived, 0.0, -(1 - 0.8**time) / 0.2)
    discount = np.where(arrived, 0.0, 0.8**time)
    following = [-each for each in d_target.of_members(i + 1, g)]
    current = [-each for each in d_target.of_members(i, g)]
    advantage = reward + discount * np.min(following, axis=0) - np.mean(current, axis=0)
    positive = advantage >= 0
    assert 0 < np.count_nonzero(positive) < len(positive)
    weight = np.where(positive, 0.7, 0.3)
    values = [-each for each in d.of_members(i, g)]
    expectile = sum(
        np.mean(weight * (reward + discount * after - now) ** 2) for after, now in zip(following, values, strict=True)
    )
    value, terms = loss_of(objective, distance, target, batch, data)
    expected = {"expectile": expectile, "value_low": np.min(values), "value_high": np.max(values)}
    assert_terms(terms, expected)
    np.testing.assert_allclose(value, expectile, rtol=2e-5)


# ---------------------------------------------------------------- gradients, targets, multipliers

TARGETED = [
    TDMadDist(encoder=SMALL, batch_size=16, constraint_batch_size=16),
    Hilbert(encoder=Ensemble(MLP(hidden=(16,), latent=4)), batch_size=32),
]


@pytest.mark.parametrize("objective", TARGETED, ids=lambda objective: objective.name)
def test_no_gradient_reaches_the_target(objective: Objective, data: Trajectories) -> None:
    distance, target, batch, _, _ = prepared(objective, data)

    @eqx.filter_jit
    @eqx.filter_grad
    def gradients(both: tuple[Distance, Distance]) -> jax.Array:
        return loss_of(objective, both[0], both[1], batch, data)[0]

    online, frozen = gradients((distance, target))
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(frozen))
    assert all(np.abs(layer.weight).max() > 1e-4 for layer in output_layers(online.encoder))


@pytest.mark.parametrize("objective", TARGETED, ids=lambda objective: objective.name)
def test_the_target_starts_as_the_distance_and_follows_it_by_the_polyak_factor(objective: Any) -> None:
    data = Trajectories.from_episodes([np.arange(6.0)])
    distance, other, *_ = prepared(objective, data)
    first = jax.jit(objective.init)(distance)
    for mine, theirs in zip(jax.tree.leaves(first), jax.tree.leaves(distance), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    second = jax.jit(objective.advance)(other, first, {})
    leaves = zip(*map(jax.tree.leaves, (second, distance, other)), strict=True)
    for moved, before, goal in leaves:
        expected = (1 - objective.polyak) * np.float64(before) + objective.polyak * np.float64(goal)
        np.testing.assert_allclose(moved, expected, rtol=1e-5, atol=1e-7)
    for moved, before in zip(scales_of(second), scales_of(distance), strict=True):
        np.testing.assert_array_equal(moved, before)  # what both share stays as it is, to the bit


def scales_of(distance: Distance) -> list[jax.Array]:
    parts = jax.tree.leaves(distance, is_leaf=lambda part: isinstance(part, Scale))
    found = [part.mean for part in parts if isinstance(part, Scale)]
    assert found
    return found


def test_hilbert_gradients_are_finite_where_state_and_goal_coincide() -> None:
    data = Trajectories.from_episodes([np.zeros((4, 2)), np.ones((3, 2))])  # nothing ever moves
    objective = Hilbert(encoder=Ensemble(MLP(hidden=(8,), latent=4)), batch_size=32)
    distance, target, batch, _, _ = prepared(objective, data)
    compiled = eqx.filter_jit(eqx.filter_grad(lambda d: loss_of(objective, d, target, batch, data)[0]))
    gradient = compiled(distance)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_the_multiplier_follows_adam_upwards_while_the_constraint_is_violated() -> None:
    data = Trajectories.from_episodes([np.arange(6.0)])
    encoder = MLP(hidden=(), latent=8, activation="relu")
    objective = QRL(encoder=encoder, quasimetric=IQE(component_size=4), batch_size=4)
    distance, *_ = prepared(objective, data)
    extra = objective.init(distance)
    raw, mean, square = np.log(np.expm1(0.01)), 0.0, 0.0
    for step, violation in enumerate([0.5, 2.0, -0.3, -0.0625, 0.1], start=1):
        gradient = -violation / (1 + np.exp(-raw))  # of -lambda violation with respect to raw
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        raw -= 0.01 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        extra = objective.advance(distance, extra, {"violation": jnp.asarray(violation)})
        np.testing.assert_allclose(extra.value, np.log1p(np.exp(raw)), rtol=1e-4)
        if step == 2:
            assert extra.value > 0.01
