"""What a new user with a log tries first, and what used to end the attempt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction._remaining import Progress
from minaction.cli import main
from minaction.trajectories import TableOptions

RANDOM = np.random.default_rng(0)
WALKS = [np.cumsum(RANDOM.normal(size=(25, 2)), axis=0) for _ in range(22)]
TINY = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
SMALL = [
    "--objective",
    "maddist",
    "--steps",
    "2",
    "--evaluations",
    "1",
    "--set",
    "encoder.hidden=8",
    "encoder.latent=8",
]


def fit(data: Any, **options: Any) -> ma.DistanceModel:
    return ma.fit(data, TINY, steps=1, progress=False, **options)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A messy log: an unusual name for the clock, a column of text, a blank cell."""
    lines = ["run_id,stamp,x,y,mode"]
    for k, walk in enumerate(WALKS):
        for t, (x, y) in enumerate(walk):
            cell = "" if (k, t) == (3, 7) else f"{x:.4f}"
            lines.append(f"run-{k},{0.25 * t:.2f},{cell},{y:.4f},auto")
    (tmp_path / "log.csv").write_text("\n".join(lines))
    return tmp_path / "log.csv"


def test_a_clock_of_another_name_is_not_a_state(log):
    data = ma.read(log, episode="run_id", drop=["mode"], missing="split")
    assert data.columns == ("x", "y")
    assert data.time_unit == "s"
    assert data.times is not None


def test_a_counter_that_is_a_state_is_named(tmp_path):
    rows = [f"{k},{t},{x:.3f}" for k, walk in enumerate(WALKS) for t, (x, _) in enumerate(walk)]
    (tmp_path / "log.csv").write_text("\n".join(["episode,ticks,x", *rows]))
    with pytest.warns(UserWarning, match="'ticks' only grows"):
        ma.read(tmp_path / "log.csv")


def test_text_and_blanks_are_named_with_the_way_out(log, capsys):
    assert main(["data", "info", str(log), "--episode", "run_id"]) == 2
    assert "--drop mode" in capsys.readouterr().err
    assert main(["data", "info", str(log), "--episode", "run_id", "--drop", "mode"]) == 2
    said = capsys.readouterr().err
    assert "1 value is missing, in 'x' (1)" in said
    assert "--missing split" in said
    assert main(["data", "info", str(log), "--episode", "run_id", "--drop", "mode", "--missing", "drop"]) == 0


