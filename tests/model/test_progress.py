"""Remaining time, share done and wasted stretches, on a made log with pauses and detours of which all is known."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
from scipy.stats import rankdata

import minaction as ma
from minaction._remaining import Progress
from minaction.cli import main

GOAL, SPEED, DT = np.array([1.0, 1.0]), 0.5, 0.1


def walk(rng: np.random.Generator, disturbed: bool) -> tuple[np.ndarray, np.ndarray]:
    """States from somewhere to the goal at full speed, and which of them belong to a pause or a detour."""
    here, states, wasted = rng.uniform(-1, 0.2, 2), [], []

    def go(to: np.ndarray, useless: bool) -> None:
        nonlocal here
        way = to - here
        count = max(1, int(np.linalg.norm(way) / (SPEED * DT)))
        for k in range(count):
            states.append(here + way * k / count)
            wasted.append(useless)
        here = to

    if not disturbed:
        go(GOAL, False)
    else:
        middle = here + rng.uniform(0.3, 0.6) * (GOAL - here)
        go(middle, False)
        if rng.random() < 0.5:
            states.extend([here + rng.normal(0, 0.003, 2) for _ in range(15)])
            wasted.extend([True] * 15)
        else:
            away = (here - GOAL) / np.linalg.norm(here - GOAL)
            go(here + 0.4 * away, True)
            go(middle, True)
        go(GOAL, False)
    return np.array([*states, GOAL]), np.array([*wasted, False])


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    ranks, positive = rankdata(scores), labels.sum()
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


@functools.cache
def learned() -> tuple[ma.DistanceModel, list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(0)
    walks = [walk(rng, disturbed=k % 2 == 0) for k in range(60)]
    episodes, wasted = [states for states, _ in walks], [mask for _, mask in walks]
    times = [DT * np.arange(len(states)) for states in episodes]
    data = ma.Trajectories.from_episodes(episodes, times, columns=["x", "y"], time_unit="s")
    objective = ma.MadDist(encoder=ma.MLP(hidden=(64, 64), latent=32), learning_rate=1e-3)
    model = ma.fit(data, objective, steps=1500, progress=False)
    model.save("/tmp/minaction-test-progress.safetensors")
    return model, episodes, wasted


def test_wasted_stretches_are_told_from_useful_ones():
    model, episodes, wasted = learned()
    data = ma.Trajectories.from_episodes(episodes, [DT * np.arange(len(one)) for one in episodes])
    found = [model.progress(episode, GOAL) for episode in data]
    labels = np.concatenate(wasted)
    score = auroc(np.concatenate([one.waste for one in found]), labels)
    linear = auroc(np.concatenate([np.linspace(0, 1, len(one.times)) for one in found]), labels)
    assert score > 0.95, (score, linear)
    assert abs(linear - 0.5) < 0.2
    truth = np.concatenate([np.linalg.norm(episode - GOAL, axis=1) / SPEED for episode in episodes])
    remaining = np.concatenate([one.remaining for one in found])
    assert np.corrcoef(rankdata(remaining), rankdata(truth))[0, 1] > 0.95
    for one in found:
        assert (np.diff(one.done) >= 0).all()
        assert 0 <= one.done.min() <= one.done.max() <= 1


def test_a_pause_is_found_where_it_is():
    remaining = np.concatenate([np.arange(20.0, 10.0, -1), np.full(10, 10.0), np.arange(10.0, -1, -1)])
    along = Progress(np.arange(len(remaining), dtype=float), remaining)
    assert along.finished
    assert along.lost == 10
    (stretch,) = along.stretches
    assert abs(stretch.start - 10) <= 2
    assert abs(stretch.stop - 21) <= 2
    assert stretch.lost == pytest.approx(10, abs=1.5)
    assert not Progress(along.times[:15], remaining[:15]).finished


def test_the_nearest_of_several_goals_counts():
    model, episodes, _ = learned()
    goals = np.array([[1.0, 1.0], [-0.5, -0.5]])
    nearest = model.remaining(episodes[0], goals)
    np.testing.assert_allclose(nearest, model.pairwise(episodes[0], goals).min(axis=1), rtol=1e-4, atol=1e-4)
    ends = ma.Trajectories.from_episodes(episodes[:3])
    assert model.remaining(episodes[0], ends).shape == (len(episodes[0]),)
    assert model.remaining(episodes[0][0], GOAL).shape == ()
    with pytest.raises(ma.InputError):
        model.remaining(episodes[0], [1.0, 2.0, 3.0])
    with pytest.raises(ma.InputError):
        model.progress(np.zeros((0, 2)), GOAL)


def test_an_episode_has_one_goal_the_one_that_it_comes_nearest_to():
    model, episodes, _ = learned()
    states = episodes[1]
    passed = states[len(states) // 4 : len(states) // 4 + 2].mean(axis=0)  # between two rows, so that none is there
    goals = np.array([passed, GOAL, -GOAL])
    to_goal = model.remaining(states, GOAL)
    assert (model.remaining(states, goals) < to_goal - DT).any()  # some other goal is nearer to some states
    recorded = ma.Trajectories.from_episodes([states], [DT * np.arange(len(states))], time_unit="s")
    np.testing.assert_allclose(model.progress(recorded[0], goals).remaining, to_goal, atol=1e-4)
    several = ma.Trajectories.from_episodes([states, states[: len(states) // 2]])
    there, stopped = np.split(model.remaining(several, goals), several.offsets[1:-1])
    np.testing.assert_allclose(there, to_goal, atol=1e-4)
    np.testing.assert_allclose(stopped, model.remaining(several[1].states, passed), atol=1e-4)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_writes_a_row_for_every_state(tmp_path, capsys, monkeypatch, ending):
    _, episodes, _ = learned()
    monkeypatch.chdir(tmp_path)
    times = [DT * np.arange(len(one)) for one in episodes]
    ma.Trajectories.from_episodes(episodes, times, time_unit="s").save("log.safetensors")
    model = "/tmp/minaction-test-progress.safetensors"
    assert main(["progress", model, "log.safetensors", "--goal", "1", "1", "--out", f"out.{ending}"]) == 0
    assert "60 of 60 finished; times in s" in capsys.readouterr().out
    if ending == "csv":
        with open("out.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == sum(map(len, episodes))
        assert list(rows[0]) == [
            *("index", "episode_index", "frame_index", "time", "remaining", "done", "waste", "wasted"),
            "progress_sparse",
        ]
    assert main(["progress", model, "log.safetensors", "--out", "out.txt"]) == 2
    assert main(["progress", model]) == 2


def _log_with_failures(folder: Path) -> list[int]:
    """A log of 30 walks to the goal, of which every fifth stops half way; which ones do."""
    rng = np.random.default_rng(5)
    walks = [walk(rng, disturbed=k % 3 == 0)[0] for k in range(30)]
    failed = list(range(0, 30, 5))
    for k in failed:
        walks[k] = walks[k][: len(walks[k]) // 2]
    times = [DT * np.arange(len(one)) for one in walks]
    ma.Trajectories.from_episodes(walks, times, time_unit="s").save(folder / "log.safetensors")
    return failed


def test_failures_are_found_without_a_goal_and_ranked_last(tmp_path, capsys, monkeypatch):
    learned()
    monkeypatch.chdir(tmp_path)
    failed = _log_with_failures(tmp_path)
    command = ["progress", "/tmp/minaction-test-progress.safetensors", "log.safetensors", "--figures", "drawn"]
    assert main([*command, "--out", "out.csv"]) == 0
    said = capsys.readouterr().out
    assert f"likely failures (6): {', '.join(map(str, failed))}" in said
    with open("out-episodes.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(int(row["episode_index"]) for row in rows[-6:]) == failed
    assert {row["finished"] for row in rows[:-6]} == {"1"}
    assert all(int(row["finished_at"]) > 0 for row in rows[:-6])
    assert len(list(Path("drawn").glob("episode-*.png"))) == 30


def test_the_parquet_is_what_lerobot_weighs_demonstrations_by(tmp_path, monkeypatch):
    learned()
    monkeypatch.chdir(tmp_path)
    _log_with_failures(tmp_path)
    out = "sarm_progress.parquet"
    assert main(["progress", "/tmp/minaction-test-progress.safetensors", "log.safetensors", "--out", out]) == 0
    table = parquet.read_table(out)
    assert {"index", "episode_index", "frame_index", "progress_sparse"} <= set(table.column_names)
    assert table["index"].to_pylist() == list(range(len(table)))
    progress = table["progress_sparse"].to_numpy()
    assert ((progress >= 0) & (progress <= 1)).all()
    rabc = pytest.importorskip("lerobot.utils.rabc")  # needs an older PyTorch, and is therefore not among the extras
    weights = rabc.RABCWeights(out, chunk_size=5)
    assert len(weights.progress_lookup) == len(table)
    found, _ = weights.compute_batch_weights({"index": pytest.importorskip("torch").arange(len(table))})
    assert np.isfinite(np.asarray(found)).all()


def test_goals_are_given_one_after_the_other(tmp_path, capsys, monkeypatch):
    learned()
    monkeypatch.chdir(tmp_path)
    _log_with_failures(tmp_path)
    command = ["progress", "/tmp/minaction-test-progress.safetensors", "log.safetensors", "--goal"]
    assert main([*command, "1", "1", "-0.5", "-0.5"]) == 0
    assert "anything recorded" not in capsys.readouterr().out
    assert main([*command, "50", "50"]) == 0
    assert "the goal is" in capsys.readouterr().out
    assert main([*command, "1", "here"]) == 2
    assert "'here' is not a number" in capsys.readouterr().err
    assert main([*command, "1", "1", "-0.5"]) == 2
    assert "A goal has 2 numbers, but 3 were given" in capsys.readouterr().err


def test_an_episode_of_a_single_row_wastes_nothing():
    alone = Progress(np.array([4.0]), np.array([2.5], np.float32), "s")
    assert alone.stretches == ()
    assert alone.waste.tolist() == [0.0]
    assert repr(alone) == "Progress(0% done, 2.5 s to go, 0 s lost in 0 stretches)"


def test_several_episodes_at_once_are_refused_with_the_way_out():
    model, episodes, _ = learned()
    with pytest.raises(ma.InputError, match=r"give data\[0\]"):
        model.progress(ma.Trajectories.from_episodes(episodes))  # type: ignore[arg-type]
