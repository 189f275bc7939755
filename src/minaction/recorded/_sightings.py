"""What moves in a recording of images, as a few numbers: where they differ from the still background.

Nearness of images is not nearness of pixels: a ball that moves by its own width leaves no pixel as it was. The centroid
of what differs from the background follows a moving thing to a fraction of a pixel, and a step changes it alike
wherever it is taken, which is what borrowed and straight steps need. Two things of different colours share in the
centroids of all channels; the mixtures of channels that follow each alone are those that are remembered for different
times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from .._image_axes import images_of
from .._mapped import read_rows, row_blocks
from ..trajectories import Trajectories
from ._sample import moves

_BACKGROUND_FRAMES = 400
_FRAMES_AT_A_TIME = 512
_MIXED_ROWS = 20_000  # from which the mixtures of channels are found
_NOISE = 4.0  # standard deviations of a pixel's noise: what differs by less does not count
_LAG = 16  # steps after which what is remembered tells things that move by themselves from each other
_SAME = 0.02  # of the largest variance: a mixture of channels with less shows nothing of its own


@dataclass(frozen=True)
class Sightings:
    """How an image (height, width, channels) becomes a few numbers."""

    background: np.ndarray  # (height, width, channels)
    noise: np.ndarray  # (channels,)
    usual: float  # how much of an image usually differs
    mixtures: np.ndarray  # (channels, things)

    @classmethod
    def of(cls, data: Trajectories) -> Sightings:
        """Learn background, noise and mixtures from a sample of `data`."""
        random = np.random.default_rng(0)
        some = np.sort(random.choice(data.num_states, min(_BACKGROUND_FRAMES, data.num_states), replace=False))
        sample = images_of(read_rows(data.states, some)).astype(np.float32)
        background = np.median(sample, axis=0)
        noise = _NOISE * 1.4826 * np.median(np.abs(sample - background), axis=(0, 1, 2))
        plain = cls(background, noise, 1.0, np.eye(len(noise), dtype=np.float32))
        amount, _ = plain._moments(sample)
        plain = cls(background, noise, float(np.median(amount[amount > 0])) if amount.any() else 1.0, plain.mixtures)
        later = moves(data, min(_LAG, int(data.lengths.max()) - 1)).sampled(_MIXED_ROWS, random)
        before, after = (
            np.concatenate(
                [plain._moments(images_of(part).astype(np.float32))[1] for part in _pieces(data.states, rows)]
            )
            for rows in (later.start, later.end)
        )
        return cls(background, noise, plain.usual, _mixtures(before, after))

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """One row (n, 1 + 2 things) for each of `states` (n, *shape)."""
        amount, centroids = self._moments(images_of(states).astype(np.float32))
        octaves = np.round(np.log2(np.maximum(amount, 1e-3 * self.usual) / self.usual))
        places = np.einsum("nac,cm->nma", centroids, self.mixtures).reshape(len(states), -1)
        return np.column_stack([octaves, places]).astype(np.float32)

    def _moments(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How much differs from the background, (n,), and its first moments by row and column, (n, 2, channels).

        Moments are not divided by the amount of each frame: what stays where it is, such as a door that opened, then
        adds a constant and does not change how far a step leads.
        """
        change = frames - self.background
        difference = np.sign(change) * np.maximum(np.abs(change) - self.noise, 0.0)
        _, height, width, _ = frames.shape
        row = np.einsum("nhwc,h->nc", difference, np.arange(height, dtype=np.float32) - height / 2)
        column = np.einsum("nhwc,w->nc", difference, np.arange(width, dtype=np.float32) - width / 2)
        return np.abs(difference).sum(axis=(1, 2, 3)), np.stack([row, column], axis=1) / self.usual


def sighted(data: Trajectories) -> Trajectories:
    """The same episodes with a few numbers in place of every image."""
    seen = Sightings.of(data)
    rows = [
        seen(np.asarray(block[start : start + _FRAMES_AT_A_TIME]))
        for block in row_blocks(data.states)
        for start in range(0, len(block), _FRAMES_AT_A_TIME)
    ]
    return Trajectories.from_flat(np.concatenate(rows), data.offsets, times=data.times)


def _pieces(states: np.ndarray, rows: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(rows), _FRAMES_AT_A_TIME):
        yield read_rows(states, rows[start : start + _FRAMES_AT_A_TIME])


def _mixtures(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Mixtures of channels, the most remembered first, from moments (n, 2, channels) some time apart.

    Sources of different memory are the eigenvectors of their lagged covariance (Tong et al., 1990).
    """
    first, second = ((values - values.mean(axis=0)).astype(np.float64) for values in (before, after))
    both = (np.einsum("nac,nad->cd", first, first) + np.einsum("nac,nad->cd", second, second)) / 2
    lagged = np.einsum("nac,nad->cd", first, second)
    variance, axes = np.linalg.eigh(both)
    axes = axes[:, variance > _SAME * variance.max()] if variance.max() > 0 else axes[:, -1:]
    memory, mixed = eigh(axes.T @ (lagged + lagged.T) @ axes / 2, axes.T @ both @ axes)
    found = axes @ mixed[:, np.argsort(-memory)]
    return (found / np.abs(found).sum(axis=0)).astype(np.float32)
