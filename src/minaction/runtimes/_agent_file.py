"""An agent file as `Agent.save` writes it: a local policy, a roadmap, and the model that both were made with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._file import Stored, fitting, read_file, stored_model
from ._roadmap import Edges, Roadmap
from ._states import as_rows

_MOST_NUMBERS = 1 << 24  # of the matrix that takes subgoals out of states


@dataclass(frozen=True)
class StoredAgent:
    """What a runtime needs of an agent."""

    model: Stored
    weights: dict[str, np.ndarray]
    """Of the policy."""
    hidden: tuple[int, ...]
    heading: bool
    """Whether only the direction of a subgoal counts."""
    low: np.ndarray
    high: np.ndarray
    choices: int
    """How many there are to choose from; 0 where an action is numbers, from `low` to `high`."""
    origin: np.ndarray | None
    """Where the policy sees states from."""
    roadmap: Roadmap | None
    lookahead: float

    def as_rows(self, states: Any) -> tuple[np.ndarray, tuple[int, ...]]:
        """States (..., D) as the policy takes them, float32 (n, D), and their leading axes."""
        return as_rows(states, self.model.state_shape, np.dtype(self.model.state_dtype), self.origin)

    def decode(self, output: np.ndarray) -> Any:
        """The action of the policy's output (size,): the likeliest choice's number, or numbers (A,) within bounds."""
        return int(np.argmax(output)) if self.choices else np.clip(output, self.low, self.high)


def read_agent(path: str | os.PathLike[str]) -> StoredAgent:
    """The agent in `path`."""
    tensors, header = read_file(path, "agent")
    with fitting(path):
        return stored_agent(tensors, header)


def stored_agent(tensors: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> StoredAgent:
    """The agent of a file's arrays and header."""
    parts: dict[str, dict[str, np.ndarray]] = {}
    for name, array in tensors.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = array
    model, policy, architecture = stored_model(parts["model"], header["model"]), parts["policy"], header["architecture"]
    # Which inputs tell a subgoal, each over how far it usually is away: as a matrix, which every runtime multiplies by.
    (size,), inputs = model.state_shape, architecture["goal_inputs"]
    if size * len(inputs) > _MOST_NUMBERS:
        raise ValueError(f"subgoals of {len(inputs)} inputs of {size}")
    chosen = np.zeros((size, len(inputs)), np.float32)
    chosen[inputs, np.arange(len(inputs))] = 1.0
    actions, roadmap = architecture["actions"], _roadmap(parts, header) if "roadmap" in parts else None
    if roadmap is not None and roadmap.states.shape[1:] != model.state_shape:
        raise ValueError(f"nodes of shape {roadmap.states.shape[1:]}")
    return StoredAgent(
        model,
        {**policy, "subgoal": chosen / policy["reach"]},
        tuple(architecture["hidden"]),
        bool(architecture.get("heading", False)),
        np.array(actions["low"], np.float32),
        np.array(actions["high"], np.float32),
        actions["choices"],
        parts.get("units", {}).get("origin"),
        roadmap,
        float(header["lookahead"]),
    )


def _roadmap(parts: dict[str, dict[str, np.ndarray]], header: Mapping[str, Any]) -> Roadmap:
    nodes, edges = parts["roadmap"], Edges(*(parts["graph"][name] for name in Edges._fields))
    straight = header.get("straight_time")  # which files of older versions do not tell
    return Roadmap(
        graph=edges,
        **nodes,
        move_time=float(header["move_time"]),
        repeats=bool(header["repeats"]),
        straight_time=None if straight is None else float(straight),
    )
