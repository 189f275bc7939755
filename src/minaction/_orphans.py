"""Processes that end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.connection import wait


def end_with_parent() -> None:
    """End this process, if multiprocessing started it, when its parent ends, even if that is killed.

    Otherwise a worker waits forever for work that nobody will send.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if not parent.is_alive():
        os._exit(1)
    threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