def test_seconds_are_called_seconds(log, tmp_path, capsys):
    columns = ["--episode", "run_id", "--drop", "mode", "--missing", "split"]
    assert main(["train", str(log), *columns, *SMALL, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["distance", str(tmp_path / "run"), "--from", "0", "0", "--to", "1", "1"]) == 0
    said = capsys.readouterr().out
    assert " s" in said
    assert "action" not in said


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_are_learned_from(library):
    module = pytest.importorskip(library)
    columns = {
        "episode": np.repeat(np.arange(len(WALKS)), 25),
        "time": np.tile(0.5 * np.arange(25), len(WALKS)),
        "x": np.concatenate(WALKS)[:, 0],
        "y": np.concatenate(WALKS)[:, 1],
    }
    frame = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    made = getattr(module, frame)(columns)
    model = fit(made)
    assert model.columns == ("x", "y")
    assert model.unit == "s"
    data = ma.Trajectories.from_dataframe(made, states=["y"], time="time")
    np.testing.assert_array_equal(data.states[:, 0], columns["y"])


def test_pandas_dates_and_missing_values():
    pandas = pytest.importorskip("pandas")
    stamps = pandas.date_range("2026-01-01", periods=10, freq="250ms")
    frame = pandas.DataFrame({"run": ["a"] * 10, "when": stamps, "x": [0.0, 1, 2, None, 4, 5, 6, 7, 8, 9]})
    data = ma.Trajectories.from_dataframe(frame, episode="run", time="when", missing="split")
    assert data.lengths.tolist() == [3, 6]
    assert data.time_unit == "s"
    assert data.times is not None
    np.testing.assert_allclose(np.diff(data.times)[:2], 0.25, atol=1e-6)


def test_dictionaries_and_arrays_of_episodes_are_learned_from():
    states = np.stack(WALKS)
    offsets = 25 * np.arange(len(WALKS) + 1)
    for given in (
        states,
        list(states),
        {"states": states.reshape(-1, 2), "offsets": offsets},
        {"observations": states},
    ):
        assert fit(given).state_shape == (2,)


def test_one_episode_is_not_taken_for_five_hundred():
    with pytest.raises(ma.InputError, match="one episode"):
        ma.Trajectories.from_episodes(np.random.default_rng(0).random((500, 2)))  # type: ignore[arg-type]


def test_the_callers_arrays_stay_writeable():
    walks = [walk.copy() for walk in WALKS]
    flat = np.concatenate(walks)
    ma.Trajectories.from_episodes(walks)
    ma.Trajectories.from_flat(flat)
    walks[0][0] = flat[0] = 7.0


@pytest.mark.parametrize("thing", [3, object(), None, {1: 2}, "no-such-task"])
def test_what_is_no_data_is_refused_in_a_sentence(thing):
    with pytest.raises(ma.InputError):
        fit(thing)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_questions_about_nan_are_refused(bad):
    model = fit(WALKS)
    for ask in (
        lambda: model.distance([bad, 0.0], [0.0, 0.0]),
        lambda: model.pairwise(WALKS[0], [[0.0, bad]]),
        lambda: model.nearest([0.0, bad], WALKS[0]),
        lambda: model.remaining(WALKS[0], [bad, 0.0]),
        lambda: model.coverage([bad, 0.0]),
    ):
        with pytest.raises(ma.InputError, match="NaN or infinity"):
            ask()


def test_wrong_environments_are_refused_in_a_sentence():
    import gymnasium

    model = fit(WALKS)
    with pytest.raises(ma.InputError, match=r"not one of Gymnasium's; make it with gymnasium\.make"):
        ma.ShapedReward("CartPole-v1", model, np.zeros(4))  # type: ignore[arg-type]
    with pytest.raises(ma.InputError, match="trained on states of 2 numbers"):
        ma.ShapedReward(gymnasium.make("CartPole-v1"), model, np.zeros(4))
    with pytest.raises(ma.InputError, match="NaN"):
        ma.ShapedReward(gymnasium.make("MountainCar-v0"), model, [np.nan, 0.0])


def test_hesitation_is_no_progress():
    """An episode that stands still half of its time: by its own clock it goes on, by what remains it does not."""
    remaining = np.concatenate([np.arange(20.0, 10.0, -1), np.full(20, 10.0), np.arange(10.0, -1.0, -1)])
    along = Progress(np.arange(len(remaining), dtype=float), remaining)
    linear = along.times / along.times[-1]
    assert linear[28] - linear[12] > 0.35
    assert along.done[28] - along.done[12] == 0
    assert along.wasted[12:28].all()
    assert not along.wasted[:8].any()


def test_own_files_in_a_suite_and_in_a_picture(log, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(
        'tasks = ["log.csv"]\nsteps = 2\nseeds = 1\n[methods.maddist]\n'
        'settings = { "encoder.hidden" = [8], "encoder.latent" = 8 }\n'
        '[tables."log.csv"]\nepisode = "run_id"\nstates = ["x", "y"]\nmissing = "drop"\n'
    )
    assert main(["suite", "grid.toml", "--dry-run"]) == 0
    from minaction.suite import own_grid

    (run,) = own_grid(Path("grid.toml")).runs
    assert run.table == TableOptions(episode="run_id", states=("x", "y"), missing="drop")
    assert run.held_out == 0.1
    columns = ["--episode", "run_id", "--states", "x", "y", "--missing", "drop"]
    assert main(["data", "draw", "log.csv", "drawn.png", *columns]) == 0
    assert Path("drawn.png").stat().st_size > 10_000
    assert main(["data", "draw", "log.csv", "other.png", *columns[:4], "--missing", "drop"]) == 2
    assert "it takes two numbers" in capsys.readouterr().err
    Path("bad.toml").write_text('tasks = ["lg.csv"]\n[methods.maddist]\n')
    assert main(["suite", "bad.toml", "--dry-run"]) == 2
    assert not Path("other.png").exists()


@pytest.mark.parametrize("scale", [1.0, 255.0])
def test_images_asked_about_are_scaled_as_those_recorded(scale):
    frames = np.random.default_rng(0).uniform(size=(3, 10, 8, 8, 3))
    model = ma.fit(frames, "maddist", steps=1, progress=False)
    if scale == 1.0:
        assert model.distance(frames[0, 0], frames[0, 1]).shape == ()
    else:
        with pytest.raises(ma.InputError, match=r"numbers up to 25.*, but those recorded none beyond .*; scale it"):
            model.distance(scale * frames[0, 0], frames[0, 1])
