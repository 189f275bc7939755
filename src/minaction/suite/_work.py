"""What a worker does, on this machine or another: train a batch of runs in their folders and report on it."""

from __future__ import annotations

import contextlib
import errno
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from .._files import atomic_write
from .._locks import locked
from ..errors import InputError, MissingExtra
from ..tasks import Source
from ..training import Diverged, Evaluated, Finished, Progressed, Run, RunConfig, Training, train
from ._schedule import Batch

_PATIENCE = 20.0  # seconds to wait for a worker of a killed suite to release a run


@dataclass(frozen=True)
class Update:
    """A change in the state of a run."""

    run: Path
    kind: Literal["started", "progressed", "finished", "skipped", "failed", "disk full"]
    step: int = 0
    text: str = ""
    """Its progress, or why it ended, in one sentence."""
    details: str = ""

    @property
    def is_end(self) -> bool:
        """Whether this is the last update of the run."""
        return self.kind not in ("started", "progressed")


Tell = Callable[[Update], None]


class Backend(Protocol):
    """Where batches are trained."""

    @property
    def replicas(self) -> int:
        """The largest number of runs in one program; seeds of one task and method always share one."""
        ...

    def train(self, batches: Iterable[Batch], prepare: Callable[[RunConfig], Run]) -> Generator[Update]:
        """Train every run in its folder and yield updates; a free worker takes the next batch.

        After "finished" the run is complete in its folder. Closing the generator ends all workers.
        """
        ...


def train_batch(paths: Sequence[Path], tell: Tell) -> None:
    """Train runs side by side to the end, from their checkpoints, and report how each ended.

    A run whose data is not available, or that diverges, does not affect the others.
    """
    sources: dict[tuple[Any, ...], Source] = {}  # runs on the same data share it, on the device too
    ready: dict[Path, Training] = {}
    anew: dict[Path, Training] = {}
    with contextlib.ExitStack() as locks:
        for path in paths:
            try:
                run = Run.open(path)
                locks.enter_context(locked(path, patience=_PATIENCE))
                tell(Update(path, "started"))
                if run.finished:
                    tell(Update(path, "finished"))
                    continue
                data = (run.config.data, run.config.episodes, run.config.table)
                source = sources.setdefault(data, Source(data[0], run.config.seeds, *data[1:]))
                dropped = run.drop_damaged()
                (anew if dropped else ready)[path] = Training.of(run, source)
                if dropped:
                    tell(Update(path, "progressed", text=f"{', '.join(dropped)} was damaged; training again"))
            except Exception as error:
                tell(_ending(path, error))
        for together in (ready, anew):  # runs that lost a checkpoint would make the others start again too
            if together:
                _train(together, tell)


def _train(trainings: Mapping[Path, Training], tell: Tell) -> None:
    going, paths = dict.fromkeys(trainings), {id(training): path for path, training in trainings.items()}
    notes: dict[Path, str] = {}
    try:
        for event in train(list(trainings.values())):
            path = paths[id(event.training)]
            if isinstance(event, Progressed):
                tell(Update(path, "progressed", event.step, notes.get(path) or f"loss {event.loss:.4f}"))
            elif isinstance(event, Evaluated):
                notes[path] = event.note
            elif isinstance(event, Diverged):
                del going[path]
                tell(_ending(path, event.error))
            elif isinstance(event, Finished):
                del going[path]
                tell(Update(path, "finished", event.training.steps))
    except Exception as error:  # if the program fails, it fails for all that it trains
        for path in going:
            tell(_ending(path, error))


def _ending(path: Path, error: Exception) -> Update:
    """The last update of a run that ended with an error."""
    if isinstance(error, MissingExtra):
        return Update(path, "skipped", text=str(error))
    kind = "disk full" if disk_is_full(error) else "failed"
    text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return Update(path, kind, text=text, details="".join(traceback.format_exception(error)))


def disk_is_full(error: BaseException | None) -> bool:
    """Whether a write failed for lack of space, directly or as the cause of another error."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return error is not None and disk_is_full(error.__cause__)


def pack(folder: Path) -> dict[str, bytes]:
    """The files of a run's folder as bytes, to be sent to another machine."""
    files = (path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return {path.name: path.read_bytes() for path in files}


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """The inverse of `pack`; results.json, which marks a run as finished, is written last."""
    for name in sorted(files, key=lambda name: name == "results.json"):
        with atomic_write(folder / name) as file:
            file.write(files[name])
