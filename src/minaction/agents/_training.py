"""The training of a policy: the trainer's loop, with a bar and a checkpoint to go on from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._progress import training_progress
from ..errors import InputError
from ..objectives import TrainingObjective
from ..training import Trainer
from ..trajectories import Trajectories

_SECONDS_BETWEEN_CHECKPOINTS = 30.0


def trained(
    objective: TrainingObjective,
    data: Trajectories,
    *,
    steps: int | None,
    seeds: Sequence[int],
    checkpoint: str | Path | None,
    progress: bool,
) -> list[Any]:
    """A network for every seed, all trained side by side.

    A training that was interrupted goes on from the file `checkpoint`, where one is given; it is removed at the end.
    """
    steps = objective.default_steps if steps is None else steps
    trainer = Trainer(objective, data, steps=steps, seeds=seeds)
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and path.exists():
        trainer.restore(path)
    saved = time.monotonic()
    with training_progress(steps, done=trainer.step, label="training the agent", shown=progress) as show:
        while trainer.step < steps:
            loss = float(np.mean(trainer.advance(trainer.chunk_length)["loss"]))
            if not np.isfinite(loss):
                raise InputError(f"The agent's training diverged before step {trainer.step}; lower its learning_rate.")
            show(trainer.step, f"loss {loss:.4f}")
            if path is not None and time.monotonic() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
                trainer.save(path)
                saved = time.monotonic()
    networks = trainer.networks()
    if path is not None:
        path.unlink(missing_ok=True)
    return networks
