"""Episodes held out of a recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from ..trajectories import Trajectories

HELD_OUT = 0.1
"""The share of the episodes that is held out by default, of data whose true distances nobody knows."""
FEWEST_EPISODES = 20
"""A smaller recording is kept whole: its episodes are needed for learning."""


def split(data: Trajectories, share: float) -> tuple[Trajectories, Trajectories | None]:
    """`data` without a share of its episodes, and those; all of it and None where nothing can be spared.

    Every n-th episode is held out, so that those of the beginning and of the end are among them, and the same ones
    whenever a training goes on. A recording that stays in its file (`Trajectories.is_mapped`) is not divided either.
    """
    if not 0 <= share < 1:
        raise InputError(f"The share of episodes held out is from 0 to below 1, not {share:g}.")
    count = round(share * data.num_episodes)
    if data.num_episodes < FEWEST_EPISODES or data.is_mapped or count < 1:
        return data, None
    chosen = np.zeros(data.num_episodes, dtype=bool)
    chosen[((np.arange(count) + 0.5) * data.num_episodes / count).astype(int)] = True
    if data.lengths[chosen].max() < 2 or data.lengths[~chosen].max() < 2:
        return data, None
    return data[~chosen], data[chosen]


def split_all(data: Sequence[Trajectories], share: float) -> tuple[list[Trajectories], list[Trajectories | None]]:
    """As `split` for every entry, each of them divided once however often it is there."""
    found = {id(one): split(one, share) for one in data}
    return [found[id(one)][0] for one in data], [found[id(one)][1] for one in data]
