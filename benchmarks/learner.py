"""A fresh process that learns from a recording on disk and says how good it is on the way; see `time_to_accuracy`.

Every line that it prints is a JSON object. Times are in seconds since the command was started, without those that went
into comparing with the truth.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

_STEPS_AT_A_TIME = 200  # on a GPU, where a chunk of the usual length may be a whole training
_BETWEEN = 0.5  # seconds of training between two evaluations, and ten times as long as one of them takes


@dataclass(frozen=True)
class Options:
    """Train once, on `recording`, for at most so many `seconds`."""

    recording: Path
    truth: Path
    """An .npz file with `sources`, `targets` and `distances`."""
    objective: str
    began: float
    """When the command was started, by `time.time`."""
    seconds: float = 60.0
    steps: int | None = None
    """The length of the training; the objective's own by default."""
    seed: int = 0
    device: Literal["auto", "cpu", "gpu"] = "auto"


class Clock:
    """Time since the start of the command, without what is spent inside `aside`."""

    def __init__(self, began: float) -> None:
        self._began, self.aside_seconds, self._aside_core_seconds = began, 0.0, 0.0

    def now(self) -> float:
        """Seconds so far."""
        return time.time() - self._began - self.aside_seconds

    def core_seconds(self) -> float:
        """Of this process and those it started: hardly depends on what else the machine does."""
        return sum(os.times()[:4]) - self._aside_core_seconds

    def aside(self, work: Callable[[], Any]) -> Any:
        """Do what does not count."""
        began, busy = time.time(), time.process_time()
        found = work()
        self.aside_seconds += time.time() - began
        self._aside_core_seconds += time.process_time() - busy
        return found


def learn(options: Options) -> None:
    """Train with this library."""
    clock = Clock(options.began)
    import minaction as ma
    from minaction.evaluation import agreement
    from minaction.objectives import make_objective
    from minaction.training import Trainer

    truth = clock.aside(lambda: np.load(options.truth))
    objective = make_objective(options.objective)
    data = ma.read(options.recording)
    trainer = Trainer(objective, data, steps=options.steps or objective.default_steps, seeds=(options.seed,))
    say("ready", clock)
    length, trained, busy, evaluated = min(trainer.chunk_length, _STEPS_AT_A_TIME), 0.0, 0.0, 0.0

    def measure() -> dict[str, float | None]:
        found = np.asarray(trainer.models()[0].pairwise(truth["sources"], truth["targets"]))
        measures = agreement(found, truth["distances"]).as_dict()
        return {name: measures[name] for name in ("pearson", "ratio_cv")}

    while trainer.step < trainer.steps and clock.now() < options.seconds:
        began, busy_before = time.time(), time.process_time()
        trainer.advance(length)
        trained, busy = trained + time.time() - began, busy + time.process_time() - busy_before
        first, last = trainer.step <= length, trainer.step == trainer.steps
        if first:
            say("compiled", clock)
            trained = busy = 0.0  # the rate is that of steps alone
        if trained > evaluated or last or clock.now() >= options.seconds:
            before = clock.aside_seconds
            steps = trainer.step - length
            rates = {"steps_per_second": steps / trained, "steps_per_core_second": steps / busy} if trained else {}
            say("evaluated", clock, step=trainer.step, **rates, **clock.aside(measure))
            evaluated = trained + max(_BETWEEN, 10 * (clock.aside_seconds - before) * (trainer.step > length))


def learn_plainly(options: Options) -> None:
    """Train with the plain PyTorch loop; it is not evaluated, as nobody would wait for it."""
    clock = Clock(options.began)
    from minaction.trajectories import Trajectories

    from .plain_loop import PlainTraining

    training = PlainTraining(Trajectories.load(options.recording), seed=options.seed, device=options.device)
    for _ in range(3):
        float(training.step())
    say("compiled", clock)
    began, busy, steps = time.time(), time.process_time(), 0
    while time.time() - began < options.seconds:
        for _ in range(9):
            training.step()
        float(training.step())  # wait for the device
        steps += 10
    rate, core_rate = steps / (time.time() - began), steps / (time.process_time() - busy)
    say("evaluated", clock, step=steps + 3, steps_per_second=rate, steps_per_core_second=core_rate)


def say(what: str, clock: Clock, **more: Any) -> None:
    """Print one line."""
    times = {"seconds": clock.now(), "core_seconds": clock.core_seconds(), "evaluating_seconds": clock.aside_seconds}
    line = {"what": what, **times, **more}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    chosen = tyro.cli(Options)
    learn_plainly(chosen) if chosen.objective == "plain" else learn(chosen)
