"""Agent files: a policy, its roadmap and the model it was trained with, in one safetensors file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import numpy as np

from .. import _model_file
from .._files import read_tensors, write_tensors
from .._model import DistanceModel
from .._trees import named_leaves, with_named_leaves
from .._units import Units
from ..encoders._inputs import no_statistics
from ..errors import InputError
from ..runtimes._agent_file import stored_agent
from ._actions import Actions
from ._policy import PolicyArchitecture
from ._roadmap import Roadmap

if TYPE_CHECKING:
    from ._agent import Agent

_GRAPH = ("data", "indices", "indptr")
_NODES = ("states", "counts", "must_agree", "unit")


def write_agent(agent: Agent, path: str | Path) -> None:
    """Write `agent` to a safetensors file."""
    write_tensors(path, "agent", *contents_of(agent))


def contents_of(agent: Agent) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header of an agent's file."""
    tensors, header = _model_file.contents_of(agent.model)
    parts = {"model": tensors, "policy": named_leaves(agent.policy)}
    if agent.units.origin is not None:
        parts["units"] = {"origin": agent.units.origin}
    if agent.roadmap is not None:
        parts["graph"] = {name: getattr(agent.roadmap.graph, name) for name in _GRAPH}
        parts["roadmap"] = {name: getattr(agent.roadmap, name) for name in _NODES}
    described = {
        "model": header,
        "architecture": asdict(agent.architecture),
        "lookahead": agent.lookahead,
        "move_time": None if agent.roadmap is None else agent.roadmap.move_time,
        "repeats": agent.roadmap is not None and agent.roadmap.repeats,
        "straight_time": None if agent.roadmap is None else agent.roadmap.straight_time,
    }
    flat = {f"{part}.{name}": np.asarray(array) for part, arrays in parts.items() for name, array in arrays.items()}
    return flat, described


def read_agent(path: str | Path) -> dict[str, Any]:
    """The arguments of `Agent` that `write_agent` stored in `path`."""
    tensors, header = read_tensors(path, "agent")
    parts: dict[str, dict[str, np.ndarray]] = {}
    for name, array in tensors.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = array
    try:
        roadmap = stored_agent(tensors, header).roadmap  # which checks what every runtime needs
        model = DistanceModel(**_model_file.arguments_of(parts.get("model", {}), header["model"], path))
        architecture = _architecture(header["architecture"])
        skeleton = eqx.filter_eval_shape(
            lambda: architecture.build(no_statistics(model.state_shape), key=jax.random.key(0))
        )
        return {
            "model": model,
            "roadmap": None if roadmap is None else Roadmap.with_scipy(roadmap),
            "policy": with_named_leaves(skeleton, jax.device_put(parts["policy"])),
            "architecture": architecture,
            "units": Units(parts.get("units", {}).get("origin")),
            "lookahead": float(header["lookahead"]),
        }
    except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
        raise InputError(
            f"{path} does not describe an agent that can be built here ({str(error).rstrip('.')}); it may come from "
            "another version."
        ) from error


def _architecture(values: dict[str, Any]) -> PolicyArchitecture:
    actions = values["actions"]
    kind = Actions(tuple(actions["low"]), tuple(actions["high"]), actions["choices"], actions["one_hot"])
    inputs, hidden = tuple(values["goal_inputs"]), tuple(values["hidden"])
    return PolicyArchitecture(kind, inputs, hidden, values.get("reach", 8.0), bool(values.get("heading", False)))
