"""The mistakes of newcomers are caught in words, and data that is right is left in peace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main

RANDOM = np.random.default_rng(0)


def _walk(length: int = 40) -> np.ndarray:
    return np.clip(np.cumsum(RANDOM.choice([-1, 1], length)) + 5, 0, 9)[:, None].astype(float)


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
    "few steps": ([_walk(20)], "only 19 steps were recorded"),
    "no overlap": (
        [100.0 * k + np.cumsum(RANDOM.normal(size=(50, 2)), 0) for k in range(20)],
        "recordings hardly overlap: 0 % of the states",
    ),
    "no shared states": ([_walk() + 100.0 * k for k in range(20)], "recordings hardly overlap: 0 % of the states"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_said(name: str) -> None:
    episodes, said = MISTAKES[name]
    found = ma.check_data(ma.Trajectories.from_episodes(episodes))
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("name", ["two states", "noise", "time as a state", "ids of a grid", "few steps", "no overlap"])
def test_a_mistake_is_said_at_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episodes, said = MISTAKES[name]
    ma.Trajectories.from_episodes(episodes).save(tmp_path / "log.safetensors")
    quick = ["--objective", "maddist", "--steps", "1", "--set", "encoder.hidden=8", "encoder.latent=8"]
    assert main(["train", str(tmp_path / "log.safetensors"), "--out", str(tmp_path / "run"), *quick]) == 0
    (warning,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert said in warning


@pytest.mark.parametrize(
    "episodes",
    [
        [_walk() for _ in range(20)],
        [np.cumsum(RANDOM.normal(size=(50, 2)), 0) for _ in range(100)],
        [RANDOM.integers(0, 255, (30, 8, 8, 3)).astype(np.uint8) for _ in range(20)],
    ],
)
def test_data_that_is_right_is_left_in_peace(episodes: Sequence[np.ndarray]) -> None:
    assert ma.check_data(ma.Trajectories.from_episodes(episodes)) == []


@pytest.mark.parametrize("task", ["cliffwalking", "keydoor-gridworld", "noisy-gridworld", "parts-4", "one-way-ring"])
def test_our_tasks_are_left_in_peace(task: str) -> None:
    assert ma.check_data(ma.read(task)) == []
