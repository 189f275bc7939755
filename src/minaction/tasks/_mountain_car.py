"""Gymnasium's MountainCar as a task: inertia, directed distances, and nearby states a whole swing apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from .._progress import OnProgress
from ..environments import _mountain_car as car
from ..errors import InputError
from ..exact import ArrivalSearch
from ..trajectories import Trajectories
from ._base import Layout, Task, Truth

_EVALUATION_SEED = 1_000_003  # the states at which models are judged are fixed, and belong to no data set
_JUDGED_STATES = 200
_EPISODE_STEPS = 100  # 800 episodes have some 67,000 states, because one in five ends on top before that
_PIXELS = (56, 72)  # rows of velocity, columns of position

TOLERANCE = np.array([0.005, 0.0005])
"""How close in position and velocity counts as reached: a fifth of a typical step, and half of what a push changes.

For 19 of 20 states another recording has one that close. Velocities come in multiples of a push, so a narrower box
would often be missed by chance rather than for lack of time."""

_CELL = TOLERANCE / np.array([4, 2])  # at twice this width 1 pair in 17 gets longer, 1 in 430 by more than two steps


@dataclass(frozen=True)
class MountainCarTask(Task):
    """The car observed as (position, velocity), pushed at random from anywhere below the top.

    Reaching the top ends the episode, as in Gymnasium, whose rules beyond it are not meant to be used: at the bound
    behind it a car would stand still at full velocity. So the top can be reached but not left, and, as in
    CliffWalking, models are not judged on states there.

    They are judged on all ordered pairs of 200 states from a recording that no seed makes. A state counts as reached
    within `TOLERANCE`. The minimum number of actions comes from a search over real states (`exact._arrival`), so
    none is too short. Some are too long: with cells of half the width 1 pair in 57 changes, and 1 in 2,000 by more
    than two steps, then by a whole swing. Some 4% of the pairs are unreachable: a random start can be faster than
    any car that comes from elsewhere, and a few cars cannot avoid going over the top.

    The tolerance matters more: between nearby states distances jump by a swing of some 50 steps, and with half or
    twice the tolerance 3 pairs in 10 change, most by one step, but 1 in 60 to 80 by more than ten (Pearson .93 and .95
    with the truth as it is). A model that resolves states more coarsely cannot agree better than that.
    """

    name: str = "mountaincar"
    summary: str = "Gymnasium's MountainCar from random starts: a car with inertia, too weak to climb straight up"
    recipe_version: int | str = field(default=1, init=False)
    state_shape: tuple[int, ...] = field(default=(2,), init=False)
    default_episodes: int = field(default=800, init=False)
    fresh_data_per_seed: bool = field(default=True, init=False)

    def trajectories(
        self,
        seed: int = 0,
        episodes: int | None = None,
        progress: OnProgress | None = None,
        keep_actions: bool = False,
    ) -> Trajectories:
        """Episodes of at most 100 random actions, from uniform positions below the top and uniform velocities."""
        count = self.default_episodes if episodes is None else episodes
        data = random_episodes(count, seed)
        if progress is not None:
            progress(count, count)
        return data if keep_actions else replace(data, actions=None)

    def truths(self) -> list[Truth]:
        """The minimum numbers of actions."""
        return [_truth()]

    def layout(self) -> Layout:
        """Position to the right and velocity upwards; the top of the hill is solid."""
        rows, columns = _PIXELS
        pixels = np.indices(_PIXELS).reshape(2, -1).T
        share = (pixels[:, ::-1] + 0.5) / (columns, rows)
        share[:, 1] = 1 - share[:, 1]
        states = car.LOWEST + share * (car.HIGHEST - car.LOWEST)
        below = states[:, 0] < car.GOAL_POSITION
        return Layout(_PIXELS, states[below].astype(np.float32), pixels[below])


def random_episodes(episodes: int, seed: int, steps: int = _EPISODE_STEPS) -> Trajectories:
    """Episodes of at most `steps` uniformly random actions, all of them stepped together."""
    if episodes < 1 or seed < 0:
        raise InputError(f"Cannot make {episodes} episodes from seed {seed}; give at least 1, and a seed from 0 on.")
    random = np.random.default_rng(seed)
    now = random.uniform(car.LOWEST, (car.GOAL_POSITION, car.HIGHEST[1]), (episodes, 2))
    actions = random.integers(0, car.NUM_ACTIONS, (episodes, steps + 1))
    visited, lengths = [now], np.ones(episodes, dtype=np.int64)
    for k in range(steps):
        ended = car.terminal(now)
        lengths += ~ended
        now = np.where(ended[:, None], now, car.step(now, actions[:, k]))
        visited.append(now)
    recorded = np.arange(steps + 1) < lengths[:, None]
    return Trajectories.from_flat(
        np.stack(visited, axis=1)[recorded].astype(np.float32),
        np.concatenate([[0], np.cumsum(lengths)]),
        actions=actions[recorded].astype(np.float32),
    )


def search(cell: np.ndarray = _CELL) -> ArrivalSearch:
    """The search for the truth; finer cells make it more accurate and slower."""
    return ArrivalSearch(car.after_every_action, car.terminal, car.LOWEST, car.HIGHEST, cell, TOLERANCE)


@cache  # takes half a minute
def _truth() -> Truth:
    recorded = random_episodes(MountainCarTask().default_episodes, _EVALUATION_SEED).states
    below = recorded[~car.terminal(recorded)]
    states = np.random.default_rng(_EVALUATION_SEED).choice(below, _JUDGED_STATES, replace=False)
    steps = search().least_steps(states.astype(np.float64), states.astype(np.float64))
    np.fill_diagonal(steps, 0.0)
    steps.flags.writeable = False
    return Truth.between("true", "steps", states, steps, tolerant=True)


TASKS: dict[str, Task] = {"mountaincar": MountainCarTask()}
