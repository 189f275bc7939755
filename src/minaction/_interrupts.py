"""Ctrl-C between two calls of compiled code instead of in the middle of one, and never in vain."""

from __future__ import annotations

import _thread
import signal
import sys
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


@contextmanager
def none_is_lost() -> Iterator[None]:
    """Within the block, an interrupt that comes while garbage is collected is given again, a moment later.

    Python prints a traceback of it and goes on as if nothing had happened. JAX has it collect garbage often.
    """
    before = sys.unraisablehook

    def give_again(lost: sys.UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(0.01, _thread.interrupt_main).start()
        else:
            before(lost)

    sys.unraisablehook = give_again
    try:
        yield
    finally:
        sys.unraisablehook = before
