"""`as_trajectories`: converts data in other forms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ._buffers import episodes_of_d3rlpy, episodes_of_replay_buffer, is_episode_buffer, is_replay_buffer
from ._dataset import Trajectories
from ._flat import are_frames, film, is_frame
from .readers._dataframes import from_columns
from .readers._layouts import arrange
from .readers._minari import episodes_of_minari
from .readers._names import EPISODE


def as_trajectories(data: Any) -> Trajectories:
    """Episodes from a data frame, a dictionary of arrays or of a table's columns, (E, T, D) arrays, a list of arrays, a
    Minari data set, or a replay buffer of Stable-Baselines3 or d3rlpy."""
    if isinstance(data, Trajectories):
        return data
    if isinstance(data, str | Path):
        raise InputError(f"{str(data)!r} names a recording and is none; read it first: ma.read({str(data)!r}).")
    if isinstance(data, Mapping):
        if not all(isinstance(name, str) for name in data):
            raise InputError("A dictionary of arrays has names such as 'states' and 'offsets'; give it such names.")
        if not {"states", "observations"} & data.keys() and set(EPISODE) & data.keys():
            return from_columns(data)
        return arrange({name: _as_array(name, values) for name, values in data.items()}, keep_actions=True)
    if is_frame(data) or (isinstance(data, list | tuple) and data and all(map(is_frame, data))):
        return Trajectories.from_dataframe(data)
    if hasattr(data, "iterate_episodes"):
        return episodes_of_minari(data, "the data set", keep_actions=True)
    if is_replay_buffer(data):
        return episodes_of_replay_buffer(data)
    if is_episode_buffer(data):
        return episodes_of_d3rlpy(data)
    if isinstance(data, list | tuple) or (hasattr(data, "ndim") and hasattr(data, "shape")):
        return Trajectories.from_episodes([film(data)] if are_frames(data) else data)  # type: ignore[arg-type]
    raise InputError(
        f"What is of type {type(data).__name__} cannot be read as episodes; give Trajectories, a data frame, a list of "
        "arrays, a dictionary with 'states', a Minari data set, a replay buffer, or the name of a task or file."
    )


def _as_array(name: str, values: Any) -> np.ndarray:
    try:
        return np.array(values)
    except ValueError:
        raise InputError(
            f"The rows of {name!r} have different lengths; give episodes of different lengths as a list of arrays, or "
            "one after the other with 'offsets'."
        ) from None
