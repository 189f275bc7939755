"""Which states are images, and how their axes are arranged."""

from __future__ import annotations

import numpy as np

_MOST_CHANNELS = 16  # of an image; a first axis of at most so many before two longer ones is channels or stacked frames
_SMALLEST_SIDE = 3  # fewer rows or columns are no picture


def is_image(shape: tuple[int, ...]) -> bool:
    """Whether states of this shape are images, or several of them stacked."""
    if len(shape) not in (2, 3, 4):
        return False
    _, (height, width, _) = arrangement(shape)
    return min(height, width) >= _SMALLEST_SIDE


def arrangement(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """The order of a state's axes that puts rows and columns first, and the height, width and channels that result.

    Shapes are (height, width), (height, width, channels), (channels, height, width), or several frames of the latter
    two, (frames, ...), whose channels are taken together.
    """
    if len(shape) == 2:
        return (0, 1), (*shape, 1)  # type: ignore[return-value]
    *stacked, a, b, c = shape
    axes = tuple(range(len(stacked)))
    frames, first = (stacked[0] if stacked else 1), len(axes)
    if a <= _MOST_CHANNELS < min(b, c):
        return (first + 1, first + 2, *axes, first), (b, c, frames * a)
    return (first, first + 1, *axes, first + 2), (a, b, frames * c)


def images_of(states: np.ndarray) -> np.ndarray:
    """States as (n, height, width, channels)."""
    order, merged = arrangement(states.shape[1:])
    return states.transpose(0, *(axis + 1 for axis in order)).reshape(len(states), *merged)


def states_of(images: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Images (n, height, width, channels) as states (n, *shape): the inverse of `images_of`."""
    order, _ = arrangement(shape)
    apart = images.reshape(len(images), *(shape[axis] for axis in order))
    return apart.transpose(0, *(axis + 1 for axis in np.argsort(order)))
