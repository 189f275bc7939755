"""OGBench's protocol in OGBench's own environment, from the command line too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.sparse import csr_array

import minaction as ma
from minaction.agents import AgentEvaluation
from minaction.agents._evaluation import EpisodeResult, _foreseen, _least_steps, _together, run_episode
from minaction.cli import main
from minaction.mazes._recipes import OGBENCH_RECIPES

MAZE = "pointmaze-medium-v0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hastily trained agent of the ball; its roadmap is as good as any."""
    out = tmp_path_factory.mktemp("agents")
    data = OGBENCH_RECIPES["ogbench-pointmaze-medium-stitch"].collect(0, 150, keep_actions=True)
    model = ma.fit(data, ma.MadDist(encoder=ma.MLP(hidden=(16,), latent=16)), steps=5, progress=False, held_out=0.0)
    recorded = ma.recorded_distance(data, max_nodes=8000)
    settings = {"hidden": (128, 128), "batch_size": 256, "sharpness": 0.0}
    agent = ma.fit_agent(data, model, steps=800, recorded=recorded, progress=False, **settings)
    agent.lookahead = 8.0  # an untrained distance does not know how far a stretch leads
    agent.save(out / "agent-seed0.safetensors")
    return out


def evaluated(folder: Path, workers: int) -> AgentEvaluation:
    agent = ma.Agent.load(folder / "agent-seed0.safetensors")
    return ma.evaluate_agent(agent, MAZE, tasks=(3,), episodes=3, seed=1, workers=workers)


def test_the_ball_gets_there_and_the_same_seed_gives_the_same_episodes(folder: Path) -> None:
    once, again = evaluated(folder, 1), evaluated(folder, 2)
    assert once.total.successes == once.total.episodes == 3
    assert 0.9 < once.total.of_least < 2.0
    for first, second in zip(once.episodes, again.episodes, strict=True):
        np.testing.assert_array_equal(first.path, second.path)


