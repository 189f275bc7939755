"""Which runs are trained together, in which order, and how long they take.

Seeds of one task and method are trained side by side in one program. On a GPU, tasks of the same shape are added to
them, because a few seeds do not keep it busy. The longest batches are trained first, by the speed of finished runs: if
a long one started last, all other workers would be idle meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..errors import MissingExtra
from ..objectives import make_objective
from ..tasks import Source
from ..training import RunConfig, Trainer
from ._folder import SuiteFolder

_EPISODES_OF_A_TRIAL = 10  # of tasks whose data takes long to make; the amount of data does not change the speed


@dataclass(frozen=True)
class Batch:
    """Runs that one program trains side by side, and the steps from which all of them can continue."""

    configs: tuple[RunConfig, ...]
    steps: frozenset[int]

    @property
    def name(self) -> str:
        """A name for messages."""
        first = self.configs[0]
        others = len({config.data for config in self.configs}) - 1
        return f"{first.method} on {first.data}" + (f" and {others} more" if others else "")


def batches(folder: SuiteFolder, configs: Iterable[RunConfig], replicas: int) -> list[Batch]:
    """The runs in batches of at most `replicas`; seeds of one task and method are never separated by that limit.

    Only runs that share a checkpoint go together: runs that were trained together when a suite was killed stay
    together, so that they end in the same bits.
    """
    singles = [Batch((config,), folder.checkpoints(config)) for config in configs]
    seeds = _merged(singles, lambda one, other: _same_task_and_method(one.configs[0], other.configs[0]))

    def fit_together(one: Batch, other: Batch) -> bool:
        few = len(one.configs) + len(other.configs) <= replicas
        return few and _one_program(one.configs[0], other.configs[0])

    return _merged(seeds, fit_together)


def _merged(parts: Iterable[Batch], together: Callable[[Batch, Batch], bool]) -> list[Batch]:
    """Each part added to the first batch that shares a step with it and that it may be trained `together` with."""
    found: list[Batch] = []
    for part in parts:
        for k, batch in enumerate(found):
            if (shared := batch.steps & part.steps) and together(batch, part):
                found[k] = Batch(batch.configs + part.configs, shared)
                break
        else:
            found.append(part)
    return found


def _same_task_and_method(first: RunConfig, second: RunConfig) -> bool:
    return first.data == second.data and first.method == second.method and first.goes_with(second)


def _one_program(first: RunConfig, second: RunConfig) -> bool:
    """Whether they differ in data only, and the data only in its values.

    Where every seed has its own data, its structure differs too: small worlds are encoded state by state.
    """
    sources = [Source(config.data) for config in (first, second)]
    shapes = {source.task.state_shape if source.task else None for source in sources}  # of a file it is not known
    alike = len(shapes) == 1 and None not in shapes and not any(source.fresh for source in sources)
    return alike and first.goes_with(second)


class Speeds:
    """Seconds per step, from finished runs."""

    def __init__(self, folder: SuiteFolder, configs: Iterable[RunConfig]) -> None:
        self._known: dict[tuple[str, str], float] = {}
        for config in configs:
            run = folder.run(config)
            if run is not None and run.finished:
                self.learn(config, run.results.steps_per_second)

    def learn(self, config: RunConfig, steps_per_second: float | None) -> None:
        """Record the speed of a finished run."""
        if steps_per_second:
            self._known[config.data, config.method] = 1 / steps_per_second

    def seconds(self, config: RunConfig) -> float | None:
        """How long a run takes, from runs of the same task and method, or else of either; None if there are none."""
        own = self._known.get((config.data, config.method))
        if own is None:
            alike = [
                value for (data, method), value in self._known.items() if data == config.data or method == config.method
            ]
            own = fmean(alike) if alike else None
        return None if own is None else own * config.steps

    def longest_first(self, waiting: Sequence[Batch]) -> Batch:
        """The batch to train next; one whose speed is not known comes first, as it may take any time."""
        return max(waiting, key=lambda batch: self.seconds(batch.configs[0]) or float("inf"))


@dataclass(frozen=True)
class Cost:
    """How long a batch will take, and what the estimate is based on."""

    batch: Batch
    seconds: float | None
    """None if it cannot be trained here."""
    source: str


def cost(speeds: Speeds, batch: Batch) -> Cost:
    """Estimated from finished runs of the same task and method, or by a short trial that writes nothing."""
    config = batch.configs[0]
    if (config.data, config.method) in speeds._known:
        return Cost(batch, speeds.seconds(config), "finished runs")
    try:
        return Cost(batch, _trial(batch), "a short trial")
    except MissingExtra as error:
        return Cost(batch, None, str(error))


def _trial(batch: Batch) -> float:
    """Train a few steps of the batch and extrapolate; seconds."""
    began = time.monotonic()
    config, seeds = batch.configs[0], [one.seeds[0] for one in batch.configs]
    fresh = Source(config.data).fresh
    own = Source(config.data).task is None  # of a file, which may have fewer, all are read in any case
    episodes = config.episodes if fresh or own else _EPISODES_OF_A_TRIAL
    source = Source(config.data, seeds, episodes, config.table)
    objective = make_objective(config.objective, config.settings)
    trainer = Trainer(objective, [source.data(seed) for seed in seeds], steps=config.steps, seeds=seeds)
    steps = max(1, trainer.chunk_length // 4)
    trainer.advance(steps)
    ready = time.monotonic()
    done = trainer.step
    trainer.advance(steps)
    if trainer.step == done:  # that was all of the training
        return ready - began
    return ready - began + config.steps * (time.monotonic() - ready) / (trainer.step - done)
