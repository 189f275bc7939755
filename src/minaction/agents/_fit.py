"""`fit_agent`: from recordings with actions, and a distance learned from them, to an agent."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._mapped import read_rows
from .._model import DistanceModel
from .._progress import training_progress
from .._units import Units
from ..errors import InputError
from ..recorded import recorded_distance
from ..training import Trainer
from ..trajectories import Trajectories
from ._actions import Actions
from ._agent import Agent
from ._cloning import SubgoalCloning
from ._roadmap import Roadmap

_PAIRS = 2000


def fit_agent(
    data: Trajectories,
    model: DistanceModel,
    *,
    steps: int | None = None,
    seed: int = 0,
    progress: bool = True,
    **settings: Any,
) -> Agent:
    """Learn to reach goals from recordings.

    Args:
        data: episodes with actions.
        model: a distance learned from them, or from others of the same world.
        steps: gradient steps of the local policy.
        seed: of its weights and of sampling.
        progress: whether to show a bar.
        settings: of `SubgoalCloning`, that are to differ from the defaults.
    """
    actions = Actions.of(data)
    if data.state_shape != model.state_shape:
        raise InputError(f"The data has states of shape {data.state_shape} and the model of {model.state_shape}.")
    recorded = recorded_distance(data)
    inputs = np.flatnonzero(recorded.counts | recorded.must_agree)
    objective = SubgoalCloning(
        actions=actions, goal_inputs=tuple(map(int, inputs)), model=model, move=recorded.steps, **settings
    )
    steps = objective.default_steps if steps is None else steps
    trainer = Trainer(objective, data, steps=steps, seeds=(seed,))
    with training_progress(steps, label="training the agent", shown=progress) as show:
        while trainer.step < steps:
            loss = float(trainer.advance(trainer.chunk_length)["loss"][0])
            if not np.isfinite(loss):
                raise InputError(f"The agent's training diverged before step {trainer.step}.")
            show(trainer.step, f"loss {loss:.4f}")
    return Agent(
        model,
        Roadmap.of(recorded),
        trainer.networks()[0],
        objective.architecture,
        Units.of(data),
        # Where states repeat, what leads to the next one was recorded; elsewhere a policy is surer of its direction.
        recorded.typical_time if recorded.repeats else _lookahead(data, model, objective.horizon),
    )


def _lookahead(data: Trajectories, model: DistanceModel, horizon: int) -> float:
    """How far `horizon` recorded steps lead, as the median of the learned distance: random ones not very far."""
    ends = np.repeat(data.offsets[1:], data.lengths)
    first = np.flatnonzero(ends - np.arange(data.num_states) > horizon)
    if not len(first):
        first = data.offsets[:-1][data.lengths > 1]
    first = np.random.default_rng(0).choice(first, min(_PAIRS, len(first)), replace=False)
    last = np.minimum(first + horizon, ends[first] - 1)
    return float(np.median(model.distance(read_rows(data.states, first), read_rows(data.states, last))))
