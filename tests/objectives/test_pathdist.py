"""PathDist: that it is taught the paths of the graph, also about states that nobody recorded, and learns them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.encoders import input_statistics
from minaction.objectives import PathDist
from minaction.objectives._states import as_table, with_more
from minaction.recorded import recorded_distance
from minaction.trajectories import Trajectories

SMALL = PathDist(encoder=ma.MLP(hidden=(16,), latent=8), batch_size=64, bound_batch_size=16)


@pytest.fixture(scope="module")
def keydoor() -> Trajectories:
    """Half of the cells are never seen with the key."""
    return ma.get_task("keydoor-gridworld").trajectories(seed=0, episodes=40)


def test_a_batch_is_pairs_with_the_length_of_their_shortest_path(keydoor: Trajectories) -> None:
    graph, tables = recorded_distance(keydoor), SMALL.tables(keydoor)
    batch = SMALL.sample(jax.random.key(0), jax.tree.map(jnp.asarray, tables))
    states = with_more(keydoor.states, SMALL.more_states(tables))
    first, second = states[np.asarray(batch.pairs.first)], states[np.asarray(batch.pairs.second)]
    expected = np.array([graph.pairwise(a[None], b[None]).item() for a, b in zip(first, second, strict=True)])
    np.testing.assert_allclose(batch.pairs.elapsed, expected, rtol=1e-6)
    assert np.isinf(expected).any(), "from a state with the key to one without there is no path"
    assert (np.asarray(batch.pairs.first) >= keydoor.num_states).any(), "unseen states are taught too"


def test_unseen_states_are_states_of_the_world(keydoor: Trajectories) -> None:
    unseen = recorded_distance(keydoor).unseen
    truth = ma.get_task("keydoor-gridworld").truths()[0]
    true = {tuple(np.round(row, 3)) for row in truth.sources}
    recorded = {tuple(np.round(row, 3)) for row in keydoor.distinct.states}
    found = {tuple(np.round(row, 3)) for row in unseen}
    assert not found & recorded
    assert len(true - recorded) > 100, "or there would be nothing to guess"
    assert len(true - recorded - found) <= 0.1 * len(true - recorded)


def test_the_loss_is_what_the_docstring_says(keydoor: Trajectories) -> None:
    tables = SMALL.tables(keydoor)
    batch = SMALL.sample(jax.random.key(1), jax.tree.map(jnp.asarray, tables))
    distance = SMALL.architecture.build(input_statistics(keydoor.states, keydoor.offsets), key=jax.random.key(2))
    view = jax.tree.map(jnp.asarray, as_table(keydoor, SMALL.more_states(tables)))
    value, terms = SMALL.loss(distance, (), batch, view, jnp.asarray(0.5))
    states = with_more(keydoor.states, SMALL.more_states(tables))

    def measured(first: jax.Array, second: jax.Array) -> np.ndarray:
        return np.asarray(distance(jnp.asarray(states[np.asarray(first)]), jnp.asarray(states[np.asarray(second)])))

    found, near = measured(*batch.pairs[:2]), measured(*batch.near[:2])
    length, longest = np.asarray(batch.pairs.elapsed), float(batch.longest)
    known = np.isfinite(length)
    path = np.sum(((found[known] - length[known]) / (length[known] + SMALL.softening)) ** 2) / len(length)
    apart = np.sum(np.maximum(0, 1 - found[~known] / (SMALL.beyond * longest)) ** 2) / len(length)
    bound = np.mean((np.maximum(0, near - np.asarray(batch.near.elapsed)) / SMALL.softening) ** 2)
    np.testing.assert_allclose(terms["path"], path, rtol=1e-4)
    np.testing.assert_allclose(terms["unreachable"], apart, rtol=1e-4)
    np.testing.assert_allclose(terms["bound"], bound, rtol=1e-4)
    np.testing.assert_allclose(value, path + apart + SMALL.bound_weight * bound, rtol=1e-4)


def test_lengths_are_in_typical_steps_whatever_the_clock(line_walks: Trajectories) -> None:
    plain = SMALL.tables(line_walks)
    seconds = np.concatenate([0.05 * np.arange(length) for length in line_walks.lengths])
    timed = SMALL.tables(Trajectories.from_flat(line_walks.states, line_walks.offsets, times=seconds))
    assert float(timed.step_time) == pytest.approx(0.05)
    np.testing.assert_allclose(timed.paths.from_landmarks, plain.paths.from_landmarks, rtol=1e-5)


def test_it_learns_a_world_of_which_some_was_never_seen() -> None:
    task = ma.get_task("cliffwalking")
    data = task.trajectories(seed=1)
    assert len(data.distinct) < 37, "cells are missing"
    model = ma.fit(data, PathDist(), steps=600, seed=1, progress=False)
    found = ma.evaluate(model, task.truths())["true"]
    assert found.pearson > 0.99
    assert found.mean_ratio == pytest.approx(1, abs=0.03)
