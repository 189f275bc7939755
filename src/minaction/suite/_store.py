"""Where a suite keeps its results; see the drawing. Everything in it is whole or absent.

::

    STORE/suite.json                     its format and what made it
    STORE/cells/TASK/METHOD/seed-0/      a finished cell: config.json metrics.jsonl model.safetensors results.json
    STORE/work/TASK--METHOD/             a run that is being trained, for all its seeds; gone when they are cells
    STORE/failures/TASK--METHOD.json     why it could not be trained; gone when it could
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import __version__
from .._files import atomic_write, read_json, write_json
from ..errors import InputError
from ..training._run import RunDirectory
from ._cells import Cell, Group, grouped

FORMAT = 1

_SHARED_RESULTS = ("seconds", "steps_per_second", "device", "version")
_IDENTITY = ("objective", "settings", "steps", "episodes")


class Store:
    """The results of a suite on disk; see the drawing above. Looking at one writes nothing."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._description = self.path / "suite.json"
        if self._description.exists():
            described = read_json(self._description)
            found = described.get("format") if isinstance(described, dict) else None
            if found != FORMAT:
                made_by = described.get("version", "unknown") if isinstance(described, dict) else "unknown"
                raise InputError(
                    f"{self.path} is a store of another format ({found}, made by minaction {made_by}; this is "
                    f"{__version__} with format {FORMAT}); choose another --out, or use the version that made it."
                )
        elif self.path.exists() and (not self.path.is_dir() or any(_visible(self.path))):
            raise InputError(f"{self.path} exists and is not a store of minaction; choose another --out.")

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[None]:
        """Make it, if it is not there yet, and keep other suites off it meanwhile."""
        if not self._description.exists():
            write_json(self._description, {"format": FORMAT, "version": __version__, "name": name})
        with locked(self.path, wait=False):
            for folder in (self.path / "work").glob("*"):
                if not (folder / "config.json").exists():  # hardly begun, or about to be removed, when it was killed
                    shutil.rmtree(folder)
            yield

    # ---------------------------------------------------------------- what is there and what is not

    def folder(self, cell: Cell) -> Path:
        """Where a finished cell lies."""
        return self.path / "cells" / cell.task / cell.method.label / f"seed-{cell.seed}"

    def work_folder(self, name: str) -> Path:
        """Where a group lies while it is trained."""
        return self.path / "work" / name

    def has(self, cell: Cell) -> bool:
        """Whether the cell is finished."""
        return self.folder(cell).is_dir()

    def step(self, group: Group) -> int:
        """Where the group's training would go on; 0 if it would begin."""
        under_way = self._under_way(group.name)
        if under_way is None or under_way.config != group.config:
            return 0
        return group.steps if under_way.finished else under_way.step

    def check(self, cells: Iterable[Cell]) -> None:
        """Refuse to go on with cells that were trained, or are half trained, with other settings."""
        for group in grouped(cells):
            for cell in filter(self.has, group.cells):
                found = read_json(self.folder(cell) / "config.json")
                self._compare(cell, {key: found.get(key) for key in _IDENTITY})
            under_way = self._under_way(group.name)
            if under_way is not None and not self._failure(group.name).exists():
                self._compare(group.cells[0], under_way.config.as_dict())

    def _compare(self, cell: Cell, found: dict[str, Any]) -> None:
        for key, value in cell.as_dict().items():
            if key in _IDENTITY and found[key] != value:
                raise InputError(
                    f"{self.path} holds {cell.method.label} on {cell.task} with {key} {found[key]}, not {value}; "
                    "choose another --out, or the same settings."
                )

    def left(self, cells: Iterable[Cell]) -> list[Group]:
        """What is still to be trained: what is under way first and with its own seeds, then what is missing.

        A group that is under way is trained before the other cells of its name and without them: how many seeds are
        trained side by side can change the last bits of them all.
        """
        begun, fresh = [], []
        for group in grouped(cells):
            under_way = self._under_way(group.name)
            if under_way is not None and under_way.config == replace(group.config, seeds=under_way.config.seeds):
                begun.append(Group(tuple(replace(group.cells[0], seed=seed) for seed in under_way.config.seeds)))
            elif missing := tuple(cell for cell in group.cells if not self.has(cell)):
                fresh.append(Group(missing))
        return begun + fresh

    def _under_way(self, name: str) -> RunDirectory | None:
        folder = self.work_folder(name)
        return RunDirectory.open(folder) if (folder / "config.json").exists() else None

    # ---------------------------------------------------------------- what changes it

    def prepare(self, group: Group) -> Path:
        """The folder to train the group in, rid of what a killed or failed attempt left that is of no use."""
        folder, under_way = self.work_folder(group.name), self._under_way(group.name)
        if under_way is None or under_way.config != group.config:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def keep(self, group: Group) -> None:
        """Turn the group's finished run into cells. Killed in between, it can be done again."""
        run = RunDirectory.open(self.work_folder(group.name))
        results = run.results()
        for k, cell in enumerate(group.cells):
            if self.has(cell):
                continue
            made = run.path / "cell"
            shutil.rmtree(made, ignore_errors=True)
            write_json(made / "config.json", cell.as_dict())
            with atomic_write(made / "metrics.jsonl", "w") as file:
                file.writelines(json.dumps(row) + "\n" for row in run.metrics() if row["seed"] == cell.seed)
            with atomic_write(made / "model.safetensors") as file:
                file.write(run.model_path(cell.seed).read_bytes())
            own = {name: results[name][k] for name in ("agreement", "by_range")}
            write_json(made / "results.json", {**own, **{name: results[name] for name in _SHARED_RESULTS}})
            self.folder(cell).parent.mkdir(parents=True, exist_ok=True)
            made.rename(self.folder(cell))
        # The settings go first: without them what is left of the folder counts for nothing.
        (run.path / "config.json").unlink()
        shutil.rmtree(run.path)
        self._failure(group.name).unlink(missing_ok=True)

    def note_failure(self, group: Group, sentence: str, details: str) -> None:
        """Write down why a group could not be trained."""
        about = {"task": group.task, "method": group.method.label, "seeds": [cell.seed for cell in group.cells]}
        write_json(self._failure(group.name), {**about, "error": sentence, "traceback": details})

    def _failure(self, name: str) -> Path:
        return self.path / "failures" / f"{name}.json"


@contextlib.contextmanager
def locked(folder: Path, *, wait: bool) -> Iterator[None]:
    """Hold a folder for this process alone; the system lets go of it when the process ends, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise InputError(
                f"Another minaction is working in {folder}; wait for it, or choose another --out."
            ) from None
        yield
    finally:
        os.close(descriptor)


def disk_is_full(error: BaseException | None) -> bool:
    """Whether a write failed for want of space, perhaps told by an error of ours."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return error is not None and disk_is_full(error.__cause__)


def _visible(folder: Path) -> Iterator[Path]:
    """What lies in a folder, apart from temporary files of an interrupted write."""
    return (path for path in folder.iterdir() if not path.name.startswith("."))
