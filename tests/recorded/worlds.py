"""Small worlds whose distances can be written down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from minaction.trajectories import Trajectories

MOVES = ((1, 0), (-1, 0), (0, 1), (0, -1))
Cell = tuple[int, int]


def grid_walks(
    size: int, episodes: int, steps: int, seed: int = 0, allowed: Callable[[Cell, Cell], bool] = lambda a, b: True
) -> Trajectories:
    """Random walks on a square grid, from anywhere; a step that is not `allowed` does not happen."""
    random = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        cell = (int(random.integers(size)), int(random.integers(size)))
        walk = [cell]
        for _ in range(steps):
            dx, dy = MOVES[random.integers(4)]
            following = (cell[0] + dx, cell[1] + dy)
            if all(0 <= c < size for c in following) and allowed(cell, following):
                cell = following
            walk.append(cell)
        walks.append(np.array(walk, np.float32))
    return Trajectories.from_episodes(walks)


def grid_distances(
    cells: np.ndarray, size: int, allowed: Callable[[Cell, Cell], bool] = lambda a, b: True
) -> np.ndarray:
    """The true distances between cells by breadth-first search in plain Python."""
    listed = [(int(x), int(y)) for x, y in cells]
    distances = np.full((len(listed), len(listed)), np.inf)
    for row, source in enumerate(listed):
        found, queue = {source: 0}, deque([source])
        while queue:
            cell = queue.popleft()
            for dx, dy in MOVES:
                following = (cell[0] + dx, cell[1] + dy)
                inside = all(0 <= c < size for c in following)
                if inside and following not in found and allowed(cell, following):
                    found[following] = found[cell] + 1
                    queue.append(following)
        distances[row] = [found.get(cell, np.inf) for cell in listed]
    return distances


def ball_walks(
    episodes: int, steps: int, seed: int = 0, blocked: Callable[[np.ndarray, np.ndarray], bool] = lambda a, b: False
) -> Trajectories:
    """A ball in a box of 10 x 10 that moves by up to 0.5 in x and in y; a `blocked` step does not happen."""
    random = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        place = random.uniform(0, 10, 2)
        walk = [place]
        for _ in range(steps):
            following = place + np.clip(random.normal(0, 0.5, 2), -0.5, 0.5)
            if (following >= 0).all() and (following <= 10).all() and not blocked(place, following):
                place = following
            walk.append(place)
        walks.append(np.array(walk, np.float32))
    return Trajectories.from_episodes(walks)


def clock(episodes: int, steps: int, seed: int = 0) -> tuple[Trajectories, Callable[[np.ndarray], np.ndarray]]:
    """A hand that turns once in 60 seconds, seen every 1 to 2 of them; and what it looks like at given seconds."""

    def seen(seconds: np.ndarray) -> np.ndarray:
        angle = 2 * np.pi * seconds / 60
        return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)

    random = np.random.default_rng(seed)
    times = [random.uniform(0, 60) + np.cumsum(random.uniform(1, 2, steps)) for _ in range(episodes)]
    return Trajectories.from_episodes([seen(seconds) for seconds in times], times=times), seen


def line(places: list[float], times: list[float] | None = None) -> Trajectories:
    states = np.array(places, np.float32)[:, None]
    return Trajectories.from_episodes([states] * 3, times=None if times is None else [np.array(times)] * 3)
