"""The driver: trains, evaluates, keeps checkpoints and yields events. `fit`, the command line and suites use it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import jax
import numpy as np

from .. import __version__
from .._coverage import Coverage
from .._model import DistanceModel
from ..errors import InputError
from ..evaluation import Evaluation, judge
from ..objectives import Objective, make_objective
from ..objectives._make import suited
from ..tasks import Source, Truth
from ..trajectories import Trajectories
from ..validation import split_all, validate_seeds, what_broke
from ._run import Measurement, Results, Run
from ._start import starting_models
from ._stopping import SCORE, PathJudge, has_stalled
from ._trainer import Trainer


@dataclass
class Training:
    """What the driver trains: an objective, data, and the run folder to write to, if any.

    `data`, `truths` and `held_out` have one entry per seed.
    """

    objective: Objective
    data: Sequence[Trajectories]
    steps: int
    seeds: Sequence[int]
    truths: Sequence[Sequence[Truth]] = ()
    evaluations: int = 1
    name: str = ""
    run: Run | None = None
    held_out: Sequence[Trajectories | None] = ()
    start_from: Sequence[DistanceModel] = ()
    """Models whose weights to begin with, one per seed; fresh ones if empty."""
    stop_early: bool = False
    """Whether to stop at a pause of the objective (`Objective.pauses`) when held-out episodes say that nothing more is
    gained; `steps` is the most that it takes then."""
    replicas: slice = field(default_factory=lambda: slice(None), init=False)
    """Which of the trainer's seeds belong to this training."""

    def __post_init__(self) -> None:
        self.objective = suited(self.objective, self.data[0].state_shape)

    @classmethod
    def of(cls, run: Run, source: Source | None = None) -> Training:
        """The training that a run's configuration describes."""
        config = run.config
        source = source or Source(config.data, config.seeds, config.episodes, config.table, config.policy)
        data, held_out = split_all([source.data(seed) for seed in config.seeds], config.held_out)
        return cls(
            make_objective(config.objective, config.settings),
            data,
            config.steps,
            config.seeds,
            [source.truths(seed) for seed in config.seeds],
            config.evaluations,
            config.data,
            run,
            held_out,
            starting_models(config.start_from, len(config.seeds)),
            config.stop_early,
        )


@dataclass(frozen=True)
class Progressed:
    """Some steps were trained.

    Attributes:
        training: what is being trained.
        step: the number of steps so far.
        loss: the mean loss over the latest steps and all seeds.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]]])
    >>> seen = []
    >>> tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    >>> _ = ma.fit(data, tiny, steps=2, progress=False, on_event=seen.append)
    >>> [event.step for event in seen if isinstance(event, ma.Progressed)][-1:]
    [2]
    """

    training: Training
    step: int
    loss: float


@dataclass(frozen=True)
class Evaluated:
    """Every seed was evaluated.

    Attributes:
        training: what is being trained.
        step: the number of steps so far.
        measurements: one per seed: the terms of the loss, and the agreement with every truth.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]]])
    >>> seen = []
    >>> tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    >>> _ = ma.fit(data, tiny, steps=2, progress=False, on_event=seen.append)
    >>> [event.step for event in seen if isinstance(event, ma.Evaluated)][:1]
    [1]
    """

    training: Training
    step: int
    measurements: Sequence[Measurement]

    @property
    def note(self) -> str:
        """The correlation with the first truth, for a progress bar."""
        first = [one.evaluations[0] for one in self.measurements if one.evaluations]
        if not first:
            return ""
        return f"Pearson {np.mean([one.agreement['pearson'] or 0.0 for one in first]):.4f} ({first[0].truth})"


@dataclass(frozen=True)
class Diverged:
    """The training diverged and was stopped; its last checkpoint is from before.

    Attributes:
        training: what was being trained.
        step: the step at which it was noticed.
        error: what became infinite or NaN, and what to do.

    >>> import minaction as ma
    >>> def stop_early(event):
    ...     if isinstance(event, ma.Diverged):
    ...         print(f"stopped at step {event.step}: {event.error}")
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]]])
    >>> tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    >>> _ = ma.fit(data, tiny, steps=2, progress=False, on_event=stop_early)
    """

    training: Training
    step: int
    error: InputError


@dataclass(frozen=True)
class Finished:
    """Everything is trained, evaluated and, if there is a run folder, written.

    Attributes:
        training: what was trained.
        models: one per seed.
        results: the final evaluations, the speed and the versions.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [1.0]]])
    >>> seen = []
    >>> tiny = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
    >>> _ = ma.fit(data, tiny, steps=2, progress=False, on_event=seen.append)
    >>> [len(event.models) for event in seen if isinstance(event, ma.Finished)]
    [1]
    """

    training: Training
    models: Sequence[DistanceModel]
    results: Results


Event = Progressed | Evaluated | Diverged | Finished


