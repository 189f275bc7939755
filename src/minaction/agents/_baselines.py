"""What others do with the same recordings, in the same trainer: agents without a roadmap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._descriptions import with_settings
from .._model import DistanceModel
from .._model_file import Provenance
from .._units import Units
from ..trajectories import Trajectories
from ._agent import Agent
from ._cloning import SubgoalCloning
from ._given import fitting_model, given
from ._qrl_actor import QRLActor
from ._training import trained


def fit_gcbc(
    data: Trajectories | str | Path | Any,
    model: DistanceModel | str | Path,
    *,
    steps: int | None = None,
    seeds: Sequence[int] = (0,),
    goal_inputs: Sequence[int] | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> list[Agent]:
    """Goal-conditioned behaviour cloning: what the recording did on its way to any later state of the episode.

    All later states are goals alike, and every action counts the same; `model` is only kept in the agent's file. The
    other arguments are those of `fit_agent`.
    """
    seeds, data, about = given(data, goal_inputs, seeds, steps)
    model, horizon = fitting_model(model, data), int(data.lengths.max())
    told: dict[str, Any] = {"sharpness": 0.0, "single_steps": False, "horizon": horizon, "reach": None}
    objective = with_settings(SubgoalCloning(**about, **told, model=model), settings)
    policies = trained(objective, data, steps=steps, seeds=seeds, checkpoint=checkpoint, progress=progress)
    units = Units.of(data)
    return [Agent(model, None, policy, objective.architecture, units, 0.0) for policy in policies]


def fit_qrl_actor(
    data: Trajectories | str | Path | Any,
    *,
    steps: int | None = None,
    seeds: Sequence[int] = (0,),
    goal_inputs: Sequence[int] | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> list[Agent]:
    """QRL with an actor, which follows its own distance through a learned model of the dynamics: see `QRLActor`.

    The arguments are those of `fit_agent`.
    """
    seeds, data, about = given(data, goal_inputs, seeds, steps)
    objective = with_settings(QRLActor(**about), settings)
    steps = objective.default_steps if steps is None else steps
    networks = trained(objective, data, steps=steps, seeds=seeds, checkpoint=checkpoint, progress=progress)
    units = Units.of(data)
    made = {"objective": objective.name, "hyperparameters": objective.hyperparameters(), "steps": steps}
    recorded = {
        "data_fingerprint": data.fingerprint,
        "episodes": data.num_episodes,
        "states": data.num_states,
    }
    return [
        Agent(
            DistanceModel(
                network.distance,
                objective.distance.architecture,
                Provenance(**made, seed=seed, **recorded),
                data.state_shape,
                data.states.dtype.name,
                units,
                data.columns,
                data.time_unit,
            ),
            None,
            network.policy,
            objective.architecture.policy,
            units,
            0.0,
        )
        for seed, network in zip(seeds, networks, strict=True)
    ]
