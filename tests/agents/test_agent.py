"""An agent in CliffWalking: from random episodes to the goal, and through a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from scipy.sparse import csr_array

import minaction as ma
from minaction.agents import _training, fit_gcbc, fit_qrl_actor
from minaction.agents._evaluation import check_spaces
from minaction.agents._roadmap import Roadmap
from minaction.runtimes.numpy import load_agent
from minaction.training import Trainer


@pytest.fixture(scope="module")
def data() -> ma.Trajectories:
    return ma.read("cliffwalking", episodes=100, keep_actions=True)


@pytest.fixture(scope="module")
def agent(data: ma.Trajectories) -> ma.Agent:
    model = ma.fit(data, steps=300, progress=False, held_out=0.0)
    return ma.fit_agent(data, model, steps=1000, progress=False, hidden=(128, 128))


def steps_to(agent: ma.Agent, goal: np.ndarray, most: int = 40) -> int:
    environment = gymnasium.make("minaction/CliffWalking-v0")
    observation, _ = environment.reset(seed=0)
    for step in range(1, most + 1):
        observation, *_ = environment.step(agent.act(observation, goal))
        if np.allclose(observation, goal):
            return step
    return most + 1


def test_it_takes_the_shortest_way_to_recorded_states(agent: ma.Agent, data: ma.Trajectories) -> None:
    start = data.states[0]
    [truth] = ma.get_task("cliffwalking").truths()
    here = int(np.flatnonzero((truth.sources == start).all(axis=1))[0])
    seen = {row.tobytes() for row in data.states}
    goals = [k for k, state in enumerate(truth.targets) if state.tobytes() in seen and truth.distances[here, k] > 0]
    taken = {k: steps_to(agent, truth.targets[k]) for k in goals[::4]}
    assert taken == {k: int(truth.distances[here, k]) for k in taken}


def test_a_file_keeps_all_of_it(agent: ma.Agent, data: ma.Trajectories, tmp_path: Path) -> None:
    agent.save(tmp_path / "agent.safetensors")
    again = ma.Agent.load(tmp_path / "agent.safetensors")
    for k in range(5, 50, 5):
        assert again.act(data.states[0], data.states[k]) == agent.act(data.states[0], data.states[k])
    assert float(again.model.distance(data.states[0], data.states[9])) == float(
        agent.model.distance(data.states[0], data.states[9])
    )
    with pytest.raises(ma.InputError, match="holds an agent, not a model"):
        ma.DistanceModel.load(tmp_path / "agent.safetensors")


def test_a_goal_outside_the_data_is_warned_of_once(agent: ma.Agent, data) -> None:
    with pytest.warns(UserWarning, match="typical moves from anything recorded"):
        agent.act(data.states[0], np.array([30.0, 30.0], np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.act(data.states[0], np.array([30.0, 30.0], np.float32))


@pytest.mark.parametrize(
    ("observation", "goal", "sentence"),
    [
        (np.zeros(3), np.zeros(2), r"The observation has shape \(3,\); this agent takes states of shape \(2,\)"),
        (np.zeros(2), np.zeros((1, 2)), r"The goal has shape \(1, 2\)"),
        (["here", "there"], np.zeros(2), "The observation is not made of numbers"),
        (np.array([np.nan, 0.0]), np.zeros(2), "The observation holds NaN"),
        (np.zeros(2), [[1], [1, 2]], "The goal is no array: its rows have different lengths"),
        (3, np.zeros(2), r"The observation has shape \(\);.*`minaction.environments.as_state` makes one"),
        ({"place": [0, 0]}, np.zeros(2), r"not made of numbers.*`minaction.environments.as_state` makes one"),
    ],
)
def test_bad_states_get_a_sentence(agent: ma.Agent, tmp_path: Path, observation, goal, sentence: str) -> None:
    agent.save(tmp_path / "agent.safetensors")
    for one in (agent, load_agent(tmp_path / "agent.safetensors")):
        with pytest.raises(ma.InputError, match=sentence):
            one.act(observation, goal)
        with pytest.raises(ma.InputError, match=sentence.replace("goal", "subgoal")):
            one.towards(observation, goal)


@pytest.mark.parametrize("load", [ma.Agent.load, load_agent])
def test_what_was_tried_in_vain_counts_for_one_goal_in_one_episode(agent: ma.Agent, tmp_path: Path, load) -> None:
    assert agent.roadmap is not None
    agent.save(tmp_path / "agent.safetensors")
    state, *goals = agent.roadmap.states[[0, 5, 10, 15]]
    used, fresh = (load(tmp_path / "agent.safetensors") for _ in range(2))
    headed: list[list[float]] = []
    local = used._local
    used._local = lambda state, subgoal: (headed.append(subgoal.tolist()), local(state, subgoal))[1]
    for _ in range(6):
        used.act(state, goals[0])
    assert len({tuple(one) for one in headed}) > 1  # it tries something else where it does not get on
    headed.clear()
    assert [used.act(state, goal) for goal in goals] == [fresh.act(state, goal) for goal in goals]
    assert headed == [fresh.way(state, goal).subgoal.tolist() for goal in goals]
    for _ in range(6):
        used.act(state, goals[0])
    used.reset()
    assert used.act(state, goals[0]) == load(tmp_path / "agent.safetensors").act(state, goals[0])
    assert headed[-1] == fresh.way(state, goals[0]).subgoal.tolist()


def test_what_an_agent_is_made_of_may_be_named(agent: ma.Agent, data: ma.Trajectories, tmp_path: Path) -> None:
    agent.model.save(tmp_path / "model.safetensors")
    data.save(tmp_path / "data.safetensors")
    whole = {"states": data.states, "offsets": data.offsets, "actions": data.actions}
    settings = {"steps": 2, "hidden": [8], "progress": False}
    expected = ma.fit_agent(data, agent.model, **settings)
    for given in (tmp_path / "data.safetensors", str(tmp_path / "data.safetensors"), whole):
        found = ma.fit_agent(given, tmp_path / "model.safetensors", **settings)
        np.testing.assert_array_equal(
            found.policy.perceptron.layers[0].weight, expected.policy.perceptron.layers[0].weight
        )
    assert fit_gcbc("cliffwalking", str(tmp_path / "model.safetensors"), **settings)[0].actions.choices == 4


def pictures() -> ma.Trajectories:
    frames = np.random.default_rng(0).integers(0, 256, (20, 16, 16, 3), np.uint8)
    return ma.Trajectories.from_episodes([frames, frames], actions=[np.zeros((20, 1))] * 2)


BAD = [
    ({"data": None}, "What is of type NoneType cannot be read as episodes"),
    ({"data": "nowhere.npz"}, "There is no file 'nowhere.npz'"),
    ({"data": [np.zeros((5, 2))]}, "the recording has none; record them, .* in Python read it with keep_actions=True"),
    ({"data": pictures()}, "states of some numbers each, not images or others of shape 16 x 16 x 3; give numbers"),
    ({"model": None}, "An object of type NoneType is not a model; give one that `fit` made, or its file or run folder"),
    ({"model": "nowhere.safetensors"}, "There is no file nowhere.safetensors"),
    ({"steps": 1.5}, "a whole number of steps, from 1 to 2147483647, not for 1.5"),
    ({"steps": 0}, "a whole number of steps, from 1 to 2147483647, not for 0"),
    ({"seeds": 3}, "at least one seed"),
    ({"seeds": (0.5,)}, "seeds are whole numbers from 0 to 4294967295"),
    ({"goal_inputs": [[0], [0, 1]]}, "a state has the numbers 0 to 1"),
    ({"foo": 3}, "There is no setting of .* named 'foo'"),
    ({"batch_size": 1.5}, "batch_size should be a whole number"),
    ({"hidden": (0,)}, "Layer sizes must be whole numbers"),
]


@pytest.mark.parametrize("fit", [ma.fit_agent, fit_gcbc, fit_qrl_actor])
@pytest.mark.parametrize(("wrong", "sentence"), BAD)
def test_what_no_agent_can_learn_from_gets_a_sentence(
    agent: ma.Agent, data: ma.Trajectories, capsys, fit, wrong: dict, sentence: str
) -> None:
    if fit is fit_qrl_actor and "model" in wrong:
        return  # it learns its own
    given = {"data": data, **({} if fit is fit_qrl_actor else {"model": agent.model}), **wrong}
    with pytest.raises(ma.InputError, match=sentence):
        fit(**given)
    assert "training" not in capsys.readouterr().err


def test_an_environment_whose_spaces_do_not_fit_gets_a_sentence(agent: ma.Agent) -> None:
    with pytest.raises(ma.InputError, match=r"observations of shape \(4,\), but the agent takes \(2,\)"):
        check_spaces(agent, gymnasium.make("CartPole-v1"), "CartPole-v1")
    with pytest.raises(ma.InputError, match=r"takes actions of .* but the agent has learned 4 choices"):
        check_spaces(agent, gymnasium.make("MountainCarContinuous-v0"), "MountainCarContinuous-v0")


def test_data_that_does_not_fit_the_model_gets_a_sentence(agent: ma.Agent) -> None:
    other = ma.Trajectories.from_flat(np.random.default_rng(0).normal(size=(20, 3)), actions=np.zeros((20, 1)))
    with pytest.raises(ma.InputError, match=r"states of shape \(3,\) and the model of \(2,\)"):
        ma.fit_agent(other, agent.model)


def test_landmarks_are_spread_out_by_the_distance(agent: ma.Agent, data: ma.Trajectories) -> None:
    rows = ma.landmarks(data, agent.model, 6)
    apart = agent.model.pairwise(data.states[rows], data.states[rows])
    chosen = np.maximum(apart, apart.T)[~np.eye(6, dtype=bool)].min()
    random = np.random.default_rng(0).choice(data.num_states, (20, 6))
    others = [agent.model.pairwise(data.states[some], data.states[some]) for some in random]
    assert chosen > max(np.maximum(one, one.T)[~np.eye(6, dtype=bool)].min() for one in others)
    wrong: Any
    for wrong in (0, 2.5, len(data.distinct) + 1):
        with pytest.raises(ma.InputError, match=f"Cannot choose {wrong} landmarks of {len(data.distinct)} different"):
            ma.landmarks(data, agent.model, wrong)
    every = data.states[ma.landmarks(data, agent.model, len(data.distinct))]
    assert len(np.unique(every, axis=0)) == len(data.distinct)


def test_a_subgoal_lies_halfway(agent: ma.Agent, data: ma.Trajectories) -> None:
    start = data.states[0]
    goal = data.states[np.argmax(agent.model.pairwise(start[None], data.states)[0])]
    found = agent.model.subgoal(start, goal, data)
    ends = [float(agent.model.distance(start, found)), float(agent.model.distance(found, goal))]
    every = np.maximum(
        agent.model.pairwise(start[None], data.states)[0], agent.model.pairwise(data.states, goal[None])[:, 0]
    )
    assert max(ends) == pytest.approx(every.min(), rel=1e-4)
    assert min(ends) > 0.25 * float(agent.model.distance(start, goal))


@pytest.mark.parametrize(
    ("state", "goal", "sentence"),
    [
        ([0, 0], [0, 0, 0], r"takes states of 2 numbers, but the array given has shape \(3,\)"),
        ([[0, 0], [1, 1]], [0, 0], "Give one state, not 2 of them"),
        ([0, 0], [[0], [0, 1]], "States must be numbers in a rectangular array"),
    ],
)
def test_a_subgoal_is_between_two_states(agent: ma.Agent, data, state, goal, sentence: str) -> None:
    with pytest.raises(ma.InputError, match=sentence):
        agent.model.subgoal(state, goal, data)


def test_to_where_no_path_leads_the_nearest_state_stands_in(agent: ma.Agent) -> None:
    assert agent.roadmap is not None
    graph = agent.roadmap.graph.tolil()
    last = len(agent.roadmap.states) - 1
    graph[:, last] = 0.0
    graph = csr_array(graph)
    graph.eliminate_zeros()
    parts = ("states", "counts", "must_agree", "unit", "move_time", "repeats")
    cut = ma.Agent(
        agent.model,
        Roadmap(**{**{name: getattr(agent.roadmap, name) for name in parts}, "graph": graph}),
        agent.policy,
        agent.architecture,
        agent.units,
        agent.lookahead,
    )
    start, goal = agent.roadmap.states[[0, last]]
    with pytest.warns(UserWarning, match="No recorded path leads to the goal from here, so that it may be unreachable"):
        cut.act(start, goal)
    way = cut.way(start, goal)
    assert np.isinf(way.remaining)
    assert not np.array_equal(way.subgoal, goal)


def test_a_goal_that_was_never_recorded_is_reached_by_way_of_the_nearest_state() -> None:
    line = np.arange(12.0, dtype=np.float32)
    there_and_back = np.concatenate([line, line[-2::-1]])
    towards = np.concatenate([np.ones(11), np.zeros(11), np.zeros(1)])
    data = ma.Trajectories.from_episodes([there_and_back[:, None]] * 4, actions=[towards[:, None]] * 4)
    model = ma.fit(data, steps=100, progress=False, held_out=0.0)
    agent = ma.fit_agent(data, model, steps=200, progress=False, hidden=(64, 64))
    state, goal = np.zeros(1, np.float32), np.array([13.0], np.float32)
    with pytest.warns(UserWarning, match="2 typical moves from anything recorded; heading for the recorded state"):
        agent.act(state, goal)
    for _ in range(13):
        state = state + 2.0 * agent.act(state, goal) - 1.0
    assert state.tolist() == goal.tolist()


def test_seeds_side_by_side_and_a_killed_training_that_goes_on(
    agent: ma.Agent, data, tmp_path: Path, monkeypatch
) -> None:
    settings = {"steps": 300, "progress": False, "hidden": (32,), "seeds": (0, 1)}
    whole = ma.fit_agent(data, agent.model, **settings)
    path = tmp_path / "checkpoint.safetensors"
    monkeypatch.setattr(_training, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    advance, calls = Trainer.advance, []

    def killed(self: Trainer, steps: int) -> dict:
        calls.append(steps)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return advance(self, steps)

    monkeypatch.setattr(Trainer, "advance", killed)
    with pytest.raises(KeyboardInterrupt):
        ma.fit_agent(data, agent.model, checkpoint=path, **settings)
    assert path.exists()
    with pytest.raises(ma.InputError, match="made with other"):
        ma.fit_agent(data, agent.model, checkpoint=path, **{**settings, "seeds": (0, 2)})
    resumed = ma.fit_agent(data, agent.model, checkpoint=path, **settings)
    assert not path.exists()
    for first, second in zip(whole, resumed, strict=True):
        for one, other in zip(jax.tree.leaves(first.policy), jax.tree.leaves(second.policy), strict=True):
            np.testing.assert_array_equal(one, other)


def test_goal_inputs_that_are_not_there_get_a_sentence(agent: ma.Agent, data) -> None:
    with pytest.raises(ma.InputError, match=r"goal_inputs are .*, but a state has the numbers 0 to 1"):
        ma.fit_agent(data, agent.model, goal_inputs=(0, 2))


def test_acting_computes_what_the_trained_policy_does(agent: ma.Agent, data: ma.Trajectories) -> None:
    states, subgoals = data.states[:20], data.states[20:40]
    expected = agent.policy(jax.numpy.asarray(states), jax.numpy.asarray(subgoals))
    np.testing.assert_allclose(agent._policy(states, subgoals), expected, rtol=1e-4, atol=1e-5)