def train(
    trainings: Sequence[Training], devices: int = 1, interrupted: Callable[[], bool] = lambda: False
) -> Iterator[Event]:
    """Train several trainings side by side in one program, from their last common checkpoint to the end.

    They may differ in data and seeds only, and each ends in what it would end in if trained alone. One that diverges is
    stopped; its weights are still computed but do not affect the others. Where `interrupted()` says so, which is
    asked between two calls, checkpoints are written, and a `KeyboardInterrupt` ends it.
    """
    return Driver(trainings, devices, interrupted).train()


class Driver:
    """What `train` does, for who wants to stop early and have the models as they stand."""

    def __init__(
        self, trainings: Sequence[Training], devices: int = 1, interrupted: Callable[[], bool] = lambda: False
    ) -> None:
        first, self._interrupted = trainings[0], interrupted
        alike = (first.objective, first.steps, first.evaluations, first.stop_early)
        if any((one.objective, one.steps, one.evaluations, one.stop_early) != alike for one in trainings):
            raise InputError("Runs with different settings cannot be trained side by side; train them apart.")
        if first.stop_early and len(trainings) > 1:
            raise InputError("Runs that may stop early cannot be trained side by side; train them apart.")
        start = 0
        for one in trainings:
            one.replicas = slice(start, start + len(one.seeds))
            start = one.replicas.stop
        self._going = list(trainings)
        self._pauses = set(first.objective.pauses(first.steps)) if first.stop_early and any(first.held_out) else set()
        # Between two stops lie calls of one length, as every other would be compiled anew; it should not be short.
        unit = math.gcd(*self._pauses) or 1
        every = -(-first.steps // (unit * min(first.evaluations, first.steps))) * unit
        self._evaluated = sorted({*range(every, first.steps, every), *self._pauses, first.steps})
        self._judge = PathJudge(first.data, first.held_out)
        self._scores: list[Sequence[float | None]] = []  # at every pause so far
        self._trainer = Trainer(
            first.objective,
            [item for one in trainings for item in one.data],
            steps=first.steps,
            seeds=[seed for one in trainings for seed in one.seeds],
            name=[one.name for one in trainings for _ in one.seeds],
            devices=devices,
            start_from=[model for one in trainings for model in one.start_from],
        )
        common = math.gcd(*self._evaluated) if self._pauses else first.steps
        self._chunk = min(self._trainer.chunk_length, common)
        self._restore()

    def _restore(self) -> None:
        """Continue from the last step at which all have a checkpoint, as they are written one after the other."""
        runs = [one.run for one in self._going]
        for run in filter(None, runs):
            if dropped := run.drop_damaged():
                warnings.warn(f"{run.path}: {', '.join(dropped)} was damaged and has been removed.", stacklevel=2)
        shared = set.intersection(*(set(run.checkpoints) if run else set() for run in runs))
        if shared:
            step = max(shared)
            for one in self._going:
                if one.run is not None:
                    self._trainer.restore(one.run.checkpoints[step], one.replicas)
                    self._scores += _scores(one.run, step)

    @property
    def step(self) -> int:
        """How many steps were trained."""
        return self._trainer.step

    def models(self, one: Training) -> list[DistanceModel]:
        """The models of a training as they stand, examined as finished ones are."""
        models = self._trainer.models()[one.replicas]
        _examine(models, one)
        return models

    def train(self) -> Iterator[Event]:
        """Train to the end; what happens meanwhile."""
        trainer = self._trainer
        began, first_step, seconds = time.monotonic(), trainer.step, 0.0
        evaluated = trainer.step
        while self._going and trainer.step < trainer.steps and not has_stalled(self._scores):
            until = next(step for step in self._evaluated if step > trainer.step)
            chunk_began = time.monotonic()
            terms = trainer.advance(min(self._chunk, until - trainer.step))
            seconds += time.monotonic() - chunk_began
            yield from self._without_diverged(terms)
            if trainer.step == until and until < trainer.steps:
                models = trainer.models()
                yield from self._without_broken(models)
                yield from self._evaluate(models, terms)
                self._checkpoint()
                evaluated = until
            yield from (Progressed(one, trainer.step, float(terms["loss"][one.replicas].mean())) for one in self._going)
            if trainer.step < trainer.steps and self._interrupted():  # at the end, what was measured is written first
                if trainer.step > evaluated:
                    yield from self._without_broken(trainer.models())
                    self._checkpoint()
                raise KeyboardInterrupt
        if self._going:
            last = terms if trainer.step > evaluated else {}  # type: ignore[possibly-undefined]
            speed = (trainer.step - first_step) / seconds if seconds else None
            yield from self._finish(trainer.models(), last, began, speed)

    def _without_diverged(self, terms: dict[str, np.ndarray]) -> Iterator[Event]:
        for one in list(self._going):
            if not np.isfinite(terms["loss"][one.replicas]).all():
                yield self._given_up(one, "The loss became infinite or NaN")

    def _without_broken(self, models: list[DistanceModel]) -> Iterator[Event]:
        """The loss is from before the last update, and a broken model must not replace a good checkpoint."""
        for one in list(self._going):
            found = (what_broke(model, data) for model, data in zip(models[one.replicas], one.data, strict=True))
            if what := next(filter(None, found), None):
                yield self._given_up(one, f"The distance became {what}")

    def _given_up(self, one: Training, what: str) -> Diverged:
        self._going.remove(one)
        step = self._trainer.step
        error = InputError(
            f"{what} by step {step:,}; lower the learning rate (--set learning_rate=3e-5) or "
            "check the data for extreme values."
        )
        return Diverged(one, step, error)

    def _evaluate(self, models: list[DistanceModel], terms: dict[str, np.ndarray]) -> Iterator[Event]:
        step = self._trainer.step
        for one in self._going:
            measured = self._measured(one, models, terms)
            if one.run is not None:
                one.run.log(measured, step=step)
            yield Evaluated(one, step, measured)

    def _measured(
        self, one: Training, models: list[DistanceModel], terms: dict[str, np.ndarray], *, by_range: bool = False
    ) -> list[Measurement]:
        step, own = self._trainer.step, {name: values[one.replicas] for name, values in terms.items()}
        measured = []
        if step in self._pauses and step < self._trainer.steps:
            self._scores.append(self._judge(models[one.replicas]))
            own[SCORE] = np.array(self._scores[-1], float)
        for k, model in enumerate(models[one.replicas]):
            seed, truths = model.provenance.seed, one.truths[k] if one.truths else ()
            evaluations = judge(model, truths, step=step, seed=seed, by_range=by_range)
            values = {name: float(value[k]) for name, value in own.items()}
            measured.append(Measurement(step, seed, values, evaluations))
        return measured

    def _checkpoint(self) -> None:
        """Write all before removing any older one, so that a kill leaves a step from which all can continue."""
        runs = [(one.run, one.replicas) for one in self._going if one.run is not None]
        for run, replicas in runs:
            self._trainer.save(run.path / f"checkpoint-{self._trainer.step}.safetensors", replicas)
        for run, _ in runs:
            run.drop_checkpoints(before=self._trainer.step)

    def _finish(
        self, models: list[DistanceModel], terms: dict[str, np.ndarray], began: float, speed: float | None
    ) -> Iterator[Event]:
        """Evaluate the last step once, for the metrics and the results alike."""
        step = self._trainer.step
        yield from self._without_broken(models)
        measured = [self._measured(one, models, terms, by_range=True) for one in self._going]
        if terms:  # otherwise it was killed after this point, and only the results are missing
            for one, rows in zip(self._going, measured, strict=True):
                overall = [replace(row, evaluations=_overall(row.evaluations)) for row in rows]
                if one.run is not None:
                    one.run.log(overall, step=step)
                yield Evaluated(one, step, overall)
            self._checkpoint()
            if self._interrupted():
                raise KeyboardInterrupt
        for one, rows in zip(self._going, measured, strict=True):
            _examine(models[one.replicas], one)
            for model, row in zip(models[one.replicas], rows, strict=True):
                model.agreement = {f"{of.truth} ({of.unit})": of.agreement for of in _overall(row.evaluations)}
            results = Results(
                evaluations=[found for row in rows for found in row.evaluations],
                seconds=round(time.monotonic() - began, 1),
                steps_per_second=None if speed is None else round(speed, 1),
                device=jax.devices()[0].device_kind,
                version=__version__,
                health=[model.health for model in models[one.replicas] if model.health is not None],
            )
            if one.run is not None:
                for model in models[one.replicas]:
                    model.save(one.run.model_path(model.provenance.seed))
                one.run.finish(results)
            yield Finished(one, models[one.replicas], results)


def _scores(run: Run, step: int) -> list[Sequence[float | None]]:
    """The scores of all seeds at every pause up to a step."""
    rows = [row for row in run.metrics if row.step <= step and SCORE in row.terms]
    return [[row.terms[SCORE] for row in rows if row.step == pause] for pause in sorted({row.step for row in rows})]


def _overall(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    return [found for found in evaluations if found.high is None]


def _examine(models: Sequence[DistanceModel], one: Training) -> None:
    """Attach a sample of recorded states, and the result of validation on held-out episodes, to finished models."""
    for data, held_out, own in _by_data(models, one):
        sample = Coverage.of(data)
        found = [None] * len(own) if held_out is None else validate_seeds(own, held_out, data)
        for model, health in zip(own, found, strict=True):
            model.recorded, model.health = sample, health


def _by_data(
    models: Sequence[DistanceModel], one: Training
) -> Iterator[tuple[Trajectories, Trajectories | None, list[DistanceModel]]]:
    """The models of every data set, with what was held out of it; seeds usually share one."""
    held_out = one.held_out or [None] * len(models)
    for first in dict.fromkeys(map(id, one.data)):
        own = [k for k, data in enumerate(one.data) if id(data) == first]
        yield one.data[own[0]], held_out[own[0]], [models[k] for k in own]
