"""Starts and goals of episodes: OGBench's five start-goal pairs per maze, or a goal of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, unknown_name
from ..mazes._layouts import OGBENCH_LAYOUTS, MazeLayout

# Row and column of start and goal, by maze and number of the pair: OGBench's, the same for every body.
TASK_CELLS = {
    "medium": (((1, 1), (6, 6)), ((6, 1), (1, 6)), ((5, 3), (4, 2)), ((6, 5), (6, 1)), ((2, 6), (1, 1))),
    "large": (((1, 1), (7, 10)), ((5, 4), (7, 1)), ((7, 4), (1, 10)), ((3, 8), (5, 4)), ((1, 1), (5, 4))),
    "giant": (((1, 1), (10, 14)), ((1, 14), (10, 1)), ((8, 14), (1, 1)), ((8, 3), (5, 12)), ((5, 9), (3, 8))),
}
ALL_TASKS = (1, 2, 3, 4, 5)
NOISE = 1.0  # starts and goals are displaced by up to this, in x and in y


@dataclass(frozen=True)
class Episodes:
    """Where episodes begin and where they should end, in x and y."""

    tasks: np.ndarray  # (n,) number of the pair, 0 for a goal of the user's own
    starts: np.ndarray  # (n, 2)
    goals: np.ndarray  # (n, 2)

    @classmethod
    def draw(cls, maze: str, tasks: Sequence[int], episodes: int, seed: int) -> Episodes:
        """`episodes` for each of the start-goal pairs, displaced by noise as in the environment."""
        layout = _checked_layout(maze)
        _check_numbers(tasks, episodes)
        random = np.random.default_rng(seed)
        cells = np.array([TASK_CELLS[maze][task - 1] for task in tasks])  # (tasks, start and goal, 2)
        places = np.repeat(layout.centre(cells), episodes, axis=0)
        places = places + random.uniform(-NOISE, NOISE, places.shape)
        return cls(np.repeat(np.array(tasks), episodes), places[:, 0], places[:, 1])

    @classmethod
    def towards(cls, maze: str, goal: Sequence[float], episodes: int, seed: int) -> Episodes:
        """`episodes` from anywhere in the maze to one goal, which must not lie in a wall."""
        layout = _checked_layout(maze)
        _check_numbers((1,), episodes)
        place = np.array(goal, dtype=np.float64)
        if place.shape != (2,):
            raise InputError(f"A goal in a maze is two numbers, x and y, not {len(goal)}.")
        if not np.isfinite(place).all() or not _within(layout, place) or not layout.is_free(place):
            near = layout.centres[np.argmin(np.hypot(*(layout.centres - np.nan_to_num(place)).T))]
            raise InputError(
                f"The goal ({place[0]:g}, {place[1]:g}) lies in a wall of the {maze} maze or outside it; "
                f"the middle of the nearest free cell is ({near[0]:g}, {near[1]:g})."
            )
        starts = layout.random_positions(episodes, np.random.default_rng(seed))
        return cls(np.zeros(episodes, np.int64), starts, np.tile(place, (episodes, 1)))


def _checked_layout(maze: str) -> MazeLayout:
    if maze not in TASK_CELLS:
        raise unknown_name("maze of OGBench", maze, TASK_CELLS)
    return OGBENCH_LAYOUTS[maze]


def _within(layout: MazeLayout, place: np.ndarray) -> bool:
    rows, columns = layout.walls.shape
    far = layout.centre(np.array([rows - 1, columns - 1]))
    return bool(((place >= np.array(layout.corner_centre)) & (place <= far)).all())


def _check_numbers(tasks: Sequence[int], episodes: int) -> None:
    if episodes < 1:
        raise InputError(f"Cannot plan for {episodes} episodes; give at least 1.")
    unknown = [task for task in tasks if task not in ALL_TASKS]
    if unknown or not tasks:
        shown = unknown[0] if unknown else "none"
        raise InputError(f"OGBench's start-goal pairs are numbered 1 to 5; {shown} is not one of them.")
