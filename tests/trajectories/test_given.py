"""What people hand to `ma.fit` in Python: read as meant, or refused in one sentence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import minaction as ma
from minaction.trajectories import as_trajectories

WALK = np.cumsum(np.random.default_rng(0).normal(size=(3, 12, 2)), axis=1)
FILM = np.random.default_rng(0).integers(0, 255, (20, 24, 32, 3), np.uint8)


@pytest.mark.parametrize("library", [pd, pl])
def test_a_list_of_data_frames_is_one_episode_each(library: Any) -> None:
    frames = [library.DataFrame({"time": np.arange(12) * 0.5, "x": walk[:, 0], "y": walk[:, 1]}) for walk in WALK]
    frames[1] = frames[1][["y", "time", "x"]]
    data = as_trajectories(frames)
    assert data.columns == ("x", "y"), "the clock is no state"
    assert data.lengths.tolist() == [12, 12, 12]
    assert data.durations.tolist() == [5.5] * 3
    np.testing.assert_array_equal(data.states, WALK.reshape(-1, 2))
    with pytest.raises(ma.InputError, match=r"0 and 2 differ in 'x'"):
        as_trajectories([*frames[:2], frames[2][["time", "y"]]])
    with pytest.raises(ma.InputError, match=r"give it to Trajectories\.from_dataframe"):
        ma.Trajectories.from_episodes(frames)


def test_numbers_that_a_data_frame_holds_as_text_are_numbers() -> None:
    frame = pd.DataFrame({"episode": [0, 0, 1, 1], "x": ["1.5", "2", "3", "4"]})
    assert as_trajectories(frame).states.ravel().tolist() == [1.5, 2.0, 3.0, 4.0]
    with pytest.raises(ma.InputError, match="Row 1 has 'auto' in column 'x'"):
        as_trajectories(frame.assign(x=["1.5", "auto", "3", "4"]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda frame: frame.iloc[:0], "no rows"),
        (lambda frame: frame.assign(x=[1.0, "bad", 2.0, 3.0]), "convert or remove that column"),
        (lambda frame: pd.concat([frame, frame[["x"]]], axis=1), "Duplicate column names"),
    ],
)
def test_a_data_frame_is_not_called_damaged(change: Any, sentence: str) -> None:
    frame = pd.DataFrame({"episode": [0, 0, 1, 1], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ma.InputError, match=sentence) as caught:
        as_trajectories(change(frame))
    assert "download" not in str(caught.value)


def test_columns_are_named_by_text() -> None:
    frame = pd.DataFrame({"run": [0, 0, 1, 1], "pos": [1.0, 2.0, 3.0, 4.0]})
    assert ma.Trajectories.from_dataframe(frame, episode="run", states="pos").columns == ("pos",)
    with pytest.raises(ma.InputError, match="Columns are named by text, but episode is 0"):
        ma.Trajectories.from_dataframe(pd.DataFrame(np.ones((4, 2))), episode=0)  # type: ignore[arg-type]


def test_ids_in_a_data_frame_are_one_hot_encoded() -> None:
    frame = pd.DataFrame({"episode": [0, 0, 0, 0], "cell": [0, 2, 1, 0]})
    data = ma.Trajectories.from_dataframe(frame, one_hot=["cell"])
    assert data.columns == ("cell=0", "cell=1", "cell=2")


@pytest.mark.parametrize("frames", [FILM, list(FILM), FILM.transpose(0, 3, 1, 2)], ids=["array", "list", "channels"])
def test_the_frames_of_one_film_are_one_episode(frames: Any) -> None:
    data = as_trajectories(frames)
    assert data.lengths.tolist() == [20]
    np.testing.assert_array_equal(data.states, np.stack(frames))
    with pytest.raises(ma.InputError, match="looks like"):
        ma.Trajectories.from_episodes(frames)


def test_frames_that_may_be_anything_are_refused() -> None:
    with pytest.raises(ma.InputError, match=r"give \[array\], or list\(array\) if it is episodes"):
        as_trajectories(FILM / 255)
    assert as_trajectories(list(FILM / 255)).lengths.tolist() == [24] * 20, (
        "as somebody says who has points, not images"
    )
    with pytest.raises(ma.InputError, match="Image 3 has shape 20 x 32 x 3 and image 0 shape 24 x 32 x 3"):
        as_trajectories([*FILM[:3], FILM[3, :20]])


def test_many_short_vectors_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="500 vectors of 2 numbers are taken for as many episodes"):
        as_trajectories(list(np.random.default_rng(0).normal(size=(500, 2))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_trajectories(list(np.random.default_rng(0).normal(size=(50, 40))))


def test_episodes_of_different_lengths() -> None:
    with pytest.raises(ma.InputError, match="give episodes of different lengths as a list of arrays"):
        as_trajectories({"states": [WALK[0], WALK[1, :5]]})
    episodes = np.empty(2, dtype=object)
    episodes[:] = [WALK[0], WALK[1, :5]]
    assert as_trajectories(episodes).lengths.tolist() == [12, 5]
