"""Arrays given episode by episode, joined into flat ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ._arrays import as_numbers, as_states, frozen, shape_in_words


def flattened(episodes: Sequence[ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    """The states of all episodes (N, *shape), and their offsets (E + 1,)."""
    if getattr(episodes, "ndim", None) == 2:
        raise InputError(
            f"An array of shape {tuple(episodes.shape)} is the states of one episode, not a list of episodes; "  # type: ignore[attr-defined]
            "give [array], or an array of shape (episodes, steps, numbers)."
        )
    if not hasattr(episodes, "__len__") or isinstance(episodes, str | bytes | dict):
        raise InputError(
            f"Episodes are a list of arrays, one per episode, not {type(episodes).__name__}; "
            "for a file or a task use minaction.read, for a data frame Trajectories.from_dataframe."
        )
    if len(episodes) == 0:
        raise InputError("There are no episodes; give at least one with two states.")
    arrays = [as_states(episode, f"episode {k}") for k, episode in enumerate(episodes)]
    for k, array in enumerate(arrays):
        if array.shape[1:] != arrays[0].shape[1:]:
            raise InputError(
                f"Episode {k} has states of {shape_in_words(array.shape[1:])} and episode 0 of "
                f"{shape_in_words(arrays[0].shape[1:])}; all states need the same shape."
            )
    offsets = np.concatenate([[0], np.cumsum([len(array) for array in arrays])])
    return frozen(np.concatenate(arrays)), offsets


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
