"""PathDist: that it is taught the paths of the graph, also about states that nobody recorded, and learns them."""

from __future__ import annotations

import dataclasses

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

SMALL = PathDist(encoder=ma.MLP(hidden=(16,), latent=8), batch_size=64, batch_goals=4, bound_batch_size=16)


@pytest.fixture(scope="module")
def keydoor() -> Trajectories:
    """Half of the cells are never seen with the key."""
    return ma.get_task("keydoor-gridworld").trajectories(seed=0, episodes=40)


def test_a_batch_has_the_lengths_of_shortest_paths(keydoor: Trajectories) -> None:
    graph, tables = recorded_distance(keydoor), SMALL.tables(keydoor)
    batch = SMALL.sample(jax.random.key(0), jax.tree.map(jnp.asarray, tables))
    states = with_more(keydoor.states, SMALL.more_states(tables))
    nodes, goals = states[np.asarray(batch.nodes)], states[np.asarray(batch.goals)]
    own = states[np.asarray(tables.paths.landmarks)[:4]]  # half of the eight coordinates
    for taught, expected in (
        (batch.to_goals.least, graph.pairwise(nodes, goals).T),
        (batch.to_goals.most, graph.pairwise(nodes, goals).T),
        (batch.from_goals.least, graph.pairwise(goals, nodes)),
        (batch.from_goals.most, graph.pairwise(goals, nodes)),
        (batch.to_coordinates, graph.pairwise(nodes, own)),
        (batch.from_coordinates, graph.pairwise(own, nodes).T),
    ):
        np.testing.assert_allclose(taught, expected, rtol=1e-6)
    assert np.isinf(batch.to_goals.least).any(), "from a state with the key to one without there is no path"
    assert (np.asarray(batch.nodes) >= keydoor.num_states).any(), "unseen states are taught too"


def test_goals_that_are_no_landmarks_have_the_lengths_that_landmarks_allow() -> None:
    """In parts that do not connect: the shortest path lies between both bounds, and there is none across."""
    data = ma.get_task("parts-2").trajectories(seed=0, episodes=60)
    objective = PathDist(encoder=ma.MLP(hidden=(16,), latent=8), batch_size=200, batch_goals=40, landmarks=100)
    graph, tables = recorded_distance(data), objective.tables(data)
    assert tables.paths.add_up, "nothing has to be guessed there"
    batch = objective.sample(jax.random.key(0), jax.tree.map(jnp.asarray, tables))
    node_of = np.full(data.num_states, -1)
    node_of[graph.rows] = np.arange(len(graph))
    nodes, goals = node_of[np.asarray(batch.nodes)], node_of[np.asarray(batch.goals)]
    for taught, exact in (
        (batch.to_goals, graph.to_nodes(goals, meet=True)[:, nodes]),
        (batch.from_goals, graph.from_nodes(goals, meet=True)[:, nodes]),
    ):
        least, most, known = np.asarray(taught.least), np.asarray(taught.most), np.isfinite(exact)
        for side in (least, most):
            np.testing.assert_allclose(side[:20], exact[:20], rtol=1e-5)  # landmarks
            np.testing.assert_array_equal(np.isfinite(side), known)
        assert (least[known] <= exact[known] + 1e-3).all()
        assert (most[known] >= exact[known] - 1e-3).all()
        assert least[known].sum() > 0.95 * exact[known].sum()
        assert most[known].sum() < 1.1 * exact[known].sum()


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
    value, terms = SMALL.loss(distance, (), batch, view, jnp.asarray(0.75))  # half of the last cycle
    states = with_more(keydoor.states, SMALL.more_states(tables))

    def embedded(indices: jax.Array) -> jax.Array:
        return distance.encoder(jnp.asarray(states[np.asarray(indices)]))

    def misfit(found: np.ndarray, length: np.ndarray, usual: np.ndarray | float) -> float:
        known, lost = np.isfinite(length), SMALL.beyond * float(batch.longest)
        relative = (found - length)[known] / (np.broadcast_to(usual, length.shape)[known] + SMALL.softening)
        apart = np.maximum(0, 1 - found[~known] / lost)
        return (np.sum(relative**2) / share + np.sum(apart**2)) / length.size / 2

    lengths = np.stack([tables.paths.to_landmarks, tables.paths.from_landmarks])
    share = np.isfinite(lengths).mean()
    assert 0.1 < share < 0.9, "or it would hardly matter"
    nodes, goals = embedded(batch.nodes), embedded(batch.goals)
    q, to, away = distance.quasimetric, np.asarray(batch.to_goals.least), np.asarray(batch.from_goals.least)
    path = misfit(np.asarray(q(nodes[None], goals[:, None])), to, to)
    path += misfit(np.asarray(q(goals[:, None], nodes[None])), away, away)
    embedding = misfit(np.asarray(nodes[:, :4]), np.asarray(batch.to_coordinates), float(batch.mean))
    embedding += misfit(-np.asarray(nodes[:, 4:]), np.asarray(batch.from_coordinates), float(batch.mean))
    near = np.asarray(q(embedded(batch.near.first), embedded(batch.near.second)))
    bound = np.mean(np.maximum(0, near - np.asarray(batch.near.elapsed)) ** 2)
    for name, expected in {"path": path, "embedding": embedding, "bound": bound}.items():
        np.testing.assert_allclose(terms[name], expected, rtol=1e-4)
    np.testing.assert_allclose(value, path + 0.5 * embedding + SMALL.bound_weight * bound, rtol=1e-4)


