"""Goal-conditioned behaviour cloning, and QRL with an actor."""

from __future__ import annotations

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import minaction as ma
from minaction.agents import fit_gcbc, fit_qrl_actor
from minaction.agents._actions import Actions
from minaction.agents._qrl_actor import QRLActor
from minaction.cli import main
from minaction.objectives._states import RecordedStates


@pytest.fixture(scope="module")
def line() -> ma.Trajectories:
    """Walks on a line, a step of at most 1 in either direction, which is the action."""
    random = np.random.default_rng(0)
    actions = np.clip(np.cumsum(random.normal(scale=0.3, size=(40, 30, 1)), axis=1), -1.0, 1.0).astype(np.float32)
    states = np.cumsum(np.concatenate([np.zeros((40, 1, 1)), actions[:, :-1]], axis=1), axis=1).astype(np.float32)
    return ma.Trajectories.from_episodes(list(states), actions=list(actions))


def small() -> ma.QRL:
    return ma.QRL(encoder=ma.MLP(hidden=(32,), latent=32), quasimetric=ma.IQE(component_size=8), batch_size=64)


@pytest.mark.slow
def test_both_walk_towards_the_goal(line: ma.Trajectories, tmp_path: Path) -> None:
    model = ma.fit(line, ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=16)), steps=5, progress=False, held_out=0.0)
    [cloned] = fit_gcbc(line, model, steps=300, progress=False, hidden=(32, 32))
    settings = {"distance": small(), "hidden": (32, 32), "batch_size": 128, "learning_rate": 1e-3}
    actors = fit_qrl_actor(line, steps=600, seeds=(0, 1), progress=False, **settings)
    actors[0].save(tmp_path / "actor.safetensors")
    for agent in (cloned, *actors, ma.Agent.load(tmp_path / "actor.safetensors")):
        assert agent.act([0.0], [4.0])[0] > 0.2
        assert agent.act([0.0], [-4.0])[0] < -0.2


def test_the_loss_of_the_actor_is_what_its_docstring_says(line: ma.Trajectories) -> None:
    objective = QRLActor(actions=Actions.of(line), goal_inputs=(0,), distance=small(), hidden=(8,), batch_size=16)
    tables = objective.tables(line)
    batch = objective.sample(jax.random.key(1), tables)
    states = RecordedStates(jnp.asarray(line.states))
    trainer = ma.Trainer(objective, line, steps=1)
    [network] = trainer.networks()
    extra = objective.init(network)
    found, terms = eqx.filter_jit(objective.loss)(network, extra, batch, states, jnp.zeros(()))
    own, _ = eqx.filter_jit(objective.distance.loss)(network.distance, extra, batch.pairs, states, jnp.zeros(()))
    here, following, goal = (line.states[np.asarray(rows)] for rows in (batch.state, batch.following, batch.goal))
    np.testing.assert_allclose(np.asarray(batch.action), np.asarray(line.actions)[np.asarray(batch.state)])
    z, after, there = (network.distance.encoder(jnp.asarray(side)) for side in (here, following, goal))
    d = network.distance.quasimetric

    def model(action: np.ndarray) -> jax.Array:
        scaled = (here - np.asarray(network.policy.scale.mean)) / np.asarray(network.policy.scale.scale)
        return z + network.dynamics(jnp.concatenate([jnp.asarray(scaled), jnp.asarray(action)], axis=1))

    predicted = model(np.asarray(batch.action))
    dynamics = float((d(predicted, after) + d(after, predicted)).mean()) / 2
    acted = np.asarray(network.policy(jnp.asarray(here), jnp.asarray(goal)))
    low, high = np.asarray(objective.actions.low), np.asarray(objective.actions.high)
    left = float(d(model(np.clip(acted, low, high)), there).mean())
    missed = float(objective.actions.loss(jnp.asarray(acted), jnp.ones(1), batch.action).mean())
    assert float(terms["dynamics"]) == pytest.approx(dynamics, rel=1e-4)
    assert float(found) == pytest.approx(float(own) + dynamics + left / (left + 1e-6) + 0.003 * missed, rel=1e-4)


@pytest.mark.parametrize("method", ["gcbc", "roadmap"])
def test_the_command_trains_each_and_goes_on_where_it_was(line, method: str, tmp_path: Path, capsys) -> None:
    line.save(tmp_path / "line.safetensors")
    model = ma.fit(line, ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=16)), steps=2, progress=False, held_out=0.0)
    model.save(tmp_path / "model.safetensors")
    words = ["agent", "train", str(tmp_path / "line.safetensors"), "--method", method, "--steps", "2", "--seeds", "2"]
    words += ["--model", str(tmp_path / "model.safetensors"), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "agent-seed0.safetensors",
        "agent-seed1.safetensors",
    ]
    capsys.readouterr()
    assert main(words) == 0
    assert "is there already" in capsys.readouterr().out.replace("\n", " ")


def test_without_a_model_the_command_trains_a_distance_in_a_run_folder(line, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ma.PathDist, "default_steps", 2)
    line.save(tmp_path / "line.safetensors")
    out = tmp_path / "out"
    assert main(["agent", "train", str(tmp_path / "line.safetensors"), "--steps", "2", "--out", str(out)]) == 0
    assert (out / "distance" / "results.json").exists()
    agent = ma.Agent.load(out / "agent-seed0.safetensors")
    assert agent.model.provenance.objective == "pathdist"
    assert len(agent.act([0.0], [4.0])) == 1
