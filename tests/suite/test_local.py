"""Workers on this machine: how many, and on which cores."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import pytest

from minaction.suite import _local as local
from minaction.suite._cells import Cell, Group, Method
from minaction.suite._local import Local, sensible_jobs

SMALL = Method("small", "maddist", {"stages": [8, 4], "batch_size": 8, "constraint_batch_size": 8})


def _group(label: str, folder: Path) -> Group:
    """A small group to be trained, with its place in a folder."""
    group = Group((Cell("cliffwalking", replace(SMALL, label=label), 0, 20, episodes=3),))
    (folder / group.name).mkdir()
    return group


def test_there_are_as_many_workers_as_cores_unless_memory_or_work_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    monkeypatch.setattr(local, "_MEMORY_OF_A_WORKER", 1)
    assert sensible_jobs("cpu", groups=20) == 6
    assert sensible_jobs("cpu", groups=4) == 4, "which have more cores each"
    monkeypatch.setattr(local, "_MEMORY_OF_A_WORKER", 1 << 60)
    assert sensible_jobs("cpu", groups=20) == 1
    assert sensible_jobs("gpu", groups=20) == 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot tell")
def test_each_worker_keeps_to_cores_of_its_own(tmp_path: Path) -> None:
    groups = [_group(label, tmp_path) for label in ("one", "two")]
    jobs = min(2, len(os.sched_getaffinity(0)))
    kept = []
    with contextlib.closing(Local(jobs).run([(group,) for group in groups], lambda one: tmp_path / one.name)) as events:
        for event in events:
            if event.kind == "started":
                kept += [os.sched_getaffinity(worker.pid) for worker in multiprocessing.active_children()]  # type: ignore[arg-type]
    assert {len(cores) for cores in kept} >= {len(os.sched_getaffinity(0)) // jobs}


@pytest.mark.parametrize(("bundles", "workers"), [pytest.param(1, 3, marks=pytest.mark.slow), (2, 2), (9, 1)])
def test_a_worker_stays_for_some_bundles(bundles: int, workers: int, tmp_path: Path) -> None:
    groups = [_group(label, tmp_path) for label in ("one", "two", "three")]
    seen, finished = set[int | None](), list[str]()
    with contextlib.closing(
        Local(1, bundles_of_a_worker=bundles).run([(group,) for group in groups], lambda one: tmp_path / one.name)
    ) as events:
        for event in events:
            if event.kind == "started":
                seen |= {worker.pid for worker in multiprocessing.active_children()}
            elif event.is_end:
                finished.append(f"{event.group}: {event.kind}")
    assert len(seen) == workers
    assert finished == [f"{group.name}: finished" for group in groups]
    assert not multiprocessing.active_children()


def test_a_worker_that_dies_takes_one_bundle_along(tmp_path: Path) -> None:
    groups = [_group(label, tmp_path) for label in ("one", "two")]
    ends = {}
    with contextlib.closing(
        Local(1, bundles_of_a_worker=9).run([(group,) for group in groups], lambda one: tmp_path / one.name)
    ) as events:
        for event in events:
            if event.kind == "started" and not ends:
                (worker,) = multiprocessing.active_children()
                worker.kill()
            elif event.is_end:
                ends[event.group] = event
    assert [event.kind for event in ends.values()] == ["failed", "finished"]
    assert "SIGKILL" in ends[groups[0].name].text
