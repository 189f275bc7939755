"""A whole training as a person asks for it: data, truth, trainer, evaluations, checkpoints, results.

Several runs can share one trainer (`Convoy`); each is left on disk as if it had been trained alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import __version__
from .._model import DistanceModel
from ..errors import InputError
from ..evaluation import evaluate, evaluate_by_range
from ..exact import observed_distance
from ..objectives import make_objective
from ..tasks import Layout, Task, Truth, all_tasks
from ..trajectories import Trajectories, read
from ._run import RunDirectory
from ._tracking import Tracking
from ._trainer import Trainer

# A person's own data with at most this many different states is judged against its observed distances.
_MOST_OBSERVED_STATES = 3000

# Files of ours that are larger stay on disk and are read as they are used.
MAPPED_ABOVE = 2 << 30


class Source:
    """The data of a run and what it is judged by: a task's, or a person's own file."""

    def __init__(self, name: str, seeds: tuple[int, ...], episodes: int | None = None) -> None:
        self.name = name
        self.task: Task | None = all_tasks().get(name)
        if self.task is not None and self.task.fresh_data_per_seed:
            self.data = [read(name, seed=seed, episodes=episodes) for seed in seeds]
        else:
            self.data = [read(name, episodes=episodes, memory_map=_is_large(name))]
        self._truths = [self._truths_of(item) for item in self.data]

    def truths(self, k: int) -> list[Truth]:
        """What the k-th seed is judged by, the most important first; empty where nothing is known."""
        return self._truths[k if len(self._truths) > 1 else 0]

    def layout(self) -> Layout | None:
        """How to draw it, if it can be drawn."""
        return None if self.task is None else self.task.layout()

    def _truths_of(self, data: Trajectories) -> list[Truth]:
        if self.task is not None:
            return self.task.truths(data)
        if not data.has_at_most(_MOST_OBSERVED_STATES):
            return []
        return [Truth.between("observed", "steps", *observed_distance(data))]


def _is_large(name: str) -> bool:
    path = Path(name)
    return path.suffix == ".safetensors" and path.is_file() and path.stat().st_size > MAPPED_ABOVE


@dataclass(frozen=True)
class News:
    """What happened to one of the runs that are being trained."""

    run: RunDirectory
    step: int
    note: str = ""
    """How it goes."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """The evaluations that were made just now, as they stand in metrics.jsonl."""
    results: dict[str, Any] | None = None
    """What it came to; it is finished."""
    error: InputError | None = None
    """Why it was given up."""


class Member:
    """One run of a convoy: its folder, its data and truths, and which lanes of the trainer are its own."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run
        self.source = Source(run.config.data, run.config.seeds, run.config.episodes)
        self.lanes = slice(0, len(run.config.seeds))
        self.note = ""

    @property
    def data(self) -> list[Trajectories]:
        """One data set per seed."""
        found = self.source.data
        return found if len(found) > 1 else found * len(self.run.config.seeds)

    def check(self, terms: dict[str, np.ndarray], step: int) -> None:
        """Refuse to go on with a training that diverged."""
        if not np.isfinite(terms["loss"][self.lanes]).all():
            raise InputError(
                f"The loss became infinite or NaN at step {step}; lower the learning rate "
                "(--set learning_rate=3e-5) or check the data for extreme values."
            )

    def evaluate(self, terms: dict[str, np.ndarray], models: list[DistanceModel], step: int) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl for `step`."""
        own = {name: values[self.lanes] for name, values in terms.items()}
        rows = [
            {
                "step": step,
                "seed": model.provenance.seed,
                "terms": {name: float(values[k]) for name, values in own.items()},
                "agreement": self._agreement(k, model),
            }
            for k, model in enumerate(models[self.lanes])
        ]
        if self.source.truths(0):
            name = self.source.truths(0)[0].name
            values = [row["agreement"][name]["pearson"] or 0.0 for row in rows]
            self.note = f"Pearson {np.mean(values):.4f} ({name})"
        return rows

    def finish(self, models: list[DistanceModel], speed: dict[str, float | None]) -> dict[str, Any]:
        """Write models and results."""
        own = models[self.lanes]
        for model in own:
            model.save(self.run.model_path(model.provenance.seed))
        results = {
            "config": self.run.config.as_dict(),
            "agreement": [self._agreement(k, model) for k, model in enumerate(own)],
            "by_range": [self._by_range(k, model) for k, model in enumerate(own)],
            **speed,
            "device": jax.devices()[0].device_kind,
            "version": __version__,
        }
        self.run.finish(results)
        return results

    def _agreement(self, k: int, model: DistanceModel) -> dict[str, Any]:
        return {name: found.as_dict() for name, found in evaluate(model, self.source.truths(k)).items()}

    def _by_range(self, k: int, model: DistanceModel) -> dict[str, Any]:
        return {
            name: [{"low": part.low, "high": part.high, **part.agreement.as_dict()} for part in ranges]
            for name, ranges in evaluate_by_range(model, self.source.truths(k)).items()
        }


class Convoy:
    """Runs trained side by side in one program, a lane for every seed of every run.

    They differ in their data and seeds alone, and stand at the same step; states have equal size. Every run keeps its
    own metrics, checkpoint, models and results, as if it were trained alone, and can be gone on with alone.
    """

    def __init__(self, members: Sequence[Member], devices: int = 1) -> None:
        self._going = list(members)
        self.config = members[0].run.config
        if not all(member.run.config.goes_with(self.config) for member in members):
            raise InputError("Runs with different settings cannot be trained side by side; train them apart.")
        if len({member.run.step for member in members}) > 1:
            raise InputError("Runs that stand at different steps cannot be trained side by side; train them apart.")
        first = 0
        for member in members:
            member.lanes = slice(first, first + len(member.run.config.seeds))
            first = member.lanes.stop
        self.trainer = Trainer(
            make_objective(self.config.objective, self.config.settings),
            [item for member in members for item in member.data],
            steps=self.config.steps,
            seeds=[seed for member in members for seed in member.run.config.seeds],
            name=[member.run.config.data for member in members for _ in member.run.config.seeds],
            devices=devices,
        )
        for member in members:
            if member.run.checkpoint.exists():
                self.trainer.restore(member.run.checkpoint, member.lanes)

    def train(self) -> Iterator[News]:
        """Train to the end and write models and results; what happens to each run meanwhile."""
        trainer, steps = self.trainer, self.config.steps
        every = -(-steps // self.config.evaluations)
        began, first_step, training_seconds = time.monotonic(), trainer.step, 0.0
        while self._going and trainer.step < steps:
            until = min(steps, (trainer.step // every + 1) * every)
            chunk_began = time.monotonic()
            terms = trainer.advance(min(trainer.chunk_length, until - trainer.step))
            training_seconds += time.monotonic() - chunk_began
            yield from self._without_the_diverged(terms)
            if trainer.step == until:
                yield from self._evaluate(terms)
            for member in self._going:
                loss = terms["loss"][member.lanes].mean()
                yield News(member.run, trainer.step, member.note or f"loss {loss:.4f}")
        trained = trainer.step - first_step
        models = trainer.models() if self._going else []
        for member in self._going:
            # Both are of the program: the time until this run was written, and how often all lanes took a step.
            speed = {
                "seconds": round(time.monotonic() - began, 1),
                "steps_per_second": round(trained / training_seconds, 1) if training_seconds else None,
            }
            yield News(member.run, trainer.step, results=member.finish(models, speed))

    def _without_the_diverged(self, terms: dict[str, np.ndarray]) -> Iterator[News]:
        """Give up the runs that diverged. Their lanes are still computed, but do nothing to the others."""
        for member in list(self._going):
            try:
                member.check(terms, self.trainer.step)
            except InputError as error:
                self._going.remove(member)
                yield News(member.run, self.trainer.step, error=error)

    def _evaluate(self, terms: dict[str, np.ndarray]) -> Iterator[News]:
        step, models = self.trainer.step, self.trainer.models()
        for member in self._going:
            rows = member.evaluate(terms, models, step)
            member.run.log(rows, step=step)
            yield News(member.run, step, member.note, rows=rows)
        # One right after the other: runs between whose checkpoints a kill falls have to go on apart.
        for member in self._going:
            self.trainer.save(member.run.checkpoint, member.lanes)


class Session:
    """One run, from its folder; `train` goes on from wherever it stands."""

    def __init__(self, run: RunDirectory, devices: int = 1) -> None:
        member = Member(run)
        self.run, self.source = run, member.source
        self._convoy = Convoy([member], devices)
        self.trainer = self._convoy.trainer

    def train(self, show: Callable[[int, str], None], tracking: Tracking | None = None) -> dict[str, Any]:
        """Train to the end and write models and results; `show` is told the step and how it goes."""
        for news in self._convoy.train():
            if news.error is not None:
                raise news.error
            if news.results is not None:
                return news.results
            if not news.rows:
                show(news.step, news.note)
            elif tracking is not None:
                tracking.log(news.rows)
        raise AssertionError("a training ends with results or an error")
