"""A Ray cluster: one task per batch. Runs travel as bytes, so that machines need not share a file system.

Tasks are not put together into one program here: that would leave other machines of the cluster idle.

Whoever reaches a Ray cluster can run programs on it. So a cluster that a suite starts listens on this machine alone,
and one at an address is asked with a token.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._orphans import agents_of_ray_end_with_us
from ..errors import InputError, MissingExtra
from ..training import Run, RunConfig
from ._schedule import Batch
from ._work import Update, pack, train_batch, unpack

_RETRIES = 5  # how often a batch is begun anew because its machine was lost
_SECONDS_BETWEEN_LOOKS = 1.0
_TOKEN = {"RAY_AUTH_MODE": "token"}
# Ray on Linux otherwise listens on every network. Under this name, because it is what Ray does on macOS by itself.
_LOOPBACK_ALONE = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@dataclass(frozen=True)
class RayCluster:
    """The cluster at `address` ("auto": the one of this machine); without one, a cluster that ends with the suite.

    Every machine needs `minaction[ray]` of the same version. Where the cluster has GPUs, each batch asks for one.
    """

    address: str | None = None
    device: str = "auto"
    replicas: int = field(default=1, init=False)

    def train(self, batches: Iterable[Batch], prepare: Callable[[RunConfig], Run]) -> Generator[Update]:
        """See `Backend.train`. A batch whose machine is lost is trained again elsewhere, from where it came."""
        with self._connected() as ray:
            has_gpu = self.device != "cpu" and ray.cluster_resources().get("GPU", 0) > 0
            if self.device == "gpu" and not has_gpu:
                raise InputError("The cluster has no GPU; leave --device out, or start it with --num-gpus.")
            environment = {"env_vars": {"JAX_PLATFORMS": "cpu"}} if self.device == "cpu" else {}
            task = ray.remote(_train).options(
                num_cpus=1, num_gpus=int(has_gpu), max_retries=_RETRIES, runtime_env=environment
            )
            node = ray.get_runtime_context().get_node_id()
            here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
            inbox = ray.remote(_Inbox).options(num_cpus=0, scheduling_strategy=here).remote()
            under_way = {}
            for batch in batches:
                paths = [prepare(config).path for config in batch.configs]
                under_way[task.remote({str(path): pack(path) for path in paths}, inbox)] = paths
            while under_way:
                done, _ = ray.wait(list(under_way), timeout=_SECONDS_BETWEEN_LOOKS)
                yield from ray.get(inbox.take.remote())
                for reference in done:
                    yield from _outcome(ray, reference, under_way.pop(reference))

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        address = self.address or os.environ.get("RAY_ADDRESS")
        # Before Ray is imported, which reads it once; what a person has set stands.
        for name, value in (_TOKEN if address else _TOKEN | _LOOPBACK_ALONE).items():
            os.environ.setdefault(name, value)
        try:
            import ray
            import ray.exceptions
            import ray.util.scheduling_strategies
        except ImportError:
            raise MissingExtra("A suite on Ray", "ray") from None
        try:
            if address is not None:
                _knock(address)
            with _private_files():
                ray.init(
                    address=address or "local",
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
        except ray.exceptions.AuthenticationError as error:
            raise InputError(
                f"The Ray cluster at {address} is asked with a token, and there is none here; on its machine "
                "`ray get-auth-token` prints it, here it belongs in ~/.ray/auth_token or RAY_AUTH_TOKEN."
            ) from error
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"There is no Ray cluster at {address or 'this machine'}, or not with this token "
                f"({str(error).splitlines()[0]}); start one with `ray get-auth-token --generate` and "
                "`RAY_AUTH_MODE=token ray start --head`, which says its address."
            ) from error
        with contextlib.nullcontext() if address else agents_of_ray_end_with_us():
            try:
                yield ray
            finally:
                ray.shutdown()


@contextlib.contextmanager
def _private_files() -> Iterator[None]:
    """Ray writes a new token where everybody can read it."""
    umask = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(umask)


def _knock(address: str) -> None:
    """Raise an error where nobody listens; Ray itself would try for minutes and then end the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _outcome(ray: Any, reference: Any, paths: list[Path]) -> list[Update]:
    try:
        ends, files = ray.get(reference)
    except ray.exceptions.RayError as error:
        why = f"Ray gave it up: {str(error).splitlines()[0]}"
        return [Update(path, "failed", text=why, details=str(error)) for path in paths]
    for path in paths:
        unpack(files[str(path)], path)
        Run.open(path).tidy()  # what it was begun from elsewhere
    return ends


class _Inbox:
    """Lives on the suite's own machine and gathers what the workers tell."""

    def __init__(self) -> None:
        self._updates: list[Update] = []

    def add(self, update: Update) -> None:
        self._updates.append(update)

    def take(self) -> list[Update]:
        taken, self._updates = self._updates, []
        return taken


def _train(files: dict[str, dict[str, bytes]], inbox: Any) -> tuple[list[Update], dict[str, dict[str, bytes]]]:
    """The task that runs on some machine of the cluster: how every run ended, and its folder."""
    last, ends = 0.0, list[Update]()
    with tempfile.TemporaryDirectory(prefix="minaction-") as scratch:
        folders = {Path(scratch) / str(k): path for k, path in enumerate(files)}

        def tell(update: Update) -> None:
            nonlocal last
            update = replace(update, run=Path(folders[update.run]))
            if update.is_end:
                ends.append(update)
            elif update.kind != "progressed" or time.monotonic() - last > _SECONDS_BETWEEN_LOOKS:
                last = time.monotonic()
                inbox.add.remote(update)

        for folder, path in folders.items():
            unpack(files[path], folder)
        train_batch(list(folders), tell)
        return ends, {path: pack(folder) for folder, path in folders.items()}
