"""`load`: a model from its file or from the folder of a run."""

from __future__ import annotations

from pathlib import Path

from ._model import DistanceModel
from ._model_file import is_one_model


def load(path: str | Path) -> DistanceModel:
    """Read a model that `DistanceModel.save` or `minaction train` wrote. Nothing in the file is executed.

    Args:
        path: a model file, or the folder of a run, whose first seed is read.

    A folder that was downloaded from the Hugging Face Hub does as well.

    >>> import minaction as ma
    >>> model = ma.fit("cliffwalking", steps=1, progress=False)
    >>> model.save("/tmp/minaction-example.safetensors")
    >>> ma.load("/tmp/minaction-example.safetensors").state_shape
    (2,)
    """
    from .training import Run  # a folder may be a run's; a file needs nothing of that

    path = Path(path)
    if not is_one_model(path):
        run = Run.open(path)
        path = run.model_path(run.config.seeds[0])
    return DistanceModel.load(path)
