"""Which cores are ours, and how several workers share them out."""

from __future__ import annotations

import os
import threading

import pytest

from minaction._cores import core_count, keeping_to, own_cores, share_of_cores


@pytest.mark.parametrize(("cores", "jobs"), [(range(2), 2), (range(3, 11), 3), ({5}, 4), ({2, 7}, 1)])
def test_workers_share_the_cores_out(cores: set[int], jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(cores), raising=False)
    shares = [share_of_cores(place, jobs) for place in range(jobs)]
    assert set().union(*shares) == set(cores)
    assert all(shares)
    if jobs <= len(cores):
        assert sum(map(len, shares)) == len(cores), "no core has two workers"


def test_where_no_cores_can_be_told_workers_keep_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert share_of_cores(1, 3) == set()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot tell")
def test_a_thread_keeps_to_some_cores_for_a_while() -> None:
    before = own_cores()
    one = {min(before)}
    of_another_thread = list[int]()
    with keeping_to(one):
        assert own_cores() == one
        another = threading.Thread(target=lambda: of_another_thread.append(core_count()))
        another.start()
        another.join()
    assert of_another_thread == [1]
    assert own_cores() == before


def test_nothing_is_kept_to_where_no_cores_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    with keeping_to(share_of_cores(0, 2)):
        assert core_count() == os.cpu_count()
