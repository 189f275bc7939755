"""Agents with numbers and with choices, in every runtime: the same ways and the same actions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main
from minaction.runtimes._roadmap import Way
from minaction.runtimes.numpy import load, load_agent

STATES = 1000
QUICK = ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=8))


def walks(random: np.random.Generator) -> ma.Trajectories:
    """Wandering in a square, where an action of two numbers moves the state by a tenth of it."""
    episodes, actions = [], []
    for _ in range(40):
        taken = np.clip(random.normal(size=(60, 2)), -1, 1).astype(np.float32)
        place = np.clip(np.cumsum(np.concatenate([random.uniform(-2, 2, (1, 2)), 0.1 * taken]), axis=0), -3, 3)
        episodes.append(place.astype(np.float32))
        actions.append(np.concatenate([taken, np.zeros((1, 2), np.float32)]))
    return ma.Trajectories.from_episodes(episodes, actions=actions)


@pytest.fixture(scope="module", params=["choices", "numbers", "numbers far from zero", "headings"])
def agent(request: pytest.FixtureRequest) -> tuple[ma.Agent, ma.Trajectories]:
    if request.param == "choices":
        data = ma.read("cliffwalking", episodes=50, keep_actions=True)
    else:
        data = walks(np.random.default_rng(0))
        if request.param == "numbers far from zero":
            data = ma.Trajectories(data.states.astype(np.float64) + 1e7, data.offsets, actions=data.actions)
    model = ma.fit(data, QUICK, steps=20, progress=False, held_out=0.0)
    about = (0,) if request.param == "headings" else None  # the other number is for the policy to see to
    return ma.fit_agent(data, model, steps=50, goal_inputs=about, progress=False, hidden=(32, 32)), data


def asked(data: ma.Trajectories) -> tuple[np.ndarray, np.ndarray]:
    """Recorded states, half of them moved a little, and recorded goals, which are few: finding ways takes time."""
    random = np.random.default_rng(1)
    rows, goals = random.integers(0, data.num_states, STATES), random.integers(0, data.num_states, 10)
    states = (
        data.states[rows] + random.normal(size=(STATES, *data.state_shape)) * (np.arange(STATES) % 2)[:, None] * 0.1
    )
    return states.astype(data.states.dtype), data.states[np.resize(goals, STATES)]


def loaded(runtime: str, path: Path) -> Any:
    if runtime == "numpy":
        return load_agent(path)
    pytest.importorskip("torch")
    from minaction.runtimes.torch import load_agent as load_torch

    return load_torch(path)


@pytest.fixture(scope="module")
def in_jax(agent: tuple[ma.Agent, ma.Trajectories]) -> tuple[list[Way], list[Any]]:
    """The ways of the agent, and its actions by the policy as it was trained."""
    ours, data = agent
    states, goals = asked(data)
    ways = [ours.way(*both) for both in zip(states, goals, strict=True)]
    output = ours.policy(*map(ours.units.centred, (states, np.stack([way.subgoal for way in ways]))))
    return ways, [ours.actions.decode(row) for row in np.asarray(output)]


@pytest.mark.filterwarnings("ignore:No recorded path")
@pytest.mark.parametrize("runtime", ["numpy", "torch"])
def test_ways_and_actions_are_those_of_jax(agent: Any, in_jax: Any, runtime: str, tmp_path: Path) -> None:
    ours, data = agent
    ours.save(tmp_path / "agent.safetensors")
    theirs = loaded(runtime, tmp_path / "agent.safetensors")
    states, goals = asked(data)
    ways, actions = in_jax
    found = [theirs.act(*both) for both in zip(states, goals, strict=True)]
    np.testing.assert_allclose(found, actions, rtol=1e-4, atol=1e-4)
    for state, goal, expected in zip(states[:200], goals, ways, strict=False):
        way = theirs.way(state, goal)
        assert way.subgoal.tolist() == expected.subgoal.tolist()
        assert way[1:] == pytest.approx(expected[1:], rel=1e-4)


def test_the_policy_in_onnx_is_that_of_jax(agent: Any, in_jax: Any, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    ours, data = agent
    if ours.units.origin is not None:
        with pytest.raises(ma.InputError, match="cannot tell them apart"):
            ours.export(tmp_path / "agent.onnx")
        return
    ours.export(tmp_path / "agent.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "agent.onnx")
    (states, _), (ways, actions) = asked(data), in_jax
    subgoals = np.stack([way.subgoal for way in ways])
    found, *scores = session.run(None, {"states": states, "subgoals": subgoals})
    np.testing.assert_allclose(found, actions, rtol=1e-4, atol=1e-4)
    if ours.actions.choices:
        np.testing.assert_allclose(scores[0], ours.policy(states, subgoals), rtol=1e-4, atol=1e-4)
        assert found.dtype == np.int64


def test_gradients_in_pytorch_are_those_of_jax(agent: Any, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    import jax

    ours, data = agent
    if ours.units.origin is not None:
        return  # JAX takes states that are centred already
    ours.save(tmp_path / "agent.safetensors")
    module = loaded("torch", tmp_path / "agent.safetensors")
    states, goals = (side[:50] for side in asked(data))
    given = torch.tensor(states, requires_grad=True)
    module(given, torch.tensor(goals)).sum().backward()
    expected = jax.grad(lambda rows: ours.policy(rows, goals).sum())(states)
    np.testing.assert_allclose(given.grad.numpy(), expected, rtol=1e-3, atol=1e-4)
    assert all(parameter.requires_grad for parameter in module.parameters())


def test_an_agent_without_a_roadmap_heads_for_the_goal(agent: Any, tmp_path: Path) -> None:
    ours, data = agent
    straight = ma.Agent(ours.model, None, ours.policy, ours.architecture, ours.units, ours.lookahead)
    straight.save(tmp_path / "agent.safetensors")
    for runtime in ("numpy", "torch"):
        theirs = loaded(runtime, tmp_path / "agent.safetensors")
        way = theirs.way(data.states[0], data.states[9])
        assert way.subgoal.tolist() == data.states[9].tolist()
        assert way.remaining == pytest.approx(straight.way(data.states[0], data.states[9]).remaining, rel=1e-4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = ma.read("cliffwalking", episodes=50, keep_actions=True)
    model = ma.fit(data, QUICK, steps=2, progress=False, held_out=0.0)
    found = tmp_path_factory.mktemp("agents")
    for seed in (3, 4):
        ma.fit_agent(data, model, steps=2, seed=seed, progress=False).save(found / f"agent-seed{seed}.safetensors")
    model.save(found / "model.safetensors")
    return found


@pytest.mark.parametrize("given", [["agent-seed4.safetensors"], [".", "--seed", "4"], ["."]])
def test_the_command_line_exports_agents(folder: Path, given: list[str], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    assert main(["export", str(folder / given[0]), str(tmp_path / "agent.onnx"), *given[1:]]) == 0
    assert (tmp_path / "agent.onnx").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("given", "output", "sentence"),
    [
        ([".", "--seed", "7"], "agent.onnx", "has no seed 7; it has 3, 4"),
        (["agent-seed3.safetensors"], "page.html", "An agent is exported to an .onnx file"),
        (["agent-seed3.safetensors", "--part", "encoder"], "a.onnx", "--part is for models"),
    ],
)
def test_what_cannot_be_exported_gets_a_sentence(
    folder: Path, given: list[str], output: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(folder / given[0]), str(tmp_path / output), *given[1:]]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_each_kind_of_file_has_its_loader(folder: Path) -> None:
    with pytest.raises(ma.InputError, match="holds an agent, not a model; read it with `load_agent`"):
        load(folder / "agent-seed3.safetensors")
    with pytest.raises(ma.InputError, match="holds a model, not an agent; read it with `load`"):
        load_agent(folder / "model.safetensors")
    with pytest.raises(ma.InputError, match="There is no file"):
        load_agent(folder / "nothing.safetensors")


def test_numpy_and_safetensors_are_enough(folder: Path) -> None:
    """Of the package only the runtime is imported, and nothing of SciPy or JAX."""
    code = f"""
import sys
from minaction.runtimes.numpy import load_agent
agent = load_agent({str(folder / "agent-seed3.safetensors")!r})
assert agent.act([0.0, 0.5], [0.5, 0.5]) in range(4)
heavy = [name for name in ("scipy", "jax", "equinox", "gymnasium", "torch") if name in sys.modules]
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_edges_that_do_not_fit_are_refused(folder: Path, tmp_path: Path) -> None:
    from minaction._files import read_tensors, write_tensors

    tensors, header = read_tensors(folder / "agent-seed3.safetensors", "agent")
    del header["kind"], header["format"], header["version"]
    for name, value in (("graph.indices", 10_000), ("graph.data", -1.0)):
        wrong = {**tensors, name: np.full_like(tensors[name], value)}
        write_tensors(tmp_path / "wrong.safetensors", "agent", wrong, header)
        with pytest.raises(ma.InputError, match="edges that lead nowhere, or back in time"):
            load_agent(tmp_path / "wrong.safetensors")
        with pytest.raises(ma.InputError, match=r"lead nowhere|indices must be"):
            ma.Agent.load(tmp_path / "wrong.safetensors")
