"""What a worker does, on this machine or another: train groups in their folders, and say how it went."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from .._files import atomic_write
from ..errors import InputError, MissingExtra
from ..training._run import RunConfig, RunDirectory
from ._bundles import Bundle
from ._cells import Group
from ._store import disk_is_full, locked

if TYPE_CHECKING:
    from ..training._session import Member


@dataclass(frozen=True)
class Event:
    """Something that happened to a group."""

    group: str
    kind: Literal["started", "step", "finished", "skipped", "failed", "disk full"]
    step: int = 0
    text: str = ""
    """How it goes, or in one sentence why it ended."""
    details: str = ""

    @property
    def is_end(self) -> bool:
        """Whether nothing more happens to the group."""
        return self.kind not in ("started", "step")


class Backend(Protocol):
    """Where groups are trained."""

    @property
    def lanes(self) -> int:
        """How many cells to train in one program at most; those of one group always are."""
        ...

    def run(self, bundles: Iterable[Bundle], folder_of: Callable[[Group], Path]) -> Generator[Event]:
        """Train each group in its folder, taking the next bundle as a worker becomes free; tell what happens meanwhile.

        After "finished" the whole run lies in the folder. Closing the iterator ends all workers.
        """
        ...


@dataclass(frozen=True)
class Job:
    """A group as a worker sees it: a run to be trained in a folder."""

    name: str
    folder: Path
    config: RunConfig


def train_group(name: str, folder: Path, config: RunConfig, tell: Callable[[Event], None]) -> Event:
    """Train a run in its folder to the end, from wherever it stands; how that ended."""
    events = list[Event]()

    def tell_or_keep(event: Event) -> None:
        (events.append if event.is_end else tell)(event)

    train_together([Job(name, folder, config)], tell_or_keep)
    return events[0]


def train_together(jobs: Sequence[Job], tell: Callable[[Event], None]) -> None:
    """Train runs side by side to the end, from wherever they stand, and tell how each ended.

    Those that stand at different steps, because a kill fell between their checkpoints, are trained one after the other.
    One whose data cannot be had, or that diverges, is no harm to the others.
    """
    with contextlib.ExitStack() as locks:
        ready: dict[int, list[tuple[Job, Member]]] = {}
        for job in jobs:
            try:
                locks.enter_context(locked(job.folder, wait=True))  # one whose suite was killed may take a moment
                run = RunDirectory.create(job.folder, job.config)
                tell(Event(job.name, "started"))
                if run.finished:
                    tell(Event(job.name, "finished"))
                else:
                    ready.setdefault(run.step, []).append((job, _member(run)))
            except Exception as error:
                tell(_ending(job, error))
        for alike in ready.values():
            _train_alike(alike, tell)


def _member(run: RunDirectory) -> Member:
    from ..training._session import Member  # brings JAX along, which the suite itself does without

    return Member(run)


def _train_alike(alike: Sequence[tuple[Job, Member]], tell: Callable[[Event], None]) -> None:
    """Train runs that stand at the same step; if the program fails, it fails for all of them."""
    from ..training._session import Convoy

    going = {job.folder: job for job, _ in alike}
    try:
        for news in Convoy([member for _, member in alike]).train():
            if news.error is not None:
                job = going.pop(news.run.path)
                tell(_ending(job, news.error))
            elif news.results is not None:
                tell(Event(going.pop(news.run.path).name, "finished"))
            elif not news.rows:
                tell(Event(going[news.run.path].name, "step", news.step, news.note))
    except Exception as error:
        for job in going.values():
            tell(_ending(job, error))


def _ending(job: Job, error: Exception) -> Event:
    """What to tell of a training that ended with an error."""
    if not (job.folder / "checkpoint.safetensors").exists():  # nothing was trained: let the folder count for nothing
        (job.folder / "config.json").unlink(missing_ok=True)
    if isinstance(error, MissingExtra):
        return Event(job.name, "skipped", text=str(error))
    kind = "disk full" if disk_is_full(error) else "failed"
    text = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return Event(job.name, kind, text=text, details="".join(traceback.format_exception(error)))


def pack(folder: Path) -> dict[str, bytes]:
    """A run's folder as bytes, to travel to another machine and back."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def unpack(files: dict[str, bytes], folder: Path) -> None:
    """The inverse of `pack`; results.json, which says that a run is whole, comes last."""
    for name in sorted(files, key=lambda name: name == "results.json"):
        with atomic_write(folder / name) as file:
            file.write(files[name])
