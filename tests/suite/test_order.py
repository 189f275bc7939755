"""What a suite trains next, and how long it says that all will take."""

from __future__ import annotations

import pytest

from minaction.suite import _pace as pace
from minaction.suite._bundles import Bundle
from minaction.suite._cells import Cell, Group, Method
from minaction.suite._order import LongestFirst
from minaction.suite._pace import Paces


def group(task: str, label: str) -> Group:
    return Group((Cell(task, Method(label, "maddist", {}), seed=0, steps=10),))


class Simulated:
    """Workers that are never idle train groups, of which each takes a while to start and then so long for ten steps."""

    def __init__(self, took: dict[tuple[str, str], float], start_up: float, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.took, self.start_up = 0.0, took, start_up
        monkeypatch.setattr(pace.time, "monotonic", lambda: self.now)
        self.paces = Paces()
        self.begun = list[tuple[str, str]]()
        self.said = list[tuple[float, float | None]]()
        """When a group had come half its way: how long it would take until all are trained, as far as was known."""

    def train(self, workers: int) -> float:
        """Train all; how long it took."""
        order = LongestFirst(self.paces)
        waiting: list[Bundle] = [(group(*name),) for name in self.took]
        self.paces.expect(bundle[0] for bundle in waiting)
        coming = list[tuple[float, int, Group]]()
        while waiting or coming:
            if waiting and len(coming) < workers:
                bundle = order.next_of(waiting)
                waiting.remove(bundle)
                self.begun.append((bundle[0].task, bundle[0].method.label))
                self.paces.began(bundle[0])
                coming.append((self.now + self.start_up, 0, bundle[0]))
            else:
                coming.sort(key=lambda one: one[0])
                self.now, step, one = coming.pop(0)
                self.paces.stepped(one, step)
                if step == 10:
                    self.paces.finished(one)
                else:
                    coming.append((self.now + self.took[one.task, one.method.label] / 2, step + 5, one))
                if step == 5:
                    self.said.append((self.now, self.paces.seconds_left()))
        return self.now


METHODS = {"a": 1.0, "b": 3.0, "c": 2.0}
TASKS = {"cliffwalking": 10.0, "keydoor-gridworld": 30.0}
TOOK = {(task, method): TASKS[task] * METHODS[method] for task in TASKS for method in METHODS}


def test_every_task_is_tried_before_the_long_ones_and_the_short_ones_fill_the_gaps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workers = Simulated(TOOK, 0.0, monkeypatch)
    workers.train(2)
    assert workers.begun[:2] == [("cliffwalking", "a"), ("keydoor-gridworld", "a")], "one of each, as listed"
    assert workers.begun[2:4] == [("keydoor-gridworld", "b"), ("keydoor-gridworld", "c")], "it takes longer by now"
    assert workers.begun[4:] == [("cliffwalking", "b"), ("cliffwalking", "c")], "the longer one first"


def test_while_nothing_is_known_groups_come_as_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Simulated({("cliffwalking", method): 1.0 for method in ("a", "b", "c")}, 0.0, monkeypatch)
    workers.train(3)
    assert workers.begun == list(workers.took)


@pytest.mark.parametrize(("workers", "start_up"), [(1, 0.0), (2, 0.0), (2, 3.0)])
def test_the_time_left_is_right_as_soon_as_tasks_and_methods_are_known(
    workers: int, start_up: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated = Simulated(TOOK, start_up, monkeypatch)
    end = simulated.train(workers)
    for when, left in simulated.said[-3:]:
        assert left == pytest.approx(end - when, rel=0.2, abs=2 * start_up)


def test_nothing_is_said_of_the_time_left_while_nothing_is_known() -> None:
    paces, one = Paces(), group("cliffwalking", "a")
    paces.expect([one])
    assert paces.seconds_left() is None
    paces.began(one)
    paces.stepped(one, 5)
    assert paces.seconds_left() is None, "that is how long it took to start"


def test_a_group_that_goes_on_is_judged_by_what_it_does_now(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(pace.time, "monotonic", lambda: now)
    paces, one = Paces(), group("cliffwalking", "a")
    paces.began(one)
    paces.stepped(one, 6)
    now += 2.0
    paces.stepped(one, 8)
    assert paces.seconds_left() == pytest.approx(2.0)


def test_news_of_a_lost_machine_that_come_late_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(pace.time, "monotonic", lambda: now)
    paces, one = Paces(), group("cliffwalking", "a")
    paces.began(one)
    for step in (8, 2, 4):  # the first of them was sent before it started anew
        paces.stepped(one, step)
        now += 2.0
        paces.seconds_left()
    assert paces.seconds_left() == pytest.approx(4.0), "six steps, a second each, of which two have passed"
