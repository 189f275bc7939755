"""The cores of this machine that are ours."""

from __future__ import annotations

import contextlib
import os


def own_cores() -> set[int]:
    """Those this process keeps to; none where the system cannot tell, and neither can have a process keep to some."""
    with contextlib.suppress(AttributeError):
        return os.sched_getaffinity(0)
    return set()


def core_count() -> int:
    """How many this process may use."""
    return len(own_cores()) or os.cpu_count() or 1