def test_the_command_leaves_numbers_and_a_film(folder: Path, tmp_path: Path) -> None:
    film = tmp_path / "episode.gif"
    options = ["--tasks", "3", "--episodes", "1", "--jobs", "1", "--gif", str(film)]
    assert main(["agent", "evaluate", str(folder), MAZE, *options]) == 0
    found = json.loads((folder / f"evaluation-{MAZE}.json").read_text())["agent-seed0"]
    assert found["total"]["episodes"] == 1
    assert found["tasks"][0]["task"] == 3
    with Image.open(film) as picture:
        assert getattr(picture, "n_frames", 1) > 10


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("agent", "evaluate", "nowhere", MAZE), "There is no file nowhere"),
        (("agent", "evaluate", "{folder}"), "needs an environment of OGBench"),
        (("agent", "evaluate", "{folder}", "antmaze-medium-v0"), "observations of shape (29,)"),
        (("agent", "evaluate", "{folder}", "nomaze-v0"), "OGBench has no environment 'nomaze-v0'"),
        (("agent", "evaluate", "{folder}", MAZE, "--tasks", "6"), "numbered 1 to 5"),
        (("agent", "evaluate", "{folder}", MAZE, "--gif", "film.png"), "written to a .gif file"),
        (("agent", "evaluate", "{folder}", MAZE, "--jobs", "0"), "0 processes to evaluate in (--jobs)"),
        (("agent", "evaluate", "{folder}", MAZE, "--jobs", "-2"), "-2 processes to evaluate in (--jobs)"),
        (("agent", "evaluate", "{folder}", MAZE, "--first-seed", "-1"), "The seed (--first-seed) is -1"),
        (("agent", "train", "cliffwalking", "--seeds", "0"), "at least one seed"),
        (("agent", "train", "cliffwalking", "--first-seed", "-1"), "whole numbers from 0"),
        (("agent", "train", "cliffwalking", "--steps", "0", "--out", "{folder}/not"), "not for 0"),
        (
            ("agent", "train", "cliffwalking", "--out", "{folder}/agent-seed0.safetensors"),
            "is a file, so that no agents",
        ),
        (("agent", "train", "{folder}/agent-seed0.safetensors/x.npz"), "There is no file"),
        (("agent", "train", "cliffwalking", "--goal-inputs", "7", "--out", "{folder}/not"), "the numbers 0 to 1"),
    ],
)
def test_what_cannot_be_gets_one_sentence(folder: Path, words: tuple[str, ...], sentence: str, capsys) -> None:
    assert main([word.format(folder=folder) for word in words]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert "training" not in printed.err + printed.out  # what can be refused at once is
    assert not (folder / "not").exists()


@pytest.mark.parametrize("method", ["roadmap", "gcbc", "qrl"])
@pytest.mark.parametrize(
    ("recorded", "sentence"),
    [
        ({"actions": np.zeros(40)}, "not images or others of shape 16 x 16 x 3"),
        ({}, "the recording has none; record them"),
    ],
)
def test_what_no_agent_learns_from_is_refused_before_a_distance_is_trained(
    tmp_path: Path, capsys, method: str, recorded: dict[str, np.ndarray], sentence: str
) -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 16, 16, 3), np.uint8)
    arrays: dict[str, Any] = {"observations": images, "offsets": np.array([0, 20, 40]), **recorded}
    np.savez(tmp_path / "recording.npz", **arrays)
    words = ["agent", "train", str(tmp_path / "recording.npz"), "--out", str(tmp_path / "agents")]
    assert main([*words, "--steps", "2", "--method", method]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert "training" not in printed.err + printed.out
    assert not (tmp_path / "agents").exists()


def test_a_goal_that_was_never_recorded_is_a_failure_of_its_own(folder: Path) -> None:
    agent = ma.Agent.load(folder / "agent-seed0.safetensors")
    assert agent.roadmap is not None
    start, goal = agent.roadmap.states[[0, 500]]
    assert _foreseen(agent, start, goal) == ""
    assert _foreseen(agent, start, goal + 100) == "goal not recorded"
    alone: Any = replace(agent.roadmap, graph=csr_array(agent.roadmap.graph.shape, dtype=np.float32))
    cut = ma.Agent(agent.model, alone, agent.policy, agent.architecture, agent.units, agent.lookahead)
    assert _foreseen(cut, start, goal) == "no path"
    straight = ma.Agent(agent.model, None, agent.policy, agent.architecture, agent.units, agent.lookahead)
    assert _foreseen(straight, start, goal + 100) == ""
    with pytest.warns(UserWarning, match="from anything recorded"):
        assert run_episode(agent, Fixed(start, goal + 100), 1, 0).failure == "goal not recorded"


def test_every_episode_begins_as_if_the_agent_were_new(folder: Path) -> None:
    agent = ma.Agent.load(folder / "agent-seed0.safetensors")
    assert agent.roadmap is not None
    world = Fixed(*agent.roadmap.states[[0, 500]])
    for _ in range(2):
        assert run_episode(agent, world, 1, 0).failure == "local policy"
        assert (world.taken[-1] == agent.towards(world.start, agent.way(world.start, world.goal).subgoal)).all()


class Fixed:
    """An environment that no action changes, with episodes of one step."""

    action_space = SimpleNamespace(seed=lambda seed: None)

    def __init__(self, start: np.ndarray, goal: np.ndarray) -> None:
        self.start, self.goal, self.taken = start, goal, list[Any]()

    def reset(self, **_: Any) -> tuple[np.ndarray, dict[str, Any]]:
        return self.start, {"goal": self.goal}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.taken.append(action)
        return self.start, 0.0, False, True, {"success": False}


def test_failures_are_counted_and_only_successes_have_steps() -> None:
    path = np.array([[0.0, 0.0], [4.0, 0.0]])
    found = [
        EpisodeResult(1, True, 22, "", path),
        EpisodeResult(1, False, 1000, "local policy", path),
        EpisodeResult(2, False, 1000, "no path", path),
    ]
    least = _least_steps(MAZE, found)
    assert least[0] == pytest.approx(20.0)
    total = _together(0, found, least)
    assert (total.successes, total.mean_steps, total.failures) == (1, 22.0, {"local policy": 1, "no path": 1})
    assert total.of_least == pytest.approx(1.1)
    low, high = total.interval
    z, n, p = 1.959964, 3, 1 / 3  # Wilson, 1927
    middle, half = (
        (p + z**2 / (2 * n)) / (1 + z**2 / n),
        z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)),
    )
    assert (low, high) == pytest.approx((middle - half, middle + half), rel=1e-4)
    assert np.isnan(_together(2, found, least).mean_steps)
