"""Ctrl-C between two calls of compiled code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, to be asked between two calls of compiled code; pressed again, it interrupts at once.

    Raised amid a compiled call, the interrupt would lose the weights, which the call has taken over.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread may listen to signals
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
