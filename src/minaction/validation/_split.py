"""Episodes held out of a recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from ..trajectories import Trajectories, repaired

HELD_OUT = 0.1
"""The share of episodes that is held out by default if true distances are not known."""
FEWEST_EPISODES = 20
"""With fewer episodes none are held out: all are needed for training."""


def split(data: Trajectories, share: float) -> tuple[Trajectories, Trajectories | None]:
    """`data` without a share of its episodes, and these episodes; all of `data` and None if there are too few.

    Every n-th episode is held out, from the beginning to the end of the recording, and the same ones when a training is
    resumed. Nothing is held out of memory-mapped data (`Trajectories.is_mapped`). Readings that failed are set right.
    """
    if not 0 <= share < 1:
        raise InputError(f"The share of episodes held out is from 0 to below 1, not {share:g}.")
    data = repaired(data)
    count = min(round(share * data.num_episodes), data.num_episodes - 1)
    if data.num_episodes < FEWEST_EPISODES or data.is_mapped or count < 1:
        return data, None
    chosen = np.zeros(data.num_episodes, dtype=bool)
    chosen[((np.arange(count) + 0.5) * data.num_episodes / count).astype(int)] = True
    if data.lengths[chosen].max() < 2 or data.lengths[~chosen].max() < 2:
        return data, None
    return data[~chosen], data[chosen]


def split_all(data: Sequence[Trajectories], share: float) -> tuple[list[Trajectories], list[Trajectories | None]]:
    """`split` for every entry; the same data set is split only once."""
    found = {id(one): split(one, share) for one in data}
    return [found[id(one)][0] for one in data], [found[id(one)][1] for one in data]
