"""JAX does not survive a fork: its threads are gone in the child, which then waits for them forever."""

from __future__ import annotations

import os
import warnings

_process: int | None = None
"""The process in which JAX made the first model."""


def note_process() -> None:
    """Remember that JAX runs in this process."""
    global _process
    if _process is None:
        _process = os.getpid()


def warn_if_forked() -> None:
    """Say so, once, where JAX ran before this process was forked."""
    global _process
    if _process is not None and _process != os.getpid():
        _process = os.getpid()
        warnings.warn(
            "This process was forked from one in which JAX runs, and may hang; start it with multiprocessing's 'spawn' "
            "method, or ask the model with minaction.runtimes.numpy, which survives a fork.",
            stacklevel=3,
        )
