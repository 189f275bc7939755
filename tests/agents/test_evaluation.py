"""OGBench's protocol in OGBench's own environment, from the command line too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import minaction as ma
from minaction.agents import AgentEvaluation
from minaction.agents._evaluation import EpisodeResult, _least_steps, _together
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
        (("agent", "train", "cliffwalking", "--seeds", "0"), "at least one seed"),
        (("agent", "train", "cliffwalking", "--goal-inputs", "7", "--out", "{folder}/not"), "the numbers 0 to 1"),
    ],
)
def test_what_cannot_be_gets_one_sentence(folder: Path, words: tuple[str, ...], sentence: str, capsys) -> None:
    assert main([word.format(folder=folder) for word in words]) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert "training" not in printed.err + printed.out  # what can be refused at once is
    assert not (folder / "not").exists()


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
