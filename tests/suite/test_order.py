"""What a suite trains next."""

from __future__ import annotations

import pytest

from minaction.suite import order
from minaction.suite.bundles import Bundle
from minaction.suite.cells import Cell, Group, Method
from minaction.suite.order import LongestFirst


def group(task: str, label: str) -> Group:
    return Group((Cell(task, Method(label, "maddist", {}), seed=0, steps=10),))


def times_of(
    took: dict[tuple[str, str], float], workers: int, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str]]:
    """The order in which workers that are never idle begin with groups that take so long."""
    now = 0.0
    monkeypatch.setattr(order.time, "monotonic", lambda: now)
    longest_first = LongestFirst()
    waiting: list[Bundle] = [(group(*name),) for name in took]
    busy, begun = list[tuple[float, Group]](), list[tuple[str, str]]()
    while waiting or busy:
        if waiting and len(busy) < workers:
            bundle = longest_first.next_of(waiting)
            waiting.remove(bundle)
            name = (bundle[0].task, bundle[0].method.label)
            begun.append(name)
            longest_first.began(bundle[0])
            busy.append((now + took[name], bundle[0]))
        else:
            busy.sort(key=lambda one: one[0])
            now, finished = busy.pop(0)
            longest_first.finished(finished)
    return begun


def test_every_task_is_tried_before_the_long_ones_and_the_short_ones_fill_the_gaps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    methods = {"a": 1.0, "b": 3.0, "c": 2.0}
    tasks = {"cliffwalking": 10.0, "keydoor-gridworld": 30.0}
    took = {(task, method): tasks[task] * methods[method] for task in tasks for method in methods}
    begun = times_of(took, 2, monkeypatch)
    assert begun[:2] == [("cliffwalking", "a"), ("keydoor-gridworld", "a")], "one of each, as listed"
    assert begun[2:4] == [("keydoor-gridworld", "b"), ("keydoor-gridworld", "c")], "it takes longer by now"
    assert begun[4:] == [("cliffwalking", "b"), ("cliffwalking", "c")], "the longer one first"


def test_while_nothing_is_known_groups_come_as_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    took = {("cliffwalking", method): 1.0 for method in ("a", "b", "c")}
    assert times_of(took, 3, monkeypatch) == list(took)
