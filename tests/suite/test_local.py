"""Workers on this machine: how many, and on which cores."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import pytest

from minaction.suite import local
from minaction.suite.cells import Cell, Group, Method
from minaction.suite.local import Local, sensible_jobs

SMALL = Method("small", "maddist", {"stages": [8, 4], "batch_size": 8, "constraint_batch_size": 8})


@pytest.mark.parametrize(("cores", "jobs"), [(range(2), 2), (range(3, 11), 3), ({5}, 4), ({2, 7}, 1)])
def test_workers_share_the_cores_out(cores: set[int], jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_cores", lambda: set(cores))
    shares = [local._share_of_cores(place, jobs) for place in range(jobs)]
    assert set().union(*shares) == set(cores)
    assert all(shares)
    if jobs <= len(cores):
        assert sum(map(len, shares)) == len(cores), "no core has two workers"


def test_where_no_cores_can_be_told_workers_keep_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_cores", set)
    assert local._share_of_cores(1, 3) == set()


def test_there_are_as_many_workers_as_cores_unless_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_cores", lambda: set(range(6)))
    monkeypatch.setattr(local, "_MEMORY_OF_A_WORKER", 1)
    assert sensible_jobs("cpu") == 6
    monkeypatch.setattr(local, "_MEMORY_OF_A_WORKER", 1 << 60)
    assert sensible_jobs("cpu") == 1
    assert sensible_jobs("gpu") == 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot tell")
def test_each_worker_keeps_to_cores_of_its_own(tmp_path: Path) -> None:
    methods = [replace(SMALL, label=label) for label in ("one", "two")]
    groups = [Group((Cell("cliffwalking", method, 0, 20, episodes=3),)) for method in methods]
    for group in groups:
        (tmp_path / group.name).mkdir()
    jobs = min(2, len(os.sched_getaffinity(0)))
    kept = []
    with contextlib.closing(Local(jobs).run([(group,) for group in groups], lambda one: tmp_path / one.name)) as events:
        for event in events:
            if event.kind == "started":
                kept += [os.sched_getaffinity(worker.pid) for worker in multiprocessing.active_children()]  # type: ignore[arg-type]
    assert {len(cores) for cores in kept} >= {len(os.sched_getaffinity(0)) // jobs}
