"""Noise of measurement in the inputs, which makes the fastest of single steps look faster than anything moves."""

from __future__ import annotations

import numpy as np

from ..trajectories import Trajectories
from ._nearness import Nearness
from ._sample import Moves, episodes, moves

SMALL = 0.5
"""What is rough about a step is at most this share of a typical one, or motion itself is erratic.

Measured: an arm whose angles are off by 4% of its fastest step .09, by 16% .37; OGBench's balls .49 and .88.
"""
SHORT = 0.03
"""Third differences change their sign from row to row as often as those of noise alone would, or less by this at most.

With a regular clock noise of its own in every row does so in .77 of the rows, steps that have nothing to do with each
other .73, accelerations .67. Measured: the arm .76, OGBench's ants .55, balls with inertia .67.
"""
STEPS = 4
"""Over so many steps the pace of noisy inputs is measured, so that noise counts a quarter.

By the graph, the arm's distances were .89 of the truth with single steps, .96 with 4 and .97 with 8. Not where motion
is erratic: over several steps nobody goes straight ahead at full pace, and distances would be a sixth too long.
"""
_SAMPLE = 50_000
_NORMAL = 0.6745  # the median of the size of a standard normal number


def noisy_inputs(data: Trajectories, nearness: Nearness) -> np.ndarray:
    """Which of the inputs that count are measured with noise on a smooth motion, (k,) bool.

    Third differences do not see a place, a speed and an acceleration that are steady for four rows. Divided by the norm
    of their weights they are as large as the noise in one row, whatever the clock; their median does not mind turns.
    """
    windows = moves(data, 4).sampled(_SAMPLE, np.random.default_rng(0))
    if len(windows) == 0:
        return np.zeros(nearness.size, bool)
    rows = windows.start[:, None] + np.arange(5)
    clock = np.arange(5.0)[None] if data.times is None else data.times[rows]
    places = np.stack([nearness.place(data.states[row])[:, : nearness.size] for row in rows.T], axis=1)
    weights = _of_third_differences(clock[:, :4]), _of_third_differences(clock[:, 1:])
    early, late = ((weights[k][..., None] * places[:, k : k + 4]).sum(axis=1) for k in (0, 1))
    noise = np.median(np.abs(early), axis=0) / _NORMAL
    calm = np.maximum(np.abs(early), np.abs(late)) <= 3 * noise  # elsewhere motion turns
    alike = (weights[0][:, 1:] * weights[1][:, :3]).sum(axis=1, keepdims=True)  # their correlation, if it is noise
    known = np.broadcast_to(np.arccos(alike) / np.pi, calm.shape)
    turns, expected = (np.sum(each, axis=0, where=calm) for each in (early * late < 0, known))
    count = calm.sum(axis=0)
    return (count > 0) & (np.sqrt(2) * noise <= SMALL) & (turns >= expected - SHORT * count)


def _of_third_differences(clock: np.ndarray) -> np.ndarray:
    """The weights (n, 4) of places at these times (n, 4) in a divided difference; the norm of each row is 1."""
    weights = 1 / (clock[:, :, None] - clock[:, None] + np.eye(4)).prod(axis=2)
    return weights / np.linalg.norm(weights, axis=1, keepdims=True)


def steady_pace(data: Trajectories, nearness: Nearness, some: Moves, noisy: np.ndarray) -> np.ndarray:
    """The pace of noisy inputs at some moves, (m, noisy inputs): over a few steps of the same episode around each."""
    number = episodes(data)[some.start]
    first, last = data.offsets[number], data.offsets[number + 1] - 1
    begin = np.clip(some.start - STEPS // 2, first, np.maximum(first, last - STEPS))
    end = np.minimum(begin + STEPS, last)
    time = end - begin if data.times is None else data.times[end] - data.times[begin]
    way = nearness.place(data.states[end]) - nearness.place(data.states[begin])
    return way[:, : nearness.size][:, noisy] / time[:, None]
