"""What a suite trains next."""

from __future__ import annotations

import pytest

from minaction.suite import order
from minaction.suite.bundles import Bundle
from minaction.suite.cells import Cell, Group, Method
from minaction.suite.order import LongestFirst


def group(task: str, label: str) -> Group:
    return Group((Cell(task, Method(label, "maddist", {}), seed=0, steps=10),))


def test_what_took_longest_on_an_earlier_task_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 10.0, 40.0])
    monkeypatch.setattr(order.time, "monotonic", lambda: next(clock))
    longest_first = LongestFirst()
    tasks = ("cliffwalking", "keydoor-gridworld")
    waiting: list[Bundle] = [(group(task, label),) for task in tasks for label in ("a", "b", "c")]
    for label in ("a", "b"):
        bundle = longest_first.next_of(waiting)
        assert bundle[0].name == group("cliffwalking", label).name, "as listed, while nothing is known"
        waiting.remove(bundle)
        longest_first.began(bundle[0])
        longest_first.finished(bundle[0])
    names = []
    while waiting:
        bundle = longest_first.next_of(waiting)
        names.append((bundle[0].task, bundle[0].method.label))
        waiting.remove(bundle)
    later = [("keydoor-gridworld", label) for label in ("c", "b", "a")]
    assert names == [("cliffwalking", "c"), *later], "c may take any time, b took longer than a"
