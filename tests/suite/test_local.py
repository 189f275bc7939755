"""Workers on this machine: how many, and on which cores."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from minaction.suite import Batch, Local, SuiteFolder, Update
from minaction.suite import _local as local
from minaction.suite._grids import Method, trial

SMALL = Method(
    "small", "maddist", {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8, "constraint_batch_size": 8}
)


def batches(*labels: str) -> list[Batch]:
    configs = [trial("cliffwalking", replace(SMALL, label=label), 0, 20, episodes=3) for label in labels]
    return [Batch((config,), frozenset({0})) for config in configs]


def labels(updates: Sequence[Update]) -> list[str]:
    return [update.run.parent.name for update in updates]


def test_there_are_as_many_workers_as_cores_unless_memory_or_work_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    monkeypatch.setattr(local, "_MEMORY_OF_A_WORKER", 1)
    monkeypatch.setattr(local, "default_device", lambda: "cpu")
    assert Local.default(20) == Local(6, 1, 10)
    assert Local.default(4).jobs == 4, "which have more cores each"
    assert Local.default(20, jobs=3, replicas=2) == Local(3, 2, 10)
    monkeypatch.setattr(local, "_MEMORY_OF_A_WORKER", 1 << 60)
    assert Local.default(20).jobs == 1
    monkeypatch.setattr(local, "default_device", lambda: "gpu")
    assert Local.default(20) == Local(1, 20, 1)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot tell")
def test_each_worker_keeps_to_cores_of_its_own_from_its_beginning(tmp_path: Path) -> None:
    folder, jobs = SuiteFolder(tmp_path / "suite"), min(2, len(os.sched_getaffinity(0)))
    before, kept = os.sched_getaffinity(0), list[set[int]]()
    with contextlib.closing(Local(jobs).train(batches("one", "two"), folder.prepare)) as updates:
        for update in updates:
            if update.kind == "started":
                kept += [os.sched_getaffinity(worker.pid) for worker in multiprocessing.active_children()]  # type: ignore[arg-type]
    assert {len(cores) for cores in kept} >= {len(before) // jobs}
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(("stays", "workers"), [pytest.param(1, 3, marks=pytest.mark.slow), (2, 2), (9, 1)])
def test_a_worker_stays_for_some_batches(stays: int, workers: int, tmp_path: Path) -> None:
    folder, seen, ended = SuiteFolder(tmp_path / "suite"), set[int | None](), list[Update]()
    backend = Local(1, batches_of_a_worker=stays)
    with contextlib.closing(backend.train(batches("one", "two", "three"), folder.prepare)) as updates:
        for update in updates:
            if update.kind == "started":
                seen |= {worker.pid for worker in multiprocessing.active_children()}
            elif update.is_end:
                ended.append(update)
    assert len(seen) == workers
    assert labels(ended) == ["one", "two", "three"]
    assert {update.kind for update in ended} == {"finished"}
    assert not multiprocessing.active_children()


def test_a_worker_that_dies_takes_one_batch_along(tmp_path: Path) -> None:
    folder, ended = SuiteFolder(tmp_path / "suite"), list[Update]()
    one, two, three = (batch.configs[0] for batch in batches("one", "two", "three"))
    together = [Batch((one, two), frozenset({0})), Batch((three,), frozenset({0}))]
    backend = Local(1, replicas=2, batches_of_a_worker=9)
    with contextlib.closing(backend.train(together, folder.prepare)) as updates:
        for update in updates:
            if update.kind == "started" and not ended:
                (worker,) = multiprocessing.active_children()
                worker.kill()
            elif update.is_end:
                ended.append(update)
    assert labels(ended) == ["one", "two", "three"]
    assert [update.kind for update in ended] == ["failed", "failed", "finished"]
    assert ended[0].text == "The worker was ended by SIGKILL; it may have run out of memory."
