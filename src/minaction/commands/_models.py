"""What a command is given to read: models of a run or a file, the recording of a run, and files that are neither."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._files import kind_of
from .._model import DistanceModel
from .._model_file import is_one_model
from ..errors import InputError
from ..tasks import Source
from ..training import Run
from ..trajectories import Trajectories
from ..trajectories.readers import known_suffixes

_OTHERS = {"model": "a model", "agent": "an agent", "checkpoint": "a checkpoint"}


def models_of(path: Path) -> tuple[list[DistanceModel], Run | None]:
    """The models of every seed of a run, and the run; or the one of a file."""
    refuse_recording(path)
    if is_one_model(path):
        return [DistanceModel.load(path)], None
    run = Run.open(path)
    return [DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds], run


def refuse_recording(path: Path) -> None:
    """Refuse a recording in the place of a model."""
    ours = path.suffix == ".safetensors"
    if path.is_file() and (kind_of(path) == "trajectories" if ours else path.suffix.lower() in known_suffixes()):
        raise InputError(f"{path} is a recording; give the folder of a run that learned from it, or a model file.")


def refuse_models(names: Sequence[str]) -> None:
    """Refuse a model, or what else training writes, in the place of a recording."""
    for name in names:
        if name.endswith(".safetensors") and (held := _OTHERS.get(kind_of(name) or "")):
            raise InputError(f"{name} holds {held}, which is not a recording; give the file of one, or a task.")


def recording_of(run: Run, source: Source, hint: str = "") -> Trajectories:
    """What a run learned from; `hint` says what else may be given where that is not there."""
    config = run.config
    try:
        return source.data(config.seeds[0])
    except InputError:
        if source.task is not None or config.policy or ":" in config.data or Path(config.data).expanduser().exists():
            raise
    place = "" if Path(config.data).is_absolute() else ", as seen from the folder in which it was trained"
    way_out = "put it back" if not place else "go to that folder"
    raise InputError(f"There is no file {config.data!r}, from which {run.path} learned{place}; {way_out}{hint}.")
