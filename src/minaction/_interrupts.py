"""Ctrl-C between two calls of compiled code instead of in the middle of one, and never in vain."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_Handler = Callable[[int, Any], Any]


@contextmanager
def interruptible(said: str = "") -> Iterator[Callable[[], bool]]:
    """Within the block, a function that says whether Ctrl-C was pressed; pressed again, it interrupts immediately.

    For loops around compiled code: an interrupt raised during a compiled call would lose the weights, which the call
    has taken over. `said` is a line for whoever presses it the first time, and would wait for nothing to be seen.
    """
    pressed = threading.Event()

    def press(before: _Handler) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)
        if said:
            with suppress(OSError):  # not printed, as the interrupt may have come in the middle of a print
                os.write(2, f"\n{said}\n".encode())

    with _handled_by(press):
        yield pressed.is_set


@contextmanager
def held_back() -> Iterator[None]:
    """Within the block Ctrl-C is only noted; it interrupts at the end of it."""
    pressed = threading.Event()
    with _handled_by(lambda before: pressed.set()):
        yield
    if pressed.is_set():
        raise KeyboardInterrupt


@contextmanager
def _handled_by(press: Callable[[_Handler], None]) -> Iterator[None]:
    """Within the block, Ctrl-C calls `press` with what handled it before."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield  # this process ignores it, or another thread receives it
        return
    signal.signal(signal.SIGINT, lambda number, frame: press(before))
    try:
        yield
    finally:
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
