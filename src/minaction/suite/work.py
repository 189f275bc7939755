"""What a worker does, on this machine or another: train one group in a folder, and say how it went."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ..errors import InputError, MissingExtra
from ..files import atomic_write
from ..training.run import RunConfig, RunDirectory
from .cells import Group
from .store import disk_is_full, locked


@dataclass(frozen=True)
class Event:
    """Something that happened to a group."""

    group: str
    kind: Literal["started", "step", "finished", "skipped", "failed", "disk full"]
    step: int = 0
    text: str = ""
    """How it goes, or in one sentence why it ended."""
    details: str = ""


class Backend(Protocol):
    """Where groups are trained."""

    def run(self, groups: Iterable[Group], folder_of: Callable[[Group], Path]) -> Generator[Event]:
        """Train each group in its folder, taking the next as a worker becomes free; tell what happens meanwhile.

        After "finished" the whole run lies in the folder. Closing the iterator ends all workers.
        """
        ...


def train_group(name: str, folder: Path, config: RunConfig, tell: Callable[[Event], None]) -> Event:
    """Train a run in its folder to the end, from wherever it stands; how that ended."""
    try:
        with locked(folder, wait=True):  # a worker whose suite was killed may need a moment to notice
            run = RunDirectory.create(folder, config)
            tell(Event(name, "started"))
            if not run.finished:
                from ..training.session import Session

                Session(run).train(lambda step, note: tell(Event(name, "step", step, note)))
    except Exception as error:
        if not (folder / "checkpoint.safetensors").exists():  # nothing was trained: let the folder count for nothing
            (folder / "config.json").unlink(missing_ok=True)
        return _ending(name, error)
    return Event(name, "finished")


def _ending(name: str, error: Exception) -> Event:
    """What to tell of a training that ended with an error."""
    if isinstance(error, MissingExtra):
        return Event(name, "skipped", text=str(error))
    kind = "disk full" if disk_is_full(error) else "failed"
    text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return Event(name, kind, text=text, details="".join(traceback.format_exception(error)))


def pack(folder: Path) -> dict[str, bytes]:
    """A run's folder as bytes, to travel to another machine and back."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """The inverse of `pack`; results.json, which says that a run is whole, comes last."""
    for name in sorted(files, key=lambda name: name == "results.json"):
        with atomic_write(folder / name) as file:
            file.write(files[name])
