"""Where a goal is about some of a state's numbers only: a policy that heads for subgoals, taught by critics."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.agents._actions import Actions
from minaction.agents._heading import HeadingActor
from minaction.objectives._states import RecordedStates

QUICK = ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8))


@pytest.fixture(scope="module")
def sliding() -> ma.Trajectories:
    """Things that slide on a table: an action changes the velocity, and the velocity the place; noise drives them."""
    random = np.random.default_rng(0)
    pushes = np.clip(random.normal(size=(60, 50, 2)), -1, 1)
    velocity, place = np.zeros((60, 2)), random.uniform(-1, 1, (60, 2))
    states = np.empty((60, 50, 4))
    for time in range(50):
        states[:, time] = np.concatenate([place, velocity], axis=1)
        velocity = 0.7 * velocity + 0.1 * pushes[:, time]
        place = place + velocity
    return ma.Trajectories.from_episodes(list(states.astype(np.float32)), actions=list(pushes.astype(np.float32)))


@pytest.fixture(scope="module")
def model(sliding: ma.Trajectories) -> ma.DistanceModel:
    return ma.fit(sliding, QUICK, steps=20, progress=False, held_out=0.0)


def test_it_pushes_towards_the_goal_harder_than_the_recording_did(sliding, model) -> None:
    settings = {"hidden": (32, 32), "batch_size": 256, "target_rate": 0.05, "discount": 0.8}
    [agent] = ma.fit_agent(sliding, model, steps=400, seeds=[0], goal_inputs=(0, 1), progress=False, **settings)
    cloned = agent.towards  # the local policy alone: the roadmap has a test of its own
    for way in np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [0.7, 0.7]]):
        still = np.zeros(4, np.float32)
        push = cloned(still, np.concatenate([way, [0.0, 0.0]]).astype(np.float32))
        assert push @ way > 0.6  # of those that were recorded half are below .0, and one in twelve above .9


def test_only_the_direction_of_a_subgoal_counts(sliding, model) -> None:
    agent = ma.fit_agent(sliding, model, steps=2, goal_inputs=(0, 1), progress=False, hidden=(8,), batch_size=16)
    here = sliding.states[7]
    near, far = here + np.array([0.3, 0.1, 0, 0], np.float32), here + np.array([3.0, 1.0, 5.0, 5.0], np.float32)
    np.testing.assert_allclose(agent.towards(here, near), agent.towards(here, far), atol=2e-3)


def test_the_loss_is_what_its_docstring_says(sliding: ma.Trajectories, model: ma.DistanceModel) -> None:
    objective = HeadingActor(
        actions=Actions.of(sliding), goal_inputs=(0, 1), model=model, hidden=(8,), batch_size=16, cloning=0.5
    )
    tables = objective.tables(sliding)
    batch = objective.sample(jax.random.key(1), tables)
    [network] = ma.Trainer(objective, sliding, steps=1).networks()
    older = jax.tree.map(lambda leaf: 0.9 * leaf if eqx.is_inexact_array(leaf) else leaf, network)
    states = RecordedStates(jnp.asarray(sliding.states))
    found, terms = eqx.filter_jit(objective.loss)(network, older, batch, states, jnp.zeros(()))

    rows = (batch.cloned.state, batch.following, batch.cloned.subgoal)
    s, after, ahead = (np.asarray(sliding.states)[np.asarray(some)] for some in rows)
    a = np.asarray(sliding.actions)[np.asarray(batch.cloned.state)]
    typical = np.asarray(network.policy.reach) / 8.0

    def direction(vectors: np.ndarray) -> np.ndarray:
        return vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-3)

    v = direction((ahead - s)[:, :2] / np.asarray(network.policy.reach))
    u = direction(np.asarray(batch.along) * v + np.asarray(batch.turn))
    gained = (((after - s)[:, :2] / typical) * u).sum(axis=1)

    def acts(policy, states: np.ndarray, way: np.ndarray) -> np.ndarray:
        scaled = (states - np.asarray(policy.scale.mean)) / np.asarray(policy.scale.scale)
        return np.asarray(policy.perceptron(jnp.concatenate([scaled, way], axis=1)))

    def values(of, states: np.ndarray, way: np.ndarray, actions: np.ndarray) -> np.ndarray:
        scaled = (states - np.asarray(of.policy.scale.mean)) / np.asarray(of.policy.scale.scale)
        together = jnp.concatenate([scaled, way, actions], axis=1)
        return np.stack([np.asarray(critic(together))[:, 0] for critic in of.critics])

    low, high = np.asarray(objective.actions.low), np.asarray(objective.actions.high)
    half = (high - low) / 2
    later_action = np.clip(np.clip(acts(older.policy, after, u), low, high) + half * np.asarray(batch.noise), low, high)
    wanted = 0.02 * gained + 0.98 * values(older, after, u, later_action).min(axis=0)
    critic = ((values(network, s, u, a) - wanted) ** 2).mean(axis=1).sum()
    towards_u, towards_v = acts(network.policy, s, u), acts(network.policy, s, v)
    value = values(network, s, u, np.clip(towards_u, low, high)).mean(axis=0)
    cloned = (np.asarray(batch.cloned.weight) * (((np.clip(towards_v, low, high) - a) / half) ** 2).sum(axis=1)).mean()
    beyond = sum((((some - np.clip(some, low, high)) / half) ** 2).mean() for some in (towards_u, towards_v))
    actor = -value.mean() / (np.abs(value).mean() + 1e-6) + 0.5 * cloned / 2 + beyond
    assert float(terms["critic"]) == pytest.approx(critic, rel=1e-3)
    assert float(terms["actor"]) == pytest.approx(actor, rel=1e-3, abs=1e-4)
    assert float(found) == pytest.approx(critic + actor, rel=1e-3, abs=1e-4)
