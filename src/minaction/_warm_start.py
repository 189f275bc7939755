"""Going on from a trained model: which objective trained it, and whether it fits new data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
        setting, own, other = _first_difference(model.architecture.as_dict(), architecture.as_dict())
        raise InputError(
            f"The model to start from has {setting}={own}, but {setting}={other} is to be trained; leave the objective "
            "out, and what is set of it (--objective, --set), to go on with the model's own."
        )
    if model.state_shape != data.state_shape or not _holds(model, data.states.dtype):
        raise InputError(
            f"The model to start from takes {model.state_dtype} states of {shape_in_words(model.state_shape)}, but the "
            f"data has {data.states.dtype} states of {shape_in_words(data.state_shape)}; give data of the same kind."
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


def _holds(model: DistanceModel, dtype: np.dtype[Any]) -> bool:
    """Whether states of this type may stand for those that the model was trained on.

    Networks compute in float32, so that either floating-point type does; but not float32 where states lie so far from 0
    that the model takes off an origin, which only float64 does without loss.
    """
    own = np.dtype(model.state_dtype)
    if own == dtype:
        return True
    finer = dtype.itemsize > own.itemsize or model.units.origin is None
    return own.kind == dtype.kind == "f" and finer


def _first_difference(own: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, str, str]:
    """Which setting differs in two descriptions, such as "encoder.hidden", and its values as --set takes them."""
    for name in {**own, **other}:
        one, two = own.get(name), other.get(name)
        if one == two:
            continue
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            if one["name"] != two["name"]:
                return name, one["name"], two["name"]
            setting, first, second = _first_difference(one, two)
            return f"{name}.{setting}", first, second
        return name, _as_set(one), _as_set(two)
    raise AssertionError("They are equal.")


def _as_set(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value["name"])
    return ",".join(map(_as_set, value)) if isinstance(value, list) else str(value)
