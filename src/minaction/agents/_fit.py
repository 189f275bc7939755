"""`fit_agent`: from recordings with actions, and a distance learned from them, to an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from .._model import DistanceModel
from .._units import Units
from ..errors import InputError
from ..recorded import RecordedDistance, recorded_distance
from ..trajectories import Trajectories
from ._actions import Actions
from ._agent import Agent
from ._cloning import SubgoalCloning
from ._heading import HeadingActor, HeadingNetwork
from ._roadmap import Roadmap
from ._training import trained

NODES = 20_000  # a file of some megabytes, and a tenth of a second to find the ways to a new goal
# A subgoal further ahead lets an ant cut corners and fall over: trained on large-stitch it reaches 40 of 100 goals with
# subgoals 12 typical steps ahead, 77 with 8, 86 with 5.3, 91 with 3.5, and no more with nearer ones.
_AHEAD = 3.5


@overload
def fit_agent(
    data: Trajectories,
    model: DistanceModel,
    *,
    steps: int | None = ...,
    seed: int = ...,
    seeds: None = None,
    goal_inputs: Sequence[int] | None = ...,
    recorded: RecordedDistance | None = ...,
    checkpoint: str | Path | None = ...,
    progress: bool = ...,
    **settings: Any,
) -> Agent: ...


@overload
def fit_agent(
    data: Trajectories,
    model: DistanceModel,
    *,
    steps: int | None = ...,
    seed: int = ...,
    seeds: Sequence[int],
    goal_inputs: Sequence[int] | None = ...,
    recorded: RecordedDistance | None = ...,
    checkpoint: str | Path | None = ...,
    progress: bool = ...,
    **settings: Any,
) -> list[Agent]: ...


def fit_agent(
    data: Trajectories,
    model: DistanceModel,
    *,
    steps: int | None = None,
    seed: int = 0,
    seeds: Sequence[int] | None = None,
    goal_inputs: Sequence[int] | None = None,
    recorded: RecordedDistance | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> Agent | list[Agent]:
    """Learn to reach goals from recordings, without a simulator.

    Args:
        data: episodes with actions.
        model: a distance learned from them, or from others of the same world.
        steps: gradient steps of the local policy.
        seed: of its weights and of sampling.
        seeds: several seeds, trained side by side; the result is then a list of agents.
        goal_inputs: which numbers of a state a goal is about, such as those of a place; if None, those that last, by
            which the recording's graph tells states apart.
        recorded: the graph of the recording (of those numbers), where it is made already; else it is made here.
        checkpoint: a file to go on from, where it exists; written while training, and removed at the end.
        progress: whether to show a bar.
        settings: of `HeadingActor` or `SubgoalCloning`, such as `horizon`, where they are to differ from the defaults.

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
    check_fits(data, model)
    inputs = chosen_inputs(data, goal_inputs)
    if recorded is None:  # even where few went: else only long edges pass there, on which agents lose their way
        recorded = recorded_distance(only(data, inputs), max_nodes=NODES, even=True)
    lasting = inputs[recorded.counts | recorded.must_agree]
    told = {"actions": actions, "goal_inputs": tuple(map(int, lasting)), "model": model}
    if recorded.repeats or len(lasting) == data.state_shape[0] or actions.choices:
        told["single_steps"] = recorded.steps == 1 and (recorded.repeats or len(lasting) == data.state_shape[0])
        objective = SubgoalCloning(**{**told, **settings})
    else:  # a goal says nothing of some inputs, such as an ant's legs
        objective = HeadingActor(**{**told, **settings})
    all_seeds = (seed,) if seeds is None else tuple(seeds)
    networks = trained(objective, data, steps=steps, seeds=all_seeds, checkpoint=checkpoint, progress=progress)
    policies = [network.policy if isinstance(network, HeadingNetwork) else network for network in networks]
    roadmap, units = Roadmap.of(recorded, data.states, inputs), Units.of(data)
    if isinstance(objective, HeadingActor):
        roadmap = roadmap.on_trodden_ways(data.states)
    # Where states repeat, what leads to the next one was recorded; elsewhere a policy is surer of its direction.
    lookahead = recorded.typical_time if recorded.repeats else min(_AHEAD, objective.horizon) * units.time
    agents = [Agent(model, roadmap, policy, objective.policy_architecture, units, lookahead) for policy in policies]
    return agents[0] if seeds is None else agents


def check_fits(data: Trajectories, model: DistanceModel) -> None:
    """Refuse a recording of other states than the model's."""
    if data.state_shape != model.state_shape:
        raise InputError(f"The data has states of shape {data.state_shape} and the model of {model.state_shape}.")


def chosen_inputs(data: Trajectories, goal_inputs: Sequence[int] | None) -> np.ndarray:
    """The numbers of a state that goals are about: all, unless the user says which."""
    size = data.state_shape[0]
    if goal_inputs is None:
        return np.arange(size)
    found = np.unique(np.asarray(goal_inputs))
    if found.dtype.kind not in "iu" or not len(found) or found[0] < 0 or found[-1] >= size:
        raise InputError(f"goal_inputs are {list(goal_inputs)}, but a state has the numbers 0 to {size - 1}.")
    return found


def only(data: Trajectories, inputs: np.ndarray) -> Trajectories:
    """The recording of some of the numbers of its states."""
    return data if len(inputs) == data.state_shape[0] else replace(data, states=data.states[:, inputs], columns=())
