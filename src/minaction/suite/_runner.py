"""`run_suite`: trains the runs of a grid that are not finished yet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import InputError
from ..training import Run, RunConfig
from ._folder import SuiteFolder
from ._schedule import Batch, Speeds, batches
from ._work import Backend, Update, disk_is_full

_DISK_FULL = "The disk is full ({}); make room, and the same command continues where this one stopped."


@dataclass
class Tally:
    """How many runs of a suite are done, running, failed and skipped."""

    total: int
    done: int
    failed: int = 0
    skipped: int = 0
    running: set[Path] = field(default_factory=set)

    def __str__(self) -> str:
        parts = [f"{self.done} of {self.total} runs done", f"{len(self.running)} running", f"{self.failed} failed"]
        return ", ".join([*parts, f"{self.skipped} skipped"] if self.skipped else parts)


def run_suite(
    folder: SuiteFolder,
    name: str,
    configs: Sequence[RunConfig],
    backend: Backend,
    on_update: Callable[[Tally, RunConfig, Update], None] = lambda tally, config, update: None,
) -> Tally:
    """Train every run that is not finished. A failed run does not stop the others.

    Args:
        folder: where runs are stored.
        name: the name of the suite.
        configs: the runs, each of one seed.
        backend: where to train them, such as `Local.default(len(configs))`.
        on_update: called with the tally so far, the run and what happened to it.

    Returns:
        The final tally.
    """
    found = [(config, folder.broken(config)) for config in configs]
    configs = [config for config, why in found if not why]
    folder.check(configs)
    with _disk_errors(folder), folder.opened(name):
        folder.tidy(configs)
        suite = _Suite(folder, configs)
        for config, why in found:
            if why:
                suite.tally.total, suite.tally.failed = suite.tally.total + 1, suite.tally.failed + 1
                on_update(suite.tally, config, Update(folder.run_path(config), "failed", text=why))
        waiting = batches(folder, folder.left(configs), backend.replicas)
        with contextlib.closing(backend.train(suite.in_order(waiting), folder.prepare)) as updates:
            for update in updates:
                config = suite.take(update)
                if config is not None:
                    on_update(suite.tally, config, update)
        return suite.tally


class _Suite:
    def __init__(self, folder: SuiteFolder, configs: Sequence[RunConfig]) -> None:
        self.tally = Tally(total=len(configs), done=sum(map(folder.finished, configs)))
        self._left = {folder.run_path(config): config for config in folder.left(configs)}
        self._speeds = Speeds(folder, configs)
        self._tasks_not_here: set[str] = set()

    def in_order(self, waiting: list[Batch]) -> Iterator[Batch]:
        """The batches, one by one, without runs of tasks that turned out to need a missing extra."""
        waiting = list(waiting)
        while waiting:
            batch = self._speeds.longest_first(waiting)
            waiting.remove(batch)
            possible = tuple(config for config in batch.configs if config.data not in self._tasks_not_here)
            self.tally.skipped += len(batch.configs) - len(possible)
            if possible:
                yield Batch(possible, batch.steps)

    def take(self, update: Update) -> RunConfig | None:
        """Record an update and return its run, or None if that has ended: updates of a lost machine arrive late."""
        config = self._left.get(update.run)
        if config is None:
            return None
        if not update.is_end:
            self.tally.running.add(update.run)
            return config
        del self._left[update.run]
        self.tally.running.discard(update.run)
        if update.kind == "finished":
            self.tally.done += 1
            self._speeds.learn(config, Run.open(update.run).results.steps_per_second)
        elif update.kind == "failed":
            self.tally.failed += 1
            Run.open(update.run).fail(update.text, update.details)
        elif update.kind == "skipped":
            self.tally.skipped += 1
            self._tasks_not_here.add(config.data)
        else:
            raise InputError(_DISK_FULL.format(update.text.partition(";")[0]))
        return config


@contextlib.contextmanager
def _disk_errors(folder: SuiteFolder) -> Iterator[None]:
    try:
        yield
    except (OSError, InputError) as error:
        if not disk_is_full(error):
            raise
        raise InputError(_DISK_FULL.format(f"cannot write to {folder.path}")) from error
