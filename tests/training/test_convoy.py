"""Runs side by side in one program: what each leaves on disk, and how they go on, together or apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from minaction._model import DistanceModel
from minaction.errors import InputError
from minaction.training._run import RunConfig, RunDirectory
from minaction.training._session import Convoy, Member, News, Session
from minaction.trajectories._dataset import Trajectories

SETTINGS = {"stages": "16,8", "batch_size": 16, "constraint_batch_size": 16}
MEDIUM, LARGE = (f"ogbench-pointmaze-{size}-stitch" for size in ("medium", "large"))


@pytest.fixture
def two(tmp_path: Path, line_walks: Trajectories) -> list[RunConfig]:
    """Two runs on files of different lengths, with two seeds and with one."""
    line_walks.save(tmp_path / "walks.safetensors")
    Trajectories.from_episodes([line_walks.episode(k) * 3 + 100 for k in range(7)]).save(tmp_path / "far.safetensors")
    first = RunConfig(str(tmp_path / "walks.safetensors"), "maddist", SETTINGS, 60, (0, 4), 3)
    return [first, replace(first, data=str(tmp_path / "far.safetensors"), seeds=(4,))]


def folders(parent: Path, configs: list[RunConfig]) -> list[RunDirectory]:
    return [RunDirectory.create(parent / str(k), config) for k, config in enumerate(configs)]


def side_by_side(runs: list[RunDirectory], until: int | None = None) -> list[News]:
    """Train runs to the end, or until they all stand at a step."""
    heard = []
    for news in Convoy([Member(run) for run in runs]).train():
        heard.append(news)
        if news.step == until and not news.rows:  # checkpoints are written before the step is told
            break
    return heard


def alone(run: RunDirectory) -> None:
    Session(run).train(lambda step, note: None)


def files(run: RunDirectory) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.path.iterdir() if path.name != "results.json"}


def assert_alike(first: RunDirectory, second: RunDirectory) -> None:
    """The same files, and the same distances but for rounding."""
    assert files(first).keys() == files(second).keys()
    assert first.finished
    assert second.finished
    assert [(row["step"], row["seed"]) for row in first.metrics()] == [
        (row["step"], row["seed"]) for row in second.metrics()
    ]
    for k, seed in enumerate(first.config.seeds):
        models = [DistanceModel.load(run.model_path(seed)) for run in (first, second)]
        assert models[0].provenance == models[1].provenance
        states = np.random.default_rng(0).uniform(-5, 5, (50, models[0].state_size))
        expected = models[0].pairwise(states, states)
        np.testing.assert_allclose(models[1].pairwise(states, states), expected, atol=0.02 * expected.max())
        for name, found in first.results()["agreement"][k].items():
            assert second.results()["agreement"][k][name]["pearson"] == pytest.approx(found["pearson"], abs=0.01)


def test_tasks_side_by_side_leave_what_each_would_leave_alone(tmp_path: Path) -> None:
    configs = [RunConfig(MEDIUM, "maddist", SETTINGS, 40, (0, 1), 2, episodes=3)]
    configs.append(replace(configs[0], data=LARGE, seeds=(1,)))
    together, apart = folders(tmp_path / "together", configs), folders(tmp_path / "apart", configs)
    heard = side_by_side(together)
    for first, second in zip(apart, together, strict=True):
        alone(first)
        assert_alike(first, second)
        own = [news for news in heard if news.run is second]
        assert [news.step for news in own if news.rows] == [20, 40]
        assert own[-1].results == second.results()
        assert second.results()["steps_per_second"] > 0
        for seed in second.config.seeds:
            assert DistanceModel.load(second.model_path(seed)).provenance.data == second.config.data


def test_an_interrupted_convoy_goes_on_together_to_the_bit_and_apart_to_rounding(
    tmp_path: Path, two: list[RunConfig]
) -> None:
    undisturbed, resumed, split = (folders(tmp_path / name, two) for name in ("undisturbed", "resumed", "split"))
    side_by_side(undisturbed)
    for runs in (resumed, split):
        side_by_side(runs, until=20)
        assert [run.step for run in runs] == [20, 20]
    side_by_side(resumed)
    for first, second in zip(undisturbed, resumed, strict=True):
        assert files(first) == files(second)
    for first, second in zip(undisturbed, split, strict=True):
        alone(second)
        assert_alike(first, second)


def test_runs_begun_alone_go_on_side_by_side(tmp_path: Path, two: list[RunConfig]) -> None:
    begun, undisturbed = folders(tmp_path / "begun", two), folders(tmp_path / "undisturbed", two)
    for run in begun:
        side_by_side([run], until=40)
    side_by_side(begun)
    for first, second in zip(undisturbed, begun, strict=True):
        alone(first)
        assert_alike(first, second)


def test_one_that_diverges_is_no_harm_to_the_other(tmp_path: Path, line_walks: Trajectories) -> None:
    configs = []
    for name, pace in (("calm", 1.0), ("wild", 1e-30)):  # a distance of one is 1e30 times too long
        times = np.concatenate([pace * np.arange(length) for length in line_walks.lengths])
        Trajectories.from_flat(line_walks.states, line_walks.offsets, times).save(tmp_path / f"{name}.safetensors")
        configs.append(RunConfig(str(tmp_path / f"{name}.safetensors"), "maddist", SETTINGS, 20, (0,), 2))
    calm, wild = folders(tmp_path / "together", configs)
    heard = side_by_side([calm, wild])
    errors = {news.run.path: str(news.error) for news in heard if news.error is not None}
    assert errors.keys() == {wild.path}
    assert "lower the learning rate" in errors[wild.path]
    assert not wild.finished
    reference = RunDirectory.create(tmp_path / "alone", configs[0])
    alone(reference)
    assert_alike(reference, calm)


def test_what_cannot_go_side_by_side_is_refused(tmp_path: Path, two: list[RunConfig]) -> None:
    runs = folders(tmp_path / "runs", two)
    side_by_side(runs[:1], until=20)
    with pytest.raises(InputError, match="different steps"):
        side_by_side(runs)
    longer = RunDirectory.create(tmp_path / "longer", replace(two[1], steps=80))
    with pytest.raises(InputError, match="different settings"):
        side_by_side([runs[1], longer])
    with pytest.raises(InputError, match="different sizes"):
        side_by_side(folders(tmp_path / "sizes", [two[1], replace(two[1], data=MEDIUM, episodes=2)]))
