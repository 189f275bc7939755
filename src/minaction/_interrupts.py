"""Ctrl-C between two calls of compiled code instead of in the middle of one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Within the block, a function that says whether Ctrl-C was pressed; pressed again, it interrupts immediately.

    For loops around compiled code: an interrupt raised during a compiled call would lose the weights, which the call
    has taken over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread receives signals
        return
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    if callable(before):
        signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
