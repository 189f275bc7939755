from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from minaction.encoders import MLP, input_statistics
from minaction.errors import InputError
from minaction.evaluation import agreement
from minaction.exact import minimum_action_distance, observed_distance
from minaction.objectives import TautDist
from minaction.objectives._states import RecordedStates
from minaction.objectives._tautdist import distinct_bounds
from minaction.training import Trainer, fit
from minaction.trajectories._dataset import Trajectories

SMALL = TautDist(encoder=MLP(hidden=(24,), latent=12, fourier=5), batch_size=30, bound_batch_size=40)


def walks(times: bool = False) -> Trajectories:
    random = np.random.default_rng(3)
    episodes = [np.clip(np.cumsum(random.choice([-1, 0, 1], n)), -4, 4)[:, None] for n in (30, 1, 12, 50)]
    clocks = [np.cumsum(random.uniform(0.1, 2.0, len(e))) for e in episodes] if times else None
    return Trajectories.from_episodes(episodes, clocks)


@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("horizon", [1, 4])
def test_distinct_bounds_are_the_least_times_seen(times: bool, horizon: int) -> None:
    """Against a plain double loop over all pairs of an episode."""
    data = walks(times)
    clock = data.times if data.times is not None else np.concatenate([np.arange(n) for n in data.lengths])
    least: dict[tuple[float, float], float] = {}
    for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        for i in range(start, end):
            for j in range(i + 1, min(end, i + horizon + 1)):
                pair = (float(data.states[i, 0]), float(data.states[j, 0]))
                if pair[0] != pair[1]:
                    least[pair] = min(least.get(pair, np.inf), clock[j] - clock[i])
    bounds = distinct_bounds(data, horizon)
    first, second, elapsed = (np.asarray(column) for column in bounds.pairs)
    found = {
        (float(data.states[i, 0]), float(data.states[j, 0])): t for i, j, t in zip(first, second, elapsed, strict=True)
    }
    assert int(bounds.count) == len(first) == len(least)
    assert found.keys() == least.keys()
    np.testing.assert_allclose([found[pair] for pair in least], list(least.values()), rtol=1e-6)
    assert sorted(data.states[np.asarray(bounds.anchors), 0]) == sorted(set(data.states[:, 0]))


def test_rare_steps_are_drawn_as_often_as_common_ones() -> None:
    """Chi-square of the drawn pairs against a uniform distribution over the distinct ones."""
    data = walks()
    objective = replace(SMALL, bound_batch_size=20_000)
    tables = objective.tables(data)
    batch = objective.sample(jax.random.key(0), jax.tree.map(jnp.asarray, tables))
    drawn = np.asarray(batch.near.first) * data.num_states + np.asarray(batch.near.second)
    _, counts = np.unique(drawn, return_counts=True)
    assert tables.bounds is not None
    pairs = int(tables.bounds.count)
    assert len(counts) == pairs
    statistic = np.sum((counts - 20_000 / pairs) ** 2) / (20_000 / pairs)
    assert statistic < pairs + 5 * np.sqrt(2 * pairs)


