"""Work in a process of its own that runs when it is told to: contenders take turns, so that noise meets all alike."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from minaction._platform import choose_device

Advance = Callable[[], float]
"""Does some work, waits until it is done, and says how many units it was."""


@dataclass(frozen=True)
class Round:
    """One turn of one contender."""

    units: float
    seconds: float
    cpu_seconds: float
    """The processor time that the process used, in all of its threads."""
    peak_bytes: int
    """The most memory that the process ever had resident."""

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.units / self.seconds


class Contender:
    """`make(**settings)` is called in a fresh process and warms up; what it returns is run there, turn by turn."""

    def __init__(self, make: Callable[..., Advance], *, device: str = "auto", **settings: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, device, settings), daemon=True)
        self._process.start()
        theirs.close()

    def wait_until_ready(self) -> int:
        """Return when it is made; how much memory it has resident by then."""
        return self._answer()

    def run(self, seconds: float) -> Round:
        """One turn of at least so many seconds."""
        self._connection.send(seconds)
        return self._answer()

    def _answer(self) -> Any:
        try:
            return self._connection.recv()
        except EOFError:
            raise SystemExit("A contender ended early; what it had to say stands above.") from None

    def __enter__(self) -> Contender:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._connection.close()
        self._process.join(timeout=10)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()


def in_turns(contenders: Mapping[str, Contender], rounds: int, seconds: float) -> dict[str, list[Round]]:
    """The rounds of every contender; they take turns, so that a slow moment of the machine is shared."""
    for contender in contenders.values():
        contender.wait_until_ready()
    found: dict[str, list[Round]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            found[name].append(contender.run(seconds))
    return found


def peak_resident_bytes() -> int:
    """The most memory that this process ever had resident."""
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Not getrusage: on Linux its peak starts at that of the process this one was started from.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024


def _serve(connection: Connection, make: Callable[..., Advance], device: str, settings: dict[str, Any]) -> None:
    choose_device(device)  # before JAX is imported
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # contenders share a GPU's memory
    advance = make(**settings)
    connection.send(psutil.Process().memory_info().rss)
    while True:
        try:
            seconds = connection.recv()
        except EOFError:
            return
        began, busy, units = time.perf_counter(), time.process_time(), 0.0
        while time.perf_counter() - began < seconds or units == 0:
            units += advance()
        elapsed, busy = time.perf_counter() - began, time.process_time() - busy
        connection.send(Round(units, elapsed, busy, peak_resident_bytes()))
