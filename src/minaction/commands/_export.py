"""`minaction export`: a model for other runtimes."""

from __future__ import annotations

from .._model import DistanceModel
from ..errors import InputError
from ..training import Run
from ._options import Export


def export(options: Export) -> int:
    """Write one model of a run."""
    path = options.run
    if path.is_dir():
        run = Run.open(path)
        seed = run.config.seeds[0] if options.seed is None else options.seed
        if seed not in run.config.seeds:
            raise InputError(f"{path} has no seed {seed}; it has {', '.join(map(str, run.config.seeds))}.")
        path = run.model_path(seed)
    elif options.seed is not None:
        raise InputError(f"{path} is one model; give the folder of its run to choose a seed.")
    DistanceModel.load(path).export(options.output, options.part)
    print(f"wrote {options.output}")
    return 0
