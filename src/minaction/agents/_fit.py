"""`fit_agent`: from recordings with actions, and a distance learned from them, to an agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from .._descriptions import with_settings
from .._model import DistanceModel
from .._units import Units
from ..recorded import RecordedDistance, recorded_distance
from ..trajectories import Trajectories
from ._agent import Agent
from ._cloning import SubgoalCloning
from ._given import fitting_model, given, only
from ._heading import HeadingActor, HeadingNetwork
from ._roadmap import Roadmap
from ._training import trained

NODES = 20_000  # a file of some megabytes, and a tenth of a second to find the ways to a new goal
# A subgoal further ahead lets an ant cut corners and fall over: trained on large-stitch it reaches 40 of 100 goals with
# subgoals 12 typical steps ahead, 77 with 8, 86 with 5.3, 91 with 3.5, and no more with nearer ones.
_AHEAD = 3.5


@overload
def fit_agent(
    data: Trajectories | str | Path | Any,
    model: DistanceModel | str | Path,
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
    data: Trajectories | str | Path | Any,
    model: DistanceModel | str | Path,
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
    data: Trajectories | str | Path | Any,
    model: DistanceModel | str | Path,
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
        data: episodes with actions: all that `fit` takes, the name of a task or the path of a file among it, which is
            read with actions.
        model: a distance learned from them, or from others of the same world; or its file or run folder.
        steps: gradient steps of the local policy.
        seed: of its weights and of sampling.
        seeds: several seeds, trained side by side; the result is then a list of agents.
        goal_inputs: which numbers of a state a goal is about, such as those of a place; if None, those that a task
            names, or else those that last, by which the recording's graph tells states apart.
        recorded: the graph of the recording (of those numbers), where it is made already; else it is made here.
        checkpoint: a file to go on from, where it exists; written while training, and removed at the end.
        progress: whether to show a bar.
        settings: of `HeadingActor` or `SubgoalCloning`, such as `horizon`, where they are to differ from the defaults.

    Raises:
        InputError: where the data has no actions or is of images, does not fit the model, an argument cannot be used,
            or the training diverges.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=50, keep_actions=True)
    >>> model = ma.fit(data, steps=2, progress=False)
    >>> agent = ma.fit_agent(data, model, steps=2, progress=False)
    >>> agent.act(data.states[0], data.states[5]) in range(4)
    True
    """
    all_seeds, data, told = given(data, goal_inputs, (seed,) if seeds is None else seeds, steps)
    model = told["model"] = fitting_model(model, data)
    with_settings(HeadingActor(**told), settings)  # it has all there are: what is wrong is refused before the graph
    inputs = np.asarray(told["goal_inputs"])
    if recorded is None:  # even where few went: else only long edges pass there, on which agents lose their way
        recorded = recorded_distance(only(data, inputs), max_nodes=NODES, even=True)
    lasting = inputs[recorded.counts | recorded.must_agree]
    told["goal_inputs"] = tuple(map(int, lasting))
    if recorded.repeats or len(lasting) == data.state_shape[0] or told["actions"].choices:
        told["single_steps"] = recorded.steps == 1 and (recorded.repeats or len(lasting) == data.state_shape[0])
        objective = with_settings(SubgoalCloning(**told), settings)
    else:  # a goal says nothing of some inputs, such as an ant's legs
        objective = with_settings(HeadingActor(**told), settings)
    networks = trained(objective, data, steps=steps, seeds=all_seeds, checkpoint=checkpoint, progress=progress)
    policies = [network.policy if isinstance(network, HeadingNetwork) else network for network in networks]
    roadmap, units = Roadmap.of(recorded, data.states, inputs), Units.of(data)
    if isinstance(objective, HeadingActor):
        roadmap = roadmap.on_trodden_ways(data.states)
    # Where states repeat, what leads to the next one was recorded; elsewhere a policy is surer of its direction.
    lookahead = recorded.typical_time if recorded.repeats else min(_AHEAD, objective.horizon) * units.time
    agents = [Agent(model, roadmap, policy, objective.policy_architecture, units, lookahead) for policy in policies]
    return agents[0] if seeds is None else agents
