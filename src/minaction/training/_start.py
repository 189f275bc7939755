"""The models that a training starts from."""

from __future__ import annotations

from pathlib import Path

from .._model import DistanceModel
from .._model_file import is_one_model
from ..errors import InputError
from ._run import Run


def starting_models(given: DistanceModel | str | Path | None, count: int) -> list[DistanceModel]:
    """One for each of `count` seeds: the model given, that of a file, or those of a run, in turn; none for None."""
    if given is None:
        return []
    if isinstance(given, DistanceModel):
        return [given] * count
    if not isinstance(given, str | Path):
        raise InputError(
            f"Cannot start from an object of type {type(given).__name__}; give a model, its file or run folder."
        )
    run = None if is_one_model(Path(given)) else Run.open(given)
    paths = [given] if run is None else [run.model_path(seed) for seed in run.config.seeds[:count]]
    models = [DistanceModel.load(path) for path in paths]
    return [models[k % len(models)] for k in range(count)]
