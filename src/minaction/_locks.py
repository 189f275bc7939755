"""Locks on folders: one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from .errors import InputError


@contextlib.contextmanager
def locked(folder: Path, *, patience: float = 0.0) -> Iterator[None]:
    """Lock a folder for this process; the system releases the lock when the process ends, however it ends.

    If another process holds the lock, wait up to `patience` seconds before raising an `InputError`.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + patience
        while not _taken(descriptor):
            if time.monotonic() >= deadline:
                holder = _holder(os.fstat(descriptor).st_ino)
                raise InputError(
                    f"Another minaction{holder} is working in {folder}; wait for it, or choose another --out."
                )
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(inode: int) -> str:
    """The process that holds the lock, where the system tells (Linux)."""
    with contextlib.suppress(OSError, IndexError):
        for line in Path("/proc/locks").read_text().splitlines():
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5].rpartition(":")[2] == str(inode):
                return f" (process {fields[4]})"
    return ""
