"""`fit_agent`: from recordings with actions, and a distance learned from them, to an agent."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._mapped import read_rows
from .._model import DistanceModel
from .._progress import training_progress
from .._units import Units
from ..errors import InputError
from ..recorded import RecordedDistance, recorded_distance
from ..training import Trainer
from ..trajectories import Trajectories
from ._actions import Actions
from ._agent import Agent
from ._cloning import SubgoalCloning
from ._roadmap import Roadmap

NODES = 20_000  # a file of some megabytes, and a tenth of a second to find the ways to a new goal
_PAIRS = 2000
_EPISODES = 100
_MOST = 0.75  # a subgoal further ahead the policy has seldom seen; a nearer one tells less of the direction


def fit_agent(
    data: Trajectories,
    model: DistanceModel,
    *,
    steps: int | None = None,
    seed: int = 0,
    recorded: RecordedDistance | None = None,
    progress: bool = True,
    **settings: Any,
) -> Agent:
    """Learn to reach goals from recordings, without a simulator.

    Args:
        data: episodes with actions.
        model: a distance learned from them, or from others of the same world.
        steps: gradient steps of the local policy.
        seed: of its weights and of sampling.
        recorded: the graph of the recording, where it is made already; else it is made here.
        progress: whether to show a bar.
        settings: of `SubgoalCloning`, such as `horizon`, where they are to differ from the defaults.

    Raises:
        InputError: where the data has no actions, does not fit the model, or the training diverges.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=50, keep_actions=True)
    >>> model = ma.fit(data, steps=2, progress=False)
    >>> agent = ma.fit_agent(data, model, steps=2, progress=False)
    >>> agent.act(data.states[0], data.states[5]) in range(4)
    True
    """
    actions = Actions.of(data)
    if data.state_shape != model.state_shape:
        raise InputError(f"The data has states of shape {data.state_shape} and the model of {model.state_shape}.")
    recorded = recorded_distance(data, max_nodes=NODES) if recorded is None else recorded
    inputs = np.flatnonzero(recorded.counts | recorded.must_agree)
    told = {"single_steps": recorded.steps == 1, **settings}
    objective = SubgoalCloning(actions=actions, goal_inputs=tuple(map(int, inputs)), model=model, **told)
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
        recorded.typical_time if recorded.repeats else _lookahead(data, objective),
    )


def _lookahead(data: Trajectories, objective: SubgoalCloning) -> float:
    """How far most of the stretches lead that the policy learned from, by the learned distance."""
    stretches = objective.tables(data[: min(_EPISODES, len(data))])
    some = np.random.default_rng(0).integers(0, len(stretches.first), _PAIRS)
    first, last = (read_rows(data.states, np.asarray(rows)[some]) for rows in (stretches.first, stretches.last))
    return float(np.quantile(objective.model.distance(first, last), _MOST))
