"""A whole training as a person asks for it: data, truth, trainer, evaluations, checkpoints, results."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import __version__
from ..errors import InputError
from ..evaluation import evaluate, evaluate_by_range
from ..exact import observed_distance
from ..model import DistanceModel
from ..objectives import make_objective
from ..tasks import Layout, Task, Truth, all_tasks
from ..trajectories import Trajectories, read
from .run import RunDirectory
from .tracking import Tracking
from .trainer import Trainer

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


class Session:
    """One run, from its folder; `train` goes on from wherever it stands."""

    def __init__(self, run: RunDirectory, devices: int = 1) -> None:
        config = run.config
        self.run = run
        self.source = Source(config.data, config.seeds, config.episodes)
        self.trainer = Trainer(
            make_objective(config.objective, config.settings),
            self.source.data[0] if len(self.source.data) == 1 else self.source.data,
            steps=config.steps,
            seeds=config.seeds,
            name=config.data,
            devices=devices,
        )
        if run.checkpoint.exists():
            self.trainer.restore(run.checkpoint)

    def train(self, show: Callable[[int, str], None], tracking: Tracking | None = None) -> dict[str, Any]:
        """Train to the end and write models and results; `show` is told the step and how it goes."""
        trainer, config = self.trainer, self.run.config
        every = -(-config.steps // config.evaluations)
        began, first_step, training_seconds, note = time.monotonic(), trainer.step, 0.0, ""
        while trainer.step < config.steps:
            until = min(config.steps, (trainer.step // every + 1) * every)
            chunk_began = time.monotonic()
            terms = trainer.advance(min(trainer.chunk_length, until - trainer.step))
            training_seconds += time.monotonic() - chunk_began
            if not np.isfinite(terms["loss"]).all():
                raise InputError(
                    f"The loss became infinite or NaN at step {trainer.step}; lower the learning rate "
                    "(--set learning_rate=3e-5) or check the data for extreme values."
                )
            if trainer.step == until:
                note = self._evaluate(terms, tracking)
            show(trainer.step, note or f"loss {terms['loss'].mean():.4f}")
        models = trainer.models()
        for model in models:
            model.save(self.run.model_path(model.provenance.seed))
        results = {
            "config": config.as_dict(),
            "agreement": [self._agreement(k, model) for k, model in enumerate(models)],
            "by_range": [self._by_range(k, model) for k, model in enumerate(models)],
            "seconds": round(time.monotonic() - began, 1),
            "steps_per_second": round((trainer.step - first_step) / training_seconds, 1) if training_seconds else None,
            "device": jax.devices()[0].device_kind,
            "version": __version__,
        }
        self.run.finish(results)
        return results

    def _evaluate(self, terms: dict[str, np.ndarray], tracking: Tracking | None) -> str:
        models = self.trainer.models()
        rows = [
            {
                "step": self.trainer.step,
                "seed": model.provenance.seed,
                "terms": {name: float(values[k]) for name, values in terms.items()},
                "agreement": self._agreement(k, model),
            }
            for k, model in enumerate(models)
        ]
        self.run.log(rows, step=self.trainer.step)
        if tracking is not None:
            tracking.log(rows)
        self.trainer.save(self.run.checkpoint)
        if not self.source.truths(0):
            return ""
        name = self.source.truths(0)[0].name
        values = [row["agreement"][name]["pearson"] or 0.0 for row in rows]
        return f"Pearson {np.mean(values):.4f} ({name})"

    def _agreement(self, k: int, model: DistanceModel) -> dict[str, Any]:
        return {name: found.as_dict() for name, found in evaluate(model, self.source.truths(k)).items()}

    def _by_range(self, k: int, model: DistanceModel) -> dict[str, Any]:
        return {
            name: [{"low": part.low, "high": part.high, **part.agreement.as_dict()} for part in ranges]
            for name, ranges in evaluate_by_range(model, self.source.truths(k)).items()
        }
