"""A suite on disk: a folder of run folders, each of one seed, and a description.

::

    SUITE/suite.json                     its name, format and version
    SUITE/TASK/METHOD/seed-0/            an ordinary run folder; see `training/_run.py`
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from .. import __version__
from .._files import read_json, write_json
from .._locks import locked
from ..errors import InputError
from ..training import Run, RunConfig
from ..training._run import FORMAT, check_free, empty_run, is_run


@dataclass(frozen=True)
class _Description:
    name: str
    format: int
    version: str


class SuiteFolder:
    """The runs of a suite. Reading them writes nothing."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._description = self.path / "suite.json"
        if self._description.exists():
            found = read_json(self._description, _Description)
            if found.format != FORMAT:
                raise InputError(
                    f"{self.path} is a suite of another format ({found.format}, made by minaction {found.version}; "
                    f"this is {__version__} with format {FORMAT}); choose another --out, or use that version."
                )
        elif self.path.exists() and (not self.path.is_dir() or any(_visible(self.path))):
            raise InputError(f"{self.path} exists and is not a suite of minaction; choose another --out.")

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[None]:
        """Create the folder if necessary, and lock it against other suites."""
        if not self._description.exists():
            write_json(self._description, _Description(name, FORMAT, __version__))
        with locked(self.path):
            for left in self.path.glob(".suite.json.*.tmp"):  # after a kill
                left.unlink(missing_ok=True)
            yield

    def run_path(self, config: RunConfig) -> Path:
        """The folder of a run, whether it exists or not."""
        data = re.sub(r"[^\w.+-]", "_", config.data)
        return self.path / data / config.method / f"seed-{config.seeds[0]}"

    def run(self, config: RunConfig) -> Run | None:
        """A run that was started or is finished; None otherwise."""
        path = self.run_path(config)
        return Run.open(path) if is_run(path) else None

    def finished(self, config: RunConfig) -> bool:
        """Whether a run is finished."""
        return (self.run_path(config) / "results.json").exists()

    def check(self, configs: Iterable[RunConfig]) -> None:
        """Refuse two runs with one folder, and to continue those that were trained with other settings."""
        data: dict[Path, str] = {}
        for config in configs:
            path, found = self.run_path(config), self.run(config)
            if (other := data.setdefault(path, config.data)) != config.data:
                raise InputError(f"{other} and {config.data} would both be trained in {path}; rename one of them.")
            if found is None or found.failure is not None:
                continue
            for key in (field.name for field in fields(RunConfig)):
                there, wanted = getattr(found.config, key), getattr(config, key)
                if there != wanted:
                    raise InputError(
                        f"{self.path} holds {config.method} on {config.data} with {key} {there}, not {wanted}; "
                        "choose another --out, or the same settings."
                    )

    def broken(self, config: RunConfig) -> str:
        """Why the folder of a run cannot be used; empty if it can."""
        try:
            found = self.run(config)
            if found is None:
                check_free(self.run_path(config))
            elif found.failure is None and found.finished:
                _ = found.results
            else:
                _ = found.metrics
        except InputError as error:
            return str(error)
        return ""

    def left(self, configs: Iterable[RunConfig]) -> list[RunConfig]:
        """The runs that are not finished."""
        return [config for config in configs if not self.finished(config)]

    def checkpoints(self, config: RunConfig) -> frozenset[int]:
        """The steps from which a run can continue; 0 if it has no checkpoint."""
        found = self.run(config)
        return frozenset(found.checkpoints if found is not None else ()) or frozenset({0})

    def prepare(self, config: RunConfig) -> Run:
        """The run to train, without the files of a failed attempt with other settings."""
        path, found = self.run_path(config), self.run(config)
        if found is not None and found.config != config and found.failure is not None:
            empty_run(path)
        return Run.create(path, config)

    def tidy(self, configs: Iterable[RunConfig]) -> None:
        """Remove temporary files that kills left in the folders of runs."""
        for run in filter(None, map(self.run, configs)):
            run.tidy()


def _visible(folder: Path) -> Iterator[Path]:
    """The files in a folder, apart from temporary ones of an interrupted write."""
    return (path for path in folder.iterdir() if not path.name.startswith("."))
