"""The models that a training starts from."""

from __future__ import annotations

from pathlib import Path

from .._model import DistanceModel
from ..errors import InputError
from ._run import Run


def starting_models(given: DistanceModel | str | Path | None, count: int) -> list[DistanceModel]:
    """One for each of `count` seeds: the model given, that of a file, or those of a run, in turn; none for None."""
    if given is None:
        return []
    if isinstance(given, DistanceModel):
        models = [given]
    elif isinstance(given, str | Path) and Path(given).is_dir():
        run = Run.open(given)
        models = [DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds[:count]]
    elif isinstance(given, str | Path):
        models = [DistanceModel.load(given)]
    else:
        raise InputError(f"A {type(given).__name__} is no model to start from; give one, or its file or run folder.")
    return [models[k % len(models)] for k in range(count)]
