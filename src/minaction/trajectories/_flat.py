"""Arrays given episode by episode, joined into flat ones."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ._arrays import as_numbers, as_states, frozen, shape_in_words

_MANY_MORE = 10  # times as many vectors as each has numbers: probably states, not episodes
_SMALLEST_FRAME = 8  # pixels


def are_frames(given: Any) -> bool:
    """Whether an array, or a list of arrays, is one film: each is a picture of bytes, grey or in colour."""
    if not getattr(given, "ndim", 1) or not len(given):
        return False
    return getattr(given[0], "dtype", None) == np.uint8 and _like_frame(np.shape(given[0]))


def film(frames: Sequence[np.ndarray]) -> np.ndarray:
    """The frames of one film as an array (T, *shape)."""
    for k, frame in enumerate(frames):
        if np.shape(frame) != np.shape(frames[0]):
            raise InputError(
                f"Image {k} has {shape_in_words(np.shape(frame))} and image 0 {shape_in_words(np.shape(frames[0]))}; "
                "give them one size."
            )
    return np.stack(frames)


def is_frame(given: Any) -> bool:
    """Whether this is a data frame of some library."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__dataframe__")


def _like_frame(shape: tuple[int, ...]) -> bool:
    if len(shape) != 3:
        return False
    channels, *sides = sorted(shape)
    return channels in (1, 3, 4) and shape[1] != channels and min(sides) >= _SMALLEST_FRAME


def flattened(episodes: Sequence[ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    """The states of all episodes (N, *shape), and their offsets (E + 1,)."""
    _refuse_one_episode(episodes)
    if not hasattr(episodes, "__len__") or isinstance(episodes, str | bytes | dict):
        raise InputError(
            f"Episodes are a list of arrays, one per episode, not {type(episodes).__name__}; "
            "for a file or a task use minaction.read, for a data frame Trajectories.from_dataframe."
        )
    if len(episodes) == 0:
        raise InputError("There are no episodes; give at least one with two states.")
    if any(map(is_frame, episodes)):
        raise InputError("A list of data frames, one per episode, has columns; give it to Trajectories.from_dataframe.")
    arrays = [as_states(episode, f"episode {k}") for k, episode in enumerate(episodes)]
    _warn_of_vectors(episodes)
    for k, array in enumerate(arrays):
        if array.shape[1:] != arrays[0].shape[1:]:
            raise InputError(
                f"Episode {k} has states of {shape_in_words(array.shape[1:])} and episode 0 of "
                f"{shape_in_words(arrays[0].shape[1:])}; all states need the same shape."
            )
    offsets = np.concatenate([[0], np.cumsum([len(array) for array in arrays])])
    return frozen(np.concatenate(arrays)), offsets


def _refuse_one_episode(given: Any) -> None:
    """Refuse an array, or a list of pictures, whose first axis counts steps."""
    shape = tuple(getattr(given, "shape", ()))
    if len(shape) in (1, 2) and not _holds_arrays(given):
        raise InputError(
            f"An array of shape {shape} is the states of one episode, not a list of episodes; "
            "give [array], or an array of shape (episodes, steps, numbers)."
        )
    if len(shape) == 4 and _like_frame(shape[1:]):
        raise InputError(
            f"An array of shape {shape} looks like the images of one episode, not like a list of episodes; "
            "give [array], or list(array) if it is episodes."
        )
    if isinstance(given, list | tuple) and are_frames(given):
        raise InputError(
            f"An array of shape {np.shape(given[0])} looks like one image, not like an episode; give the images of one "
            "episode as [np.stack(images)]."
        )


def _holds_arrays(given: np.ndarray) -> bool:
    """Whether an array of objects is a list of episodes, and not one of numbers."""
    return given.dtype == object and (given.size == 0 or hasattr(given.flat[0], "__len__"))


def _warn_of_vectors(episodes: Sequence[ArrayLike]) -> None:
    """A list of vectors is episodes of states of one number, which is seldom what many short ones are meant to be."""
    shape = np.shape(episodes[0])
    if len(shape) != 1 or shape[0] < 2 or len(episodes) < _MANY_MORE * shape[0]:
        return
    if all(np.shape(episode) == shape for episode in episodes):
        warnings.warn(
            f"{len(episodes)} vectors of {shape[0]} numbers are taken for as many episodes, with states of one number; "
            "if they are the states of one episode, give [np.array(states)].",
            stacklevel=4,
        )


def concatenated(parts: Sequence[ArrayLike], lengths: np.ndarray, what: str) -> np.ndarray:
    """One array from one part per episode; `what` names them in errors."""
    arrays = [as_numbers(part, f"the {what} of episode {k}") for k, part in enumerate(parts)]
    if len(arrays) > len(lengths):
        raise InputError(f"There are {what} for {len(arrays)} episodes but states for {len(lengths)}.")
    for k, length in enumerate(lengths):
        if k >= len(arrays) or len(arrays[k]) != length:
            given = len(arrays[k]) if k < len(arrays) else "no"
            raise InputError(f"Episode {k} has {length} states but {given} {what}; give one per state.")
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise InputError(f"The {what} have different sizes in different episodes; all need the same.")
    return frozen(np.concatenate(arrays))
