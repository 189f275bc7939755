"""What moves in a recording of images, as a few numbers: where they differ from the still background.

Nearness of images is not nearness of pixels: a ball that moves by its own width leaves no pixel as it was. The centroid
of what differs from the background follows a moving thing to a fraction of a pixel, and a step changes it alike
wherever it is taken, which is what borrowed and straight steps need. Two things of different colours share in the
centroids of all channels; the mixtures of channels that follow each alone are those that are remembered for different
times.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.ndimage import uniform_filter

from .._cores import core_count
from .._image_axes import images_of
from .._mapped import read_rows, row_blocks
from ..trajectories import Trajectories
from ._sample import moves

_BACKGROUND_FRAMES = 400
_FRAMES_AT_A_TIME = 32
_MIXED_ROWS = 20_000  # from which the mixtures of channels are found
_NOISE = 4.0  # standard deviations of a pixel's noise: what differs by less does not count
_FAINT = 0.1  # of what differs most in a frame: less is what compression leaves behind, in a film from a file
_AVERAGED = 3  # pixels along each side, where there is noise
_LAG = 16  # steps after which what is remembered tells things that move by themselves from each other
_FEWEST_OF_LEVEL = 60  # frames, from which a background of their own is found
_GLANCE = 2_000  # steps
_FLICKERS = 0.05  # of the steps: an amount that changes more often says nothing
_HIDDEN = 0.1  # of how much usually differs: with less, there is no centroid
_SAME = 0.02  # of the largest variance: a mixture of channels with less shows nothing of its own


@dataclass(frozen=True)
class Scene:
    """A still background, and what may differ from it."""

    background: np.ndarray  # (height, width, channels)
    noise: np.ndarray  # (channels,) by how much it differs by itself; where it does, pixels are averaged
    faint: float  # what differs by less in all channels is no thing

    @classmethod
    def of(cls, frames: np.ndarray) -> Scene:
        """What most of `frames` (n, height, width, channels) show."""
        background, noise = _usual(frames)
        if noise.any():
            frames = _averaged(frames)
            background, noise = _usual(frames)
        most = np.median(np.abs(frames - background).max(axis=(1, 2, 3)))
        return cls(background, noise, float(_FAINT * most))

    def moments(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How much differs from the background, (n,), and the moments of it, (n, 3, channels).

        The first is the sum of all differences, the others weigh them by row and by column, from the middle.
        """
        count, height, width, channels = frames.shape
        pixels = (_averaged(frames) if self.noise.any() else frames) - self.background
        if self.noise.any():
            pixels -= np.maximum(np.minimum(pixels, self._limits), -self._limits)
        # All channels of a pixel or none: mixtures of channels can then tell things apart by their colours.
        pixels *= (np.abs(pixels) > self.faint).any(axis=3, keepdims=True)
        # Over the rows first, for all columns and channels: of two long products, the second is then a short one.
        rows = pixels.reshape(count, height, width * channels)
        down = np.stack([np.ones(height, np.float32), _from_middle(height)]) @ rows
        across = np.stack([np.ones(width, np.float32), _from_middle(width)])
        found = np.einsum("nawc,bw->nabc", down.reshape(count, 2, width, channels), across)
        moments = np.stack([found[:, 0, 0], found[:, 1, 0], found[:, 0, 1]], axis=1)
        return np.abs(pixels, out=pixels).sum(axis=(1, 2, 3)), moments

    @cached_property
    def _limits(self) -> np.ndarray:
        """By how much noise alone makes pixels differ, (height, width, channels)."""
        return np.ascontiguousarray(np.broadcast_to(self.noise, self.background.shape), np.float32)


