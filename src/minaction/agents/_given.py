"""What users give an agent's training, checked before hours are spent on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from .._model import DistanceModel
from ..errors import InputError
from ..tasks import TASKS, read
from ..training._start import starting_models
from ..trajectories import Trajectories, as_trajectories
from ._actions import Actions
from ._policy import check_features


def given(
    data: Any, goal_inputs: Sequence[int] | None, seeds: Sequence[int], steps: int | None
) -> tuple[tuple[int, ...], Trajectories, dict[str, Any]]:
    """The seeds, the recording, which may be all that `fit` takes, and what its actions and goals are."""
    all_seeds, usual = checked_seeds(seeds, steps), usual_inputs(data)
    recording = read(data, keep_actions=True) if isinstance(data, str | Path) else as_trajectories(data)
    actions, inputs = Actions.of(recording), chosen_inputs(recording, usual if goal_inputs is None else goal_inputs)
    return all_seeds, recording, {"actions": actions, "goal_inputs": tuple(map(int, inputs))}


def fitting_model(model: DistanceModel | str | Path, data: Trajectories) -> DistanceModel:
    """A model, or the one in a file or of a run; refused where it is of other states than those of `data`."""
    if not isinstance(model, DistanceModel | str | Path):
        raise InputError(
            f"An object of type {type(model).__name__} is not a model; give one that `fit` made, or its file or run "
            "folder."
        )
    [model] = starting_models(model, 1)
    if data.state_shape != model.state_shape:
        raise InputError(f"The data has states of shape {data.state_shape} and the model of {model.state_shape}.")
    return model


def checked_seeds(seeds: Sequence[int], steps: int | None) -> tuple[int, ...]:
    """The seeds; refused if they, or the number of steps, are none that can be trained."""
    found = () if isinstance(seeds, Integral) else tuple(seeds)
    if not found or not all(isinstance(one, Integral) and 0 <= one < 1 << 32 for one in found):
        raise InputError("Training takes at least one seed, and seeds are whole numbers from 0 to 4294967295.")
    if steps is not None and not (isinstance(steps, Integral) and 1 <= steps < 1 << 31):
        raise InputError(f"An agent is trained for a whole number of steps, from 1 to 2147483647, not for {steps}.")
    return found


def usual_inputs(source: Any) -> Sequence[int] | None:
    """The numbers of a state that goals of a task are about, by its name; None where nothing is known of that."""
    return TASKS[source].goal_inputs if isinstance(source, str) and source in TASKS else None


def chosen_inputs(data: Trajectories, goal_inputs: Sequence[int] | None) -> np.ndarray:
    """The numbers of a state that goals are about: all, unless the user says which."""
    check_features(data.state_shape)
    size = data.state_shape[0]
    if goal_inputs is None:
        return np.arange(size)
    try:
        found = np.unique(np.asarray(goal_inputs))
    except ValueError:  # rows of different lengths
        found = np.empty(0)
    if found.dtype.kind not in "iu" or not len(found) or found[0] < 0 or found[-1] >= size:
        raise InputError(f"goal_inputs are {goal_inputs}, but a state has the numbers 0 to {size - 1}.")
    return found


def only(data: Trajectories, inputs: np.ndarray) -> Trajectories:
    """The recording of some of the numbers of its states."""
    return data if len(inputs) == data.state_shape[0] else replace(data, states=data.states[:, inputs], columns=())
