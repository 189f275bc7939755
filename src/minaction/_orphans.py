"""Processes that end with the one that started them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import threading
from collections.abc import Iterator
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


@contextlib.contextmanager
def agents_of_ray_end_with_us() -> Iterator[None]:
    """Have a process wait meanwhile that ends the agents of this process's Ray cluster if it is killed.

    By themselves they would wait a minute for Ray's server, which is gone as well. They live as long as the cluster and
    in our process group, unlike workers, which come and go and whose numbers might be another program's by then.
    """
    import psutil  # Ray brings it along

    raylets = [child for child in psutil.Process().children() if child.name() == "raylet"]
    agents = [str(one.pid) for raylet in raylets for one in raylet.children() if os.getpgid(one.pid) == os.getpgrp()]
    waiting = ["sh", "-c", 'read -r _; kill -9 "$@"', "sh", *agents]  # its input ends when nobody is left to write it
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        waiting, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
    ) as process:
        try:
            yield
        finally:
            process.kill()