@dataclass(frozen=True)
class Sightings:
    """How an image (height, width, channels) becomes a few numbers.

    Something that appears for good, such as a door that opened, changes by how many octaves an image differs from the
    usual background. Images that differ alike then have a background of their own, against which only what moves
    stands out; so that a place is the same number, whichever door is open.
    """

    scene: Scene
    usual: float  # how much of an image usually differs
    levels: np.ndarray  # (levels,) octaves
    scenes: tuple[Scene, ...]  # of each level
    mixtures: np.ndarray  # (channels, things)
    sizes: np.ndarray  # (things,) how much of each mixture usually differs

    @classmethod
    def of(cls, data: Trajectories) -> Sightings:
        """Learn backgrounds, noise and mixtures from a sample of `data`."""
        random = np.random.default_rng(0)
        scene = Scene.of(_frames_at(data, np.arange(data.num_states), random))
        later = moves(data, min(_LAG, int(data.lengths.max()) - 1)).sampled(_MIXED_ROWS, random)
        amount = _amounts(scene, data, later.start)
        usual = float(np.median(amount[amount > 0])) if amount.any() else 1.0
        octaves = _octaves(amount, usual)
        levels = _levels(octaves) if _lasts(scene, usual, data, random) else np.zeros(1)
        scenes = (scene,)
        if len(levels) > 1:
            scenes = tuple(Scene.of(_frames_at(data, later.start[octaves == level], random)) for level in levels)
        plain = cls(scene, usual, levels, scenes, np.eye(len(scene.noise)), np.ones(len(scene.noise)))
        before, after = (
            [np.concatenate(found) for found in zip(*map(plain._seen, _pieces(data.states, rows)), strict=True)]
            for rows in (later.start, later.end)
        )
        same = before[0] == after[0]
        same |= not same.any()
        mixtures = _mixtures(*(moments[same, 1:] for _, moments in (before, after)))
        sums = np.abs(before[1][:, 0] @ mixtures)
        return cls(scene, usual, levels, scenes, mixtures, np.median(sums, axis=0))

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """One row (n, 1 + 2 things) for each of `states` (n, *shape)."""
        octaves, moments = self._seen(images_of(states).astype(np.float32))
        mixed = np.einsum("nac,cm->nma", moments, self.mixtures)
        sums = mixed[..., :1]
        least = _HIDDEN * np.maximum(self.sizes, _SAME * self.usual)[:, None]  # a thing that is hidden has no centroid
        places = mixed[..., 1:] / np.where(np.abs(sums) > least, sums, np.copysign(least / _HIDDEN, sums))
        return np.column_stack([octaves, places.reshape(len(states), 2 * places.shape[1])]).astype(np.float32)

    def scenes_of(self, seen: np.ndarray) -> list[Scene]:
        """The still background of each of what is `seen`, rows (n, 1 + 2 things)."""
        return [self.scenes[k] for k in self._level(seen[:, 0])]

    def _seen(self, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The octave of every frame, and its moments against the background of its level."""
        amount, moments = self.scene.moments(frames)
        if len(self.levels) == 1:
            return np.zeros(len(frames), np.float32), moments
        octaves = _octaves(amount, self.usual)
        level, moments = self._level(octaves), np.empty((len(frames), 3, frames.shape[-1]), np.float32)
        for k in np.unique(level):
            moments[level == k] = self.scenes[k].moments(frames[level == k])[1]
        return octaves, moments

    def _level(self, octaves: np.ndarray) -> np.ndarray:
        """Which level is nearest to each of `octaves`."""
        return np.abs(octaves[:, None] - self.levels).argmin(axis=1)


def _usual(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The median frame, and by how much noise makes each channel differ from it."""
    background = np.median(frames, axis=0)
    return background, _NOISE * 1.4826 * np.median(np.abs(frames - background), axis=(0, 1, 2))


def _averaged(frames: np.ndarray) -> np.ndarray:
    """The mean of every pixel and its neighbours: noise falls to a third, and what moves is larger than a pixel."""
    return uniform_filter(frames, (1, _AVERAGED, _AVERAGED, 1), mode="nearest")  # type: ignore[arg-type]


def _amounts(scene: Scene, data: Trajectories, rows: np.ndarray) -> np.ndarray:
    return np.concatenate([scene.moments(part)[0] for part in _pieces(data.states, rows)])


def _levels(octaves: np.ndarray) -> np.ndarray:
    """The octaves that are frequent enough to find a background for."""
    values, counts = np.unique(octaves, return_counts=True)
    return values[counts >= min(_FEWEST_OF_LEVEL, counts.max())]


def _lasts(scene: Scene, usual: float, data: Trajectories, random: np.random.Generator) -> bool:
    """Whether the octave is hardly ever another one in the next frame, as it is where something appears for good."""
    steps = moves(data, 1).sampled(_GLANCE, random)
    before, after = (_octaves(_amounts(scene, data, rows), usual) for rows in (steps.start, steps.end))
    return bool(np.mean(before != after) < _FLICKERS)


def _octaves(amount: np.ndarray, usual: float) -> np.ndarray:
    return np.round(np.log2(np.maximum(amount, 1e-3 * usual) / usual))


def _frames_at(data: Trajectories, rows: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A sample of the frames at `rows`."""
    some = np.sort(random.choice(rows, min(_BACKGROUND_FRAMES, len(rows)), replace=False))
    return images_of(read_rows(data.states, some)).astype(np.float32)


def _from_middle(length: int) -> np.ndarray:
    return np.arange(length, dtype=np.float32) - length / 2


def sighted(data: Trajectories, how: Sightings | None = None) -> Trajectories:
    """The same episodes with a few numbers in place of every image."""
    seen = how or Sightings.of(data)
    rows = [row for block in row_blocks(data.states) for row in _in_threads(seen, block)]
    return Trajectories.from_flat(np.concatenate(rows), data.offsets, times=data.times)


def _in_threads(seen: Sightings, states: np.ndarray) -> list[np.ndarray]:
    """A few frames at a time, which stay in a core's cache: NumPy lets threads compute side by side."""
    parts = [states[start : start + _FRAMES_AT_A_TIME] for start in range(0, len(states), _FRAMES_AT_A_TIME)]
    with ThreadPoolExecutor(core_count(), thread_name_prefix="minaction-sightings") as pool:
        return list(pool.map(seen, parts))


def _pieces(states: np.ndarray, rows: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(rows), _FRAMES_AT_A_TIME):
        yield images_of(read_rows(states, rows[start : start + _FRAMES_AT_A_TIME])).astype(np.float32)


def _mixtures(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Mixtures of channels, the most remembered first, from moments (n, 2, channels) some time apart.

    Sources of different memory are the eigenvectors of their lagged covariance (Tong et al., 1990).
    """
    first, second = ((values - values.mean(axis=0)).astype(np.float64) for values in (before, after))
    both = (np.einsum("nac,nad->cd", first, first) + np.einsum("nac,nad->cd", second, second)) / 2
    lagged = np.einsum("nac,nad->cd", first, second)
    variance, axes = np.linalg.eigh(both)
    if variance.max() <= 0:  # nothing ever stands out
        return np.full((len(axes), 1), 1 / len(axes), np.float32)
    axes = axes[:, variance > _SAME * variance.max()]
    memory, mixed = eigh(axes.T @ (lagged + lagged.T) @ axes / 2, axes.T @ both @ axes)
    found = axes @ mixed[:, np.argsort(-memory)]
    return (found / np.abs(found).sum(axis=0)).astype(np.float32)