def test_distances_to_and_from_landmarks_embed_the_graph() -> None:
    """The embedding that coordinates are taught: with every state a landmark it is exact, and keeps apart for good."""
    paths = PathDist().tables(ma.get_task("one-way-line").trajectories(seed=0)).paths
    assert len(paths.nodes) == len(paths.landmarks)
    lost = 2 * float(paths.longest)
    coordinates = np.concatenate([paths.to_landmarks, -np.asarray(paths.from_landmarks)], axis=1).clip(-lost, lost)
    found = np.stack([np.maximum(0, row - coordinates).max(axis=1) for row in coordinates])
    reachable = np.isfinite(paths.to_landmarks)
    np.testing.assert_allclose(found[reachable], np.asarray(paths.to_landmarks)[reachable], atol=1e-4)
    assert np.sum(~reachable) > 0, "nobody goes back on a one-way line"
    assert found[~reachable].min() >= float(paths.longest)


def test_quasimetrics_that_are_no_greatest_difference_are_taught_pairs_alone(keydoor: Trajectories) -> None:
    objective = PathDist(encoder=ma.MLP(hidden=(16,), latent=8), quasimetric=ma.IQE(component_size=4))
    batch = objective.sample(jax.random.key(0), jax.tree.map(jnp.asarray, objective.tables(keydoor)))
    assert batch.to_coordinates.shape[1] == 0


def test_lengths_are_in_typical_steps_whatever_the_clock(line_walks: Trajectories) -> None:
    plain = SMALL.tables(line_walks)
    seconds = np.concatenate([0.05 * np.arange(length) for length in line_walks.lengths])
    timed = SMALL.tables(Trajectories.from_flat(line_walks.states, line_walks.offsets, times=seconds))
    assert float(timed.step_time) == pytest.approx(0.05)
    np.testing.assert_allclose(timed.paths.from_landmarks, plain.paths.from_landmarks, rtol=1e-5)


def test_it_learns_by_heart_where_looks_say_nothing() -> None:
    """States of random numbers, each followed by two others: only a code of its own tells one from all others."""
    random = np.random.default_rng(0)
    following, looks = random.integers(0, 80, (80, 2)), random.normal(size=(80, 3)).astype(np.float32)
    walks = random.integers(0, 80, (100, 1))
    for _ in range(60):
        chosen = random.integers(0, 2, len(walks))
        walks = np.column_stack([walks, following[walks[:, -1], chosen]])
    data = Trajectories.from_episodes(list(looks[walks]))
    exact = recorded_distance(data).pairwise(looks, looks)

    def learned(codes: float) -> float:
        encoder = dataclasses.replace(PathDist().encoder, fourier_codes=codes)  # type: ignore[type-var]
        model = ma.fit(data, PathDist(encoder=encoder), steps=300, held_out=0, progress=False)
        return ma.agreement(np.asarray(model.pairwise(looks, looks)), exact).pearson

    assert learned(0.75) > 0.85
    assert learned(0.0) < 0.5


def test_it_learns_a_world_of_which_some_was_never_seen() -> None:
    task = ma.get_task("cliffwalking")
    data = task.trajectories(seed=1)
    assert len(data.distinct) < 37, "cells are missing"
    model = ma.fit(data, PathDist(), steps=600, seed=1, progress=False)
    found = ma.evaluate(model, task.truths())["true"]
    assert found.pearson > 0.99
    assert found.mean_ratio == pytest.approx(1, abs=0.03)