def test_every_term_against_numpy() -> None:
    data = walks(times=True)
    trainer = Trainer(SMALL, data, steps=100, encode_distinct=False)
    tables = jax.tree.map(jnp.asarray, SMALL.tables(data))
    batch = SMALL.sample(jax.random.key(7), tables)
    distance = jax.tree.map(lambda leaf: leaf[0], trainer.state.network)
    progress, median = 0.4, 2.5
    states = RecordedStates(jnp.asarray(data.states))
    value, terms = SMALL.loss(distance, jnp.asarray(median), batch, states, jnp.asarray(progress))

    def d(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return np.asarray(distance(jnp.asarray(data.states[i]), jnp.asarray(data.states[j])), np.float64)

    step_time = np.median(np.concatenate([np.diff(data.times[a:b]) for a, b in zip(data.offsets, data.offsets[1:])]))  # type: ignore[index]  # noqa: B905
    first, second, elapsed = (np.asarray(column) for column in batch.near)
    random = np.asarray(batch.random)
    scale = median * step_time
    slack = np.mean(np.maximum(0, 1 - d(random[0], random[1]) / (2.5 * scale)) ** 2)
    excess = np.maximum(0, d(first, second) - elapsed) / step_time
    stiffness = 4.0 * (150.0 / 4.0) ** ((progress - 0.1) / 0.6)
    assert 0 < np.mean(excess > 0) < 1
    np.testing.assert_allclose(terms["slack"], slack, rtol=1e-4)
    np.testing.assert_allclose(terms["strain"], np.mean(excess**2), rtol=1e-4)
    np.testing.assert_allclose(terms["overstretched"], np.mean(excess > 0), rtol=1e-5)
    np.testing.assert_allclose(terms["above_median"], np.mean(d(random[0], random[1]) > scale), rtol=1e-5)
    np.testing.assert_allclose(value, slack + stiffness * np.mean(excess**2), rtol=1e-4)


def test_the_median_is_followed() -> None:
    values = np.random.default_rng(0).lognormal(3.0, 1.0, 4000)
    distance = SMALL.architecture.build(input_statistics(np.ones((2, 1), np.float32)), key=jax.random.key(0))
    median = jnp.ones(())
    for _ in range(1500):
        median = SMALL.advance(distance, median, {"above_median": jnp.mean(values > median)})
    assert float(median) == pytest.approx(np.median(values), rel=0.02)


def test_stiffness_rises_between_a_tenth_and_seven_tenths() -> None:
    values = [float(SMALL.stiffness(jnp.asarray(p))) for p in (0.0, 0.1, 0.4, 0.7, 1.0)]
    np.testing.assert_allclose(values, [4, 4, np.sqrt(4 * 150), 150, 150], rtol=1e-5)


@pytest.mark.parametrize("wrong", [{"reach": 1.0}, {"slack_stiffness": 200.0}, {"slack_stiffness": 0.0}])
def test_nonsense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        replace(SMALL, **wrong)


def test_a_state_that_never_changes_is_refused() -> None:
    with pytest.raises(InputError, match="never changes"):
        SMALL.tables(Trajectories.from_flat(np.ones((20, 2))))


def random_graph_walks(nodes: int, seed: int) -> tuple[Trajectories, np.ndarray]:
    """A random directed graph with a cycle through all nodes, every edge walked, and its exact distances."""
    random = np.random.default_rng(seed)
    cycle = random.permutation(nodes)
    edges = {(int(a), int(b)) for a, b in zip(cycle, np.roll(cycle, -1), strict=True)}
    edges |= {(int(a), int(b)) for a, b in random.integers(0, nodes, (nodes, 2)) if a != b}
    one_hot = np.eye(nodes, dtype=np.float32)
    data = Trajectories.from_episodes([one_hot[[a, b]] for a, b in sorted(edges)])
    return data, minimum_action_distance(nodes, np.array(sorted(edges)))


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [8, 30])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exact_on_small_graphs(nodes: int, seed: int) -> None:
    data, exact = random_graph_walks(nodes, seed)
    order = data.distinct.states.argmax(axis=1)
    model = fit(data, TautDist(), steps=6000, held_out=0, seed=seed, progress=False)  # every episode is an edge
    found = model.pairwise(data.distinct.states, data.distinct.states)
    truth = exact[np.ix_(order, order)]
    off = truth > 0
    assert np.mean(np.abs(found[off] - truth[off]) / truth[off]) < 0.05


@pytest.mark.slow
def test_unreachable_pairs_are_told_apart_on_a_keydoor_like_graph() -> None:
    """Two copies of a 5 x 5 grid, without and with a key that is never lost: there is no way back."""
    random = np.random.default_rng(0)
    episodes = []
    for _ in range(60):
        x, y, key = *random.integers(0, 5, 2), 0
        rows = [(x, y, key)]
        for dx, dy in random.permutation(np.repeat([[1, 0], [-1, 0], [0, 1], [0, -1]], 15, axis=0)):
            x, y = np.clip(x + dx, 0, 4), np.clip(y + dy, 0, 4)
            key = max(key, int((x, y) == (4, 0)))
            rows.append((x, y, key))
        episodes.append(np.array(rows, dtype=float))
    data = Trajectories.from_episodes(episodes)
    states, distances = observed_distance(data)
    assert np.isinf(distances).mean() > 0.2
    model = fit(data, TautDist(), steps=6000, progress=False)
    found = agreement(model.pairwise(states, states), distances)
    assert found.auroc >= 0.95
    assert found.pearson >= 0.99
