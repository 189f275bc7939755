"""Going on from trained models: with new data, with more steps, or with both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._model import DistanceModel
from ..objectives import Objective, make_objective
from ._run import Run


def starting_models(path: str | Path | None, count: int) -> list[DistanceModel]:
    """The models of a run or a file, one for each of `count` seeds, in turn where there are fewer; none for None."""
    if path is None:
        return []
    if Path(path).is_dir():
        run = Run.open(path)
        models = [DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds[:count]]
    else:
        models = [DistanceModel.load(path)]
    return [models[k % len(models)] for k in range(count)]


def objective_of(model: DistanceModel) -> Objective:
    """The objective that a model was trained with."""
    return make_objective(*objective_settings(model))


def objective_settings(model: DistanceModel) -> tuple[str, dict[str, Any]]:
    """The name of that objective, and the settings that differ from its own."""
    name = model.provenance.objective
    usual = make_objective(name).hyperparameters()
    return name, {key: value for key, value in model.provenance.hyperparameters.items() if usual.get(key) != value}
