"""Data to train on that needs no simulator and no download."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from minaction.trajectories import Trajectories

_STEP = 0.2


def random_walks(episodes: int, length: int, size: int, seed: int = 0) -> Trajectories:
    """Random walks from random places: dense continuous data, no state twice."""
    states = np.concatenate(list(_walks(episodes, length, size, seed)))
    return Trajectories.from_flat(states, np.arange(episodes + 1) * length)


def write_random_walks(path: Path, size_bytes: int, length: int, size: int) -> None:
    """As much data as asked for, written without ever being in memory; needs twice the room on disk meanwhile."""
    episodes = size_bytes // (4 * size * length)
    raw = path.with_suffix(".raw")
    with raw.open("wb") as file:
        for states in _walks(episodes, length, size, seed=0):
            file.write(states.data)
    states = np.memmap(raw, np.float32, "r", shape=(episodes * length, size))
    Trajectories.from_flat(states, np.arange(episodes + 1) * length).save(path)
    raw.unlink()


def _walks(episodes: int, length: int, size: int, seed: int) -> Iterator[np.ndarray]:
    random = np.random.default_rng(seed)
    at_a_time = max(1, (1 << 22) // (length * size))
    for start in range(0, episodes, at_a_time):
        count = min(at_a_time, episodes - start)
        steps = random.uniform(-_STEP, _STEP, (count, length, size)).astype(np.float32)
        steps[:, 0] = random.uniform(0, 40, (count, size))
        yield np.cumsum(steps, axis=1, dtype=np.float32).reshape(-1, size)
