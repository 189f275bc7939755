"""How long a suite will take: from the speed of cells that are finished, or of a short trial."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .._files import read_json
from ..errors import MissingExtra
from ..objectives import make_objective
from ..tasks import get_task
from ._cells import Cell, Group
from ._store import Store

_EPISODES_OF_A_TRIAL = 10  # of tasks whose data takes long to make; how much there is does not change the speed


@dataclass(frozen=True)
class Speed:
    """How fast a group is trained."""

    steps_per_second: float
    start_up: float = 0.0
    """Seconds until the first steps are done: data, compilation."""

    def seconds(self, steps: int) -> float:
        """How long `steps` take."""
        return self.start_up + steps / self.steps_per_second


@dataclass(frozen=True)
class Estimate:
    """How long a group will take, and how that is known."""

    group: Group
    seconds: float | None
    """None where it cannot be trained here."""
    source: str


def finished_speed(store: Store, cells: Sequence[Cell]) -> float | None:
    """The speed that the first finished one of the cells recorded."""
    for cell in filter(store.has, cells):
        speed = read_json(store.folder(cell) / "results.json")["steps_per_second"]
        if speed:
            return speed
    return None


def estimates(
    store: Store, left: Sequence[Group], cells: Sequence[Cell], progress: Callable[[int, int], None]
) -> list[Estimate]:
    """One for each group that is left; `progress` is told how many trials are made and how many there are."""
    known = {group.name: finished_speed(store, [cell for cell in cells if cell.group == group.name]) for group in left}
    tried: dict[str, Speed | MissingExtra] = {}
    to_try = {_kind(group): group for group in reversed(left) if known[group.name] is None}
    for count, (kind, group) in enumerate(to_try.items()):
        progress(count, len(to_try))
        try:
            tried[kind] = try_out(group)
        except MissingExtra as error:
            tried[kind] = error
    found = []
    for group in left:
        speed = known[group.name]
        trial = tried.get(_kind(group))
        if speed is not None:
            found.append(Estimate(group, Speed(speed).seconds(group.steps), "finished cells"))
        elif isinstance(trial, Speed):
            found.append(Estimate(group, trial.seconds(group.steps), "a short trial"))
        else:
            found.append(Estimate(group, None, str(trial)))
    return found


def _kind(group: Group) -> str:
    """Groups of a kind are about equally fast: grid worlds differ in their number of states, mazes hardly do."""
    task = get_task(group.task)
    data = group.task if task.fresh_data_per_seed else type(task).__name__
    method = group.method
    return json.dumps([data, method.objective, method.settings, len(group.cells), group.cells[0].episodes])


def try_out(group: Group) -> Speed:
    """Train the group for a moment, writing nothing."""
    from ..training import Trainer

    began = time.monotonic()
    task, seeds = get_task(group.task), [cell.seed for cell in group.cells]
    if task.fresh_data_per_seed:
        data = [task.trajectories(seed, group.cells[0].episodes) for seed in seeds]
    else:
        data = [task.trajectories(0, _EPISODES_OF_A_TRIAL)]
    objective = make_objective(group.method.objective, group.method.settings)
    trainer = Trainer(objective, data if len(data) > 1 else data[0], steps=group.steps, seeds=seeds)
    steps = max(1, trainer.chunk_length // 4)
    trainer.advance(steps)
    ready = time.monotonic()
    done = trainer.step
    trainer.advance(steps)
    if trainer.step == done:  # it was to be trained for no longer than that
        return Speed(done / (ready - began))
    return Speed((trainer.step - done) / (time.monotonic() - ready), start_up=ready - began)
