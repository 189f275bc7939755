"""The mistakes of newcomers are caught in words, and data that is right is left in peace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main
from minaction.validation import refuse_or_warn

RANDOM = np.random.default_rng(0)


def _walk(length: int = 40) -> np.ndarray:
    return np.clip(np.cumsum(RANDOM.choice([-1, 1], length)) + 5, 0, 9)[:, None].astype(float)


def _seen(places: np.ndarray) -> np.ndarray:
    """A dark column at each place, before nothing: opaque where it is, transparent elsewhere."""
    images = np.zeros((len(places), 8, 10, 4), np.uint8)
    images[np.arange(len(places)), :, places[:, 0].astype(int)] = (60, 40, 30, 255)
    return images


def _grid_ids(length: int = 60, width: int = 12, height: int = 4) -> np.ndarray:
    row, column, ids = int(RANDOM.integers(height)), int(RANDOM.integers(width)), []
    for _ in range(length):
        ids.append(row * width + column)
        down, across = [(0, 1), (1, 0), (0, -1), (-1, 0)][RANDOM.integers(4)]
        row, column = min(max(row + down, 0), height - 1), min(max(column + across, 0), width - 1)
    return np.array(ids, dtype=float)[:, None]


_OTHER_IDS = RANDOM.permutation(48)
MISTAKES: dict[str, tuple[Sequence[np.ndarray], str]] = {
    "two states": ([RANDOM.integers(0, 2, 50).astype(float)[:, None] for _ in range(20)], "only 2 different states"),
    "noise": ([RANDOM.normal(size=(50, 3)) for _ in range(20)], "look like noise"),
    "time as a state": ([np.c_[_walk(), np.arange(40)] for _ in range(20)], "number 2 of the states only ever grows"),
    "a countdown": (
        [np.c_[40.0 - np.arange(40), _walk()] for _ in range(20)],
        "number 1 of the states only ever falls",
    ),
    "ids of a grid": ([_grid_ids() for _ in range(20)], "if they are ids"),
    "ids without order": ([_OTHER_IDS[_grid_ids().astype(int)] for _ in range(20)], "if they are ids"),
    "an outcome as a state": (
        [np.c_[_walk(), np.full(40, k % 2)] for k in range(20)],
        "number 2 of the states never changes inside an episode",
    ),
    "a number for missing ones": (
        [np.c_[_walk(), np.where(np.arange(40) == (7 if k == 3 else -1), -9999.0, _walk()[:, 0])] for k in range(20)],
        "number 2 of the states is -9999 once, but hardly ever below 0 or above 9",
    ),
    "few steps": ([_walk(20)], "only 19 steps were recorded"),
    "no overlap": (
        [100.0 * k + np.cumsum(RANDOM.normal(size=(50, 2)), 0) for k in range(20)],
        "recordings hardly overlap: 0% of the states",
    ),
    "images of two ranges": (
        [RANDOM.uniform(0, 255 if k == 3 else 1, (30, 8, 8, 3)) for k in range(20)],
        "5.0% of the images hold numbers up to 255",
    ),
    "images with transparency": (
        [_seen(_walk()) for _ in range(20)],
        "the images have four channels",
    ),
    "no shared states": ([_walk() + 100.0 * k for k in range(20)], "recordings hardly overlap: 0% of the states"),
    "a battery": (
        [np.c_[_walk(160), 90 - 0.1 * np.arange(160) + 0.03 * RANDOM.normal(size=160)] for _ in range(20)],
        "number 2 of the states only ever falls, but for noise",
    ),
    "a sensor that fails": (
        [np.cumsum(RANDOM.normal(size=(50, 2)), 0) + np.outer(np.arange(50) == 7, [1000.0, 0.0]) for _ in range(20)],
        "number 1 of the states jumps away and straight back in 20 of 1000 rows, row 7 for one",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said(name: str) -> None:
    episodes, said = MISTAKES[name]
    found = ma.check_data(ma.Trajectories.from_episodes(episodes))
    assert len(found) == 1
    assert said in found[0]


def test_a_column_is_called_by_its_name() -> None:
    episodes, _ = MISTAKES["time as a state"]
    (found,) = ma.check_data(ma.Trajectories.from_episodes(episodes, columns=["x", "ticks"]))
    assert found.startswith("'ticks' only ever grows")


@pytest.mark.parametrize(
    "name", ["two states", "noise", "time as a state", "few steps", "no overlap", "images with transparency"]
)
def test_a_mistake_is_said_at_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episodes, said = MISTAKES[name]
    ma.Trajectories.from_episodes(episodes).save(tmp_path / "log.safetensors")
    assert main(["train", str(tmp_path / "log.safetensors"), "--out", str(tmp_path / "run"), *_QUICK]) == 0
    (warning,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert said in warning


_QUICK = ["--objective", "maddist", "--steps", "1", "--set", "encoder=mlp", "encoder.hidden=8", "encoder.latent=8"]


@pytest.mark.parametrize("name", ["ids of a grid", "ids without order"])
def test_ids_are_refused_with_the_way_out_and_taken_where_a_person_names_them(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episodes = MISTAKES[name][0]
    train = ["train", "", "--out", str(tmp_path / "run"), *_QUICK]
    rows = [f"{k},{int(cell)}" for k, walk in enumerate(episodes) for cell in walk[:, 0]]
    (tmp_path / "log.csv").write_text("\n".join(["episode,cell", *rows]))
    np.savez(tmp_path / "log.npz", states=np.concatenate(episodes), offsets=np.arange(0, 1201, 60))
    for file, way_out in (("log.csv", "--one-hot cell"), ("log.npz", "np.eye(48)[ids]")):
        train[1] = str(tmp_path / file)
        assert main(train) == 2
        assert way_out in capsys.readouterr().err
        assert not (tmp_path / "run").exists()
    for given in ([walk.astype(int) for walk in episodes], str(tmp_path / "log.csv")):
        with pytest.raises(ma.InputError, match="ids"):
            ma.fit(given, "maddist", steps=1, progress=False)
    train[1] = str(tmp_path / "log.csv")
    assert main([*train, "--one-hot", "cell"]) == 0
    assert ma.load(tmp_path / "run").state_shape == (48,)
    named = ma.Trajectories.from_episodes(episodes, columns=["floor"])
    small = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    assert ma.fit(named, small, steps=1, progress=False).state_shape == (1,)
    assert ma.read(tmp_path / "log.csv", states=["cell"]).state_shape == (1,)


def test_whole_numbers_that_measure_something_are_no_ids() -> None:
    coordinates = {
        "a walk": [_walk() for _ in range(20)],
        "a queue": [np.maximum.accumulate(RANDOM.poisson(0.5, (80, 1)).cumsum(0)) for _ in range(20)],
        "a wheel": [(RANDOM.integers(360) + np.arange(80)[:, None] * RANDOM.integers(1, 9)) % 360 for _ in range(20)],
        "a temperature": [np.round(20 + np.cumsum(RANDOM.normal(0, 1.5, (80, 1)), 0)) for _ in range(20)],
    }
    for name, episodes in coordinates.items():
        rows = [f"{k},{int(value)}" for k, walk in enumerate(episodes) for value in walk[:, 0]]
        data = ma.Trajectories.from_dataframe(_frame(rows))
        assert data.state_shape == (1,), name


def _frame(rows: list[str]) -> object:
    import pyarrow as pa

    episode, value = zip(*(map(int, row.split(",")) for row in rows), strict=True)
    return pa.table({"episode": episode, "value": value})


@pytest.mark.parametrize(
    "episodes",
    [
        [_walk() for _ in range(20)],
        [np.cumsum(RANDOM.normal(size=(50, 2)), 0) for _ in range(100)],
        [RANDOM.integers(0, 255, (30, 8, 8, 3)).astype(np.uint8) for _ in range(20)],
        [RANDOM.uniform(0, 9, (30, 9, 9)) for _ in range(20)],
    ],
)
def test_data_that_is_right_is_left_in_peace(episodes: Sequence[np.ndarray]) -> None:
    assert ma.check_data(ma.Trajectories.from_episodes(episodes)) == []


@pytest.mark.parametrize("task", ["cliffwalking", "keydoor-gridworld", "noisy-gridworld", "parts-4", "one-way-ring"])
def test_our_tasks_are_left_in_peace(task: str) -> None:
    assert ma.check_data(ma.read(task)) == []


def test_a_flag_that_is_seldom_set_is_no_label() -> None:
    """It changes in one of 400,000 steps, most of which are not looked at."""
    flags = np.zeros((100, 4_000, 1))
    flags[:50] = 1.0
    flags[60, 2_000:] = 1.0
    episodes = [np.c_[RANDOM.normal(size=4_000).cumsum(), flag] for flag in flags]
    assert not any("never changes" in said for said in ma.check_data(ma.Trajectories.from_episodes(episodes)))


@pytest.mark.parametrize("name", ["images of two ranges", "images with transparency"])
def test_fit_warns_of_odd_images(name: str) -> None:
    episodes, said = MISTAKES[name]
    with pytest.warns(UserWarning, match=said):
        ma.fit(np.stack(episodes), ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), steps=1, progress=False)


@pytest.mark.parametrize("newest", [0, -1])
@pytest.mark.parametrize("axis", [1, -1])
def test_four_frames_that_are_stacked_have_no_transparency(newest: int, axis: int) -> None:
    films = [RANDOM.integers(0, 255, (33, 20, 24), np.uint8) for _ in range(20)]
    order = range(4) if newest else range(3, -1, -1)
    stacks = [np.stack([film[k : k + 30] for k in order], axis=axis) for film in films]
    assert ma.check_data(ma.Trajectories.from_episodes(stacks)) == []


def test_who_learns_hears_what_keeps_episodes_apart() -> None:
    """The goal of each episode beside the place; nobody has to ask `check_data` first."""
    walks = [_walk() for _ in range(20)]
    beside = [np.concatenate([walk, np.full((len(walk), 1), k)], axis=1) for k, walk in enumerate(walks)]
    with pytest.warns(UserWarning, match="never changes inside an episode"):
        refuse_or_warn(ma.Trajectories.from_episodes(beside))
