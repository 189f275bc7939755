"""This machine: bundles are trained in processes of their own, so that a crash takes no other along."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from .._cores import core_count, share_of_cores
from ..errors import InputError
from ._bundles import Bundle
from ._cells import Group
from ._work import Event, Job, train_together

_MEMORY_OF_A_WORKER = 2 << 30  # on CliffWalking one takes a third of it

# It takes a few seconds to start a worker; but one keeps what it compiled, some 50 MiB for every bundle.
_BUNDLES_OF_A_WORKER = 10


@dataclass(frozen=True)
class Local:
    """At most `jobs` programs at a time, each of at most `lanes` cells where these belong to several groups."""

    jobs: int
    lanes: int = 1
    bundles_of_a_worker: int = 1
    """How many bundles a worker trains, one after the other, before a fresh one takes its place."""

    def run(self, bundles: Iterable[Bundle], folder_of: Callable[[Group], Path]) -> Generator[Event]:
        """See `Backend.run`."""
        if self.jobs > 1:  # they share a GPU's memory, if there is one; JAX would give all of it to the first
            os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        waiting, workers = iter(bundles), list[_Worker]()
        try:
            while True:
                while (place := self._free_place(workers)) is not None and (bundle := next(waiting, None)) is not None:
                    jobs = [Job(group.name, folder_of(group), group.config) for group in bundle]
                    self._worker_at(place, workers).train(jobs)
                if not (at_work := [worker for worker in workers if worker.at_work]):
                    return
                for ready in wait([worker.pipe for worker in at_work]):
                    worker = next(worker for worker in at_work if worker.pipe is ready)
                    events = worker.next_events()
                    if not worker.at_work and (worker.died or worker.bundles == self.bundles_of_a_worker):
                        worker.end(patience=10.0)
                        workers.remove(worker)
                    yield from events
        finally:
            for worker in workers:
                worker.end()

    def _free_place(self, workers: list[_Worker]) -> int | None:
        """A place whose worker has nothing to do, or that has none."""
        busy = {worker.place for worker in workers if worker.at_work}
        return min(set(range(self.jobs)) - busy, default=None)

    def _worker_at(self, place: int, workers: list[_Worker]) -> _Worker:
        """The worker at a place, a new one if there is none."""
        for worker in workers:
            if worker.place == place:
                return worker
        workers.append(_Worker(place, share_of_cores(place, self.jobs)))
        return workers[-1]


class _Worker:
    """A process that trains bundles, one at a time, seen from the suite."""

    def __init__(self, place: int, cores: set[int]) -> None:
        self.place = place
        """Which of the workers at a time it is."""
        # Spawned: JAX does not survive a fork.
        context = multiprocessing.get_context("spawn")
        self.at_work = list[str]()
        """The groups of which it has not said yet how they ended."""
        self.bundles = 0
        """How many it was given."""
        self.died = False
        self.pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(target=_work, args=(theirs, cores), daemon=True)
        self._process.start()
        theirs.close()

    def train(self, jobs: list[Job]) -> None:
        """Give it a bundle."""
        self.at_work = [job.name for job in jobs]
        self.bundles += 1
        with contextlib.suppress(BrokenPipeError):  # it died while it had nothing to do; `next_events` will say so
            self.pipe.send(jobs)

    def next_events(self) -> list[Event]:
        """What it says next; that it died, if it did without a word, which ends all groups that it was at."""
        try:
            events = [self.pipe.recv()]
        except (EOFError, ConnectionResetError):
            self.died = True
            self._process.join()
            code = self._process.exitcode or 0
            how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            why = f"The worker {how}; perhaps the memory did not suffice."
            events = [Event(name, "failed", text=why) for name in self.at_work]
        ended = [event.group for event in events if event.is_end]
        self.at_work = [name for name in self.at_work if name not in ended]
        return events

    def end(self, patience: float = 0.0) -> None:
        """End it, at once unless it ends by itself soon; what it wrote is whole, and can be gone on with."""
        self.pipe.close()
        self._process.join(patience)
        self._process.kill()
        self._process.join()


def _work(pipe: Connection, cores: set[int]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the suite decides
    parent = multiprocessing.parent_process()
    assert parent is not None
    if not parent.is_alive():
        return
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    if cores:
        os.sched_setaffinity(0, cores)  # before JAX is imported, which starts as many threads as there are cores
    with contextlib.suppress(EOFError):  # there is no more to do
        while True:
            train_together(pipe.recv(), pipe.send)


def _end_with(sentinel: int) -> None:
    """End this process when the suite's ends, even if that was killed."""
    wait([sentinel])
    os._exit(1)


def sensible_jobs(devices: str, groups: int) -> int:
    """One worker for a GPU, else one for every core that has memory enough: a single core is used best.

    No more than the suite has groups, so that the seeds of few groups have all cores.
    """
    if devices != "cpu":
        return 1
    jobs = min(core_count(), groups)
    with contextlib.suppress(ValueError, OSError):  # not every system can tell how much memory it has
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        jobs = min(jobs, memory // _MEMORY_OF_A_WORKER)
    return max(1, jobs)


def sensible_bundles(devices: str) -> int:
    """How many bundles a worker may train: memory on a GPU is given back only when a process ends."""
    return _BUNDLES_OF_A_WORKER if devices == "cpu" else 1


@functools.cache  # it takes a second to ask
def default_devices() -> str:
    """What JAX computes on, such as "cpu"; asked in another process, so that this one takes no memory of a GPU."""
    asked = subprocess.run(
        [sys.executable, "-c", "import jax; print(jax.default_backend())"], capture_output=True, text=True
    )
    if asked.returncode:
        reason = asked.stderr.strip().splitlines()[-1]
        raise InputError(f"The chosen device cannot be used ({reason}); leave --device out or see `minaction doctor`.")
    return asked.stdout.split()[-1]
