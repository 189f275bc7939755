"""The cores of this machine that are ours."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


def own_cores() -> set[int]:
    """Those this process keeps to; none where the system cannot tell, and neither can have a process keep to some."""
    with contextlib.suppress(AttributeError):
        return os.sched_getaffinity(0)
    return set()


def core_count() -> int:
    """How many this process may use."""
    return len(own_cores()) or os.cpu_count() or 1


def share_of_cores(place: int, jobs: int) -> set[int]:
    """The cores for one of several workers; they would get in each other's way with a thread each on every core."""
    return set(sorted(own_cores())[place % core_count() :: jobs])


@contextlib.contextmanager
def keeping_to(cores: set[int]) -> Iterator[None]:
    """Keep this thread to some of its cores for a while, and the threads that it starts meanwhile for good."""
    before = own_cores()
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, before)
