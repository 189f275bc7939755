"""Training on this machine: every worker is a separate process, so that a crash does not affect the others."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from .._cores import core_count, keeping_to, share_of_cores
from .._orphans import end_with_parent
from .._platform import default_device
from ..training import Run, RunConfig
from ._schedule import Batch
from ._work import Update, train_batch

_MEMORY_OF_A_WORKER = 2 << 30  # on CliffWalking a worker takes a third of it

# Starting a worker takes a few seconds; but a worker keeps all that it compiled, about 50 MiB per batch.
_BATCHES_OF_A_WORKER = 10
_REPLICAS_OF_A_GPU = 20


@dataclass(frozen=True)
class Local:
    """At most `jobs` programs at a time, with at most `replicas` runs each if they are of several tasks."""

    jobs: int
    replicas: int = 1
    batches_of_a_worker: int = 1
    """How many batches a worker trains, one after the other, before a new one replaces it."""

    @classmethod
    def default(cls, batches: int, jobs: int | None = None, replicas: int | None = None) -> Local:
        """The settings for this machine and this many batches.

        A GPU gets one worker and up to 20 runs per program, because fewer do not keep it busy; its memory is released
        only when a process ends. A CPU gets one worker per core, as far as memory suffices, but no more than there are
        batches, so that the seeds of few batches can use all cores.
        """
        on_cpu = default_device() == "cpu"
        return cls(
            jobs or (_workers_of_a_cpu(batches) if on_cpu else 1),
            replicas or (1 if on_cpu else _REPLICAS_OF_A_GPU),
            _BATCHES_OF_A_WORKER if on_cpu else 1,
        )

    def train(self, batches: Iterable[Batch], prepare: Callable[[RunConfig], Run]) -> Generator[Update]:
        """See `Backend.train`."""
        if self.jobs > 1:  # workers share a GPU's memory, if there is one; JAX would give all of it to the first
            os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        waiting, workers = iter(batches), list[_Worker]()
        try:
            while True:
                while (place := self._free_place(workers)) is not None and (batch := next(waiting, None)) is not None:
                    self._worker_at(place, workers).train([prepare(config).path for config in batch.configs])
                if not (busy := [worker for worker in workers if worker.busy]):
                    return
                for ready in wait([worker.pipe for worker in busy]):
                    worker = next(worker for worker in busy if worker.pipe is ready)
                    updates = worker.next_updates()
                    if not worker.busy and (worker.died or worker.batches == self.batches_of_a_worker):
                        worker.end(patience=10.0)
                        workers.remove(worker)
                    yield from updates
        finally:
            for worker in workers:
                worker.end()

    def _free_place(self, workers: list[_Worker]) -> int | None:
        """A place whose worker is idle, or that has none."""
        taken = {worker.place for worker in workers if worker.busy}
        return min(set(range(self.jobs)) - taken, default=None)

    def _worker_at(self, place: int, workers: list[_Worker]) -> _Worker:
        """The worker at a place; a new one if there is none."""
        for worker in workers:
            if worker.place == place:
                return worker
        workers.append(_Worker(place, share_of_cores(place, self.jobs)))
        return workers[-1]


class _Worker:
    """The suite's side of a process that trains batches, one at a time."""

    def __init__(self, place: int, cores: set[int]) -> None:
        self.place = place
        """Its number among the workers that run at the same time."""
        # Spawned, since JAX does not survive a fork.
        context = multiprocessing.get_context("spawn")
        self.busy = list[Path]()
        """The runs that have not ended yet."""
        self.batches = 0
        """How many batches it has been given."""
        self.died = False
        self.pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(target=_work, args=(theirs,), daemon=True)
        with keeping_to(cores):  # from the start: JAX and NumPy create as many threads as there are cores
            self._process.start()
        theirs.close()

    def train(self, paths: list[Path]) -> None:
        """Give it a batch."""
        self.busy = list(paths)
        self.batches += 1
        with contextlib.suppress(BrokenPipeError):  # it died while idle, which `next_updates` reports
            self.pipe.send(paths)

    def next_updates(self) -> list[Update]:
        """Its next updates; if the process died, a failure of every run that it was training."""
        try:
            updates = [self.pipe.recv()]
        except (EOFError, ConnectionResetError):
            self.died = True
            self._process.join()
            code = self._process.exitcode or 0
            how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            why = f"The worker {how}; it may have run out of memory."
            updates = [Update(path, "failed", text=why) for path in self.busy]
        ended = [update.run for update in updates if update.is_end]
        self.busy = [path for path in self.busy if path not in ended]
        return updates

    def end(self, patience: float = 0.0) -> None:
        """End the process, waiting `patience` seconds for it to exit; its files are complete and can be resumed."""
        self.pipe.close()
        self._process.join(patience)
        self._process.kill()
        self._process.join()


def _work(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the suite handles it
    end_with_parent()
    with contextlib.suppress(EOFError):  # no more batches
        while True:
            train_batch(pipe.recv(), pipe.send)


def _workers_of_a_cpu(batches: int) -> int:
    jobs = min(core_count(), batches)
    with contextlib.suppress(ValueError, OSError):  # not every system reports its memory
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        jobs = min(jobs, memory // _MEMORY_OF_A_WORKER)
    return max(1, jobs)
