"""An agent in CliffWalking: from random episodes to the goal, and through a file."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import minaction as ma
from minaction.agents._evaluation import check_spaces


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
        (np.array([np.nan, 0.0]), np.zeros(2), "The observation holds NaN"),
    ],
)
def test_bad_states_get_a_sentence(agent: ma.Agent, observation, goal, sentence: str) -> None:
    with pytest.raises(ma.InputError, match=sentence):
        agent.act(observation, goal)


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
    with pytest.raises(ma.InputError, match="Cannot choose 0 landmarks"):
        ma.landmarks(data, agent.model, 0)


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
