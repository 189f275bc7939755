"""`minaction export` and `minaction card`: a model for other runtimes, and what there is to know about it."""

from __future__ import annotations

from pathlib import Path

from .._files import atomic_write
from .._model import DistanceModel
from ..errors import InputError
from ..training import Run
from ..training._run import is_run
from ._options import Card, Export


def export(options: Export) -> int:
    """Write one model of a run."""
    _model(options.run, options.seed).export(options.output, options.part)
    print(f"wrote {options.output}")
    return 0


def card(options: Card) -> int:
    """Write or print the card of one model of a run."""
    model = _model(options.run, options.seed)
    if options.folder is not None:
        if options.output is not None:
            raise InputError("A folder has the card in its README.md; give --output or --folder, not both.")
        if options.folder.suffix:
            raise InputError(f"{options.folder} looks like a file; name a folder without a dot.")
        model.save(options.folder, licence=options.licence)
        print(f"wrote {options.folder}")
    elif options.output is not None:
        with atomic_write(options.output) as file:
            file.write(model.card(options.licence).encode())
        print(f"wrote {options.output}")
    else:
        print(model.card(options.licence), end="")
    return 0


def _model(path: Path, seed: int | None) -> DistanceModel:
    if path.is_dir() and is_run(path):
        run = Run.open(path)
        chosen = run.config.seeds[0] if seed is None else seed
        if chosen not in run.config.seeds:
            raise InputError(f"{path} has no seed {chosen}; it has {', '.join(map(str, run.config.seeds))}.")
        return DistanceModel.load(run.model_path(chosen))
    if seed is not None:
        raise InputError(f"{path} is one model; give the folder of its run to choose a seed.")
    return DistanceModel.load(path)
