"""Going on from a trained model: which objective trained it, and whether it fits new data."""

from __future__ import annotations

from typing import Any

from ._distance import Architecture
from ._model import DistanceModel
from .errors import InputError
from .objectives import Objective, make_objective
from .trajectories import Trajectories, shape_in_words


def objective_of(model: DistanceModel) -> Objective:
    """The objective that a model was trained with."""
    return make_objective(*objective_settings(model))


def objective_settings(model: DistanceModel) -> tuple[str, dict[str, Any]]:
    """The name of that objective, and the settings that differ from its own."""
    name = model.provenance.objective
    usual = make_objective(name).hyperparameters()
    return name, {key: value for key, value in model.provenance.hyperparameters.items() if usual.get(key) != value}


def check_fits(model: DistanceModel, architecture: Architecture, data: Trajectories) -> None:
    """Refuse a model that a training of this architecture on this data could not start from."""
    if model.architecture != architecture:
        raise InputError(
            f"The model to start from is {model.architecture}, but {architecture} is to be trained; leave the "
            "objective out to go on with the model's own."
        )
    theirs, ours = (model.state_shape, model.state_dtype), (data.state_shape, data.states.dtype.name)
    if theirs != ours:
        raise InputError(
            f"The model to start from takes {theirs[1]} states of {shape_in_words(theirs[0])}, but the data has "
            f"{ours[1]} states of {shape_in_words(ours[0])}; give data of the same kind."
        )
    if model.columns and data.columns and model.columns != data.columns:
        raise InputError(
            f"The model to start from was trained on the columns {', '.join(model.columns)}, but the data has "
            f"{', '.join(data.columns)}; name the same ones in the same order."
        )
    if model.unit != data.time_unit:
        raise InputError(
            f"The model to start from counts in {model.unit or 'actions'}, but the data in "
            f"{data.time_unit or 'steps'}; give times in the same unit."
        )
