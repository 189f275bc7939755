"""A Ray cluster: one task per group. Runs travel as bytes, so that machines need not share a file system.

Groups are not put together into one program here: that would leave other machines of the cluster idle.
"""

from __future__ import annotations

import logging
import socket
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError, MissingExtra
from ..training._run import RunConfig
from ._bundles import Bundle
from ._cells import Group
from ._work import Event, pack, train_group, unpack

_RETRIES = 5  # how often a group is begun anew because its machine was lost
_SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class RayCluster:
    """The cluster at `address`; without one, the cluster of this machine, started if need be.

    Every machine needs `minaction[ray]` of the same version. Where the cluster has GPUs, each group asks for one.
    """

    address: str | None = None
    device: str = "auto"
    lanes: int = field(default=1, init=False)

    def run(self, bundles: Iterable[Bundle], folder_of: Callable[[Group], Path]) -> Generator[Event]:
        """See `Backend.run`. A group whose machine is lost is trained again elsewhere, from where it came."""
        ray = self._connected()
        try:
            has_gpu = self.device != "cpu" and ray.cluster_resources().get("GPU", 0) > 0
            environment = {} if self.device == "auto" else {"env_vars": {"JAX_PLATFORMS": self.device}}
            train = ray.remote(_train).options(
                num_cpus=1, num_gpus=int(has_gpu), max_retries=_RETRIES, runtime_env=environment
            )
            here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                ray.get_runtime_context().get_node_id(), soft=False
            )
            news = ray.remote(_News).options(num_cpus=0, scheduling_strategy=here).remote()
            under_way = {
                train.remote(group.name, pack(folder), group.config.as_dict(), news): (group, folder)
                for group, folder in ((group, folder_of(group)) for bundle in bundles for group in bundle)
            }
            while under_way:
                done, _ = ray.wait(list(under_way), timeout=_SECONDS_BETWEEN_LOOKS)
                yield from ray.get(news.take.remote())
                for reference in done:
                    yield _outcome(ray, reference, *under_way.pop(reference))
        finally:
            ray.shutdown()

    def _connected(self) -> Any:
        try:
            import ray
            import ray.util.scheduling_strategies
        except ImportError:
            raise MissingExtra("A suite on Ray", "ray") from None
        try:
            if self.address is not None:
                _knock(self.address)
            ray.init(address=self.address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(
                f"There is no Ray cluster at {self.address} ({str(error).splitlines()[0]}); start one with "
                "`ray start --head`, which says its address."
            ) from error
        return ray


def _knock(address: str) -> None:
    """Raise an error where nobody listens; Ray itself would try for minutes and then end the process."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _outcome(ray: Any, reference: Any, group: Group, folder: Path) -> Event:
    try:
        event, files = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Event(group.name, "failed", text=f"Ray gave it up: {str(error).splitlines()[0]}", details=str(error))
    unpack(files, folder)
    return event


class _News:
    """Lives on the suite's own machine and gathers what the workers tell."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def add(self, event: Event) -> None:
        self._events.append(event)

    def take(self) -> list[Event]:
        taken, self._events = self._events, []
        return taken


def _train(name: str, files: dict[str, bytes], config: dict[str, Any], news: Any) -> tuple[Event, dict[str, bytes]]:
    """The task that runs on some machine of the cluster."""
    last = 0.0

    def tell(event: Event) -> None:
        nonlocal last
        if event.kind != "step" or time.monotonic() - last > _SECONDS_BETWEEN_LOOKS:
            last = time.monotonic()
            news.add.remote(event)

    with tempfile.TemporaryDirectory(prefix="minaction-") as folder:
        unpack(files, Path(folder))
        event = train_group(name, Path(folder), RunConfig.from_dict(config), tell)
        return event, pack(Path(folder))
