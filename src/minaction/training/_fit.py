"""The front door for the common case: data in, model out."""

from __future__ import annotations

from pathlib import Path

from .._model import DistanceModel
from ..objectives._base import Objective
from ..objectives._maddist import MadDist
from ..trajectories._dataset import Trajectories
from ._trainer import Trainer


def fit(
    data: Trajectories,
    objective: Objective | None = None,
    *,
    steps: int = 50_000,
    seed: int = 0,
    progress: bool = True,
) -> DistanceModel:
    """Learn the distance of `data`; MadDist unless another objective is given."""
    from .._progress import training_progress

    trainer = Trainer(objective or MadDist(), data, steps=steps, seeds=[seed])
    with training_progress(steps, shown=progress) as show:
        while trainer.step < steps:
            terms = trainer.advance(trainer.chunk_length)
            show(trainer.step, f"loss {terms['loss'].mean():.4f}")
    return trainer.models()[0]


def load(path: str | Path) -> DistanceModel:
    """Read a model that `DistanceModel.save` or `minaction train` wrote."""
    return DistanceModel.load(path)
