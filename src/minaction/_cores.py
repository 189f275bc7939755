"""The cores that this process may use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


def own_cores() -> set[int]:
    """The cores that this process is limited to; empty on systems without CPU affinity."""
    with contextlib.suppress(AttributeError):
        return os.sched_getaffinity(0)
    return set()


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(own_cores()) or os.cpu_count() or 1


def share_of_cores(place: int, jobs: int) -> set[int]:
    """The cores for one of several workers, which would slow each other down with a thread each on every core."""
    return set(sorted(own_cores())[place % core_count() :: jobs])


@contextlib.contextmanager
def keeping_to(cores: set[int]) -> Iterator[None]:
    """Limit this thread to some cores within the block; threads started in the block stay limited."""
    before = own_cores()
    if cores:
        os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        if cores:
            os.sched_setaffinity(0, before)
