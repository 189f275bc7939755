"""`Agent`: reaches goals by what was recorded: a way on the roadmap, and a policy from one subgoal to the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._files import atomic_write
from .._model import DistanceModel
from .._units import Units
from ..errors import InputError
from ..runtimes import _formulas
from ..runtimes._acting import Acting
from ..runtimes._agent_file import stored_agent
from ..runtimes._file import fitting, try_out
from ..runtimes.numpy import OPERATIONS
from ._actions import Actions
from ._agent_file import contents_of, read_agent, write_agent
from ._policy import Policy, PolicyArchitecture
from ._roadmap import Roadmap


class Agent(Acting):
    """Acts to reach goals, without a simulator; made by `minaction.fit_agent`.

    The way to a goal is computed again in every step, so that an agent that drifts off it continues from where it is.
    All that it keeps in mind is what it tried in vain in a state; `reset` before every episode forgets that.

    Args:
        model: the distance that recorded actions were weighted by.
        roadmap: the graph of recorded states on which ways are found; None to head straight for the goal.
        policy: the network that acts towards a nearby subgoal.
        architecture: describes `policy`.
        units: the origin and the typical step of the recording.
        lookahead: how far away subgoals are, in time.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=50, keep_actions=True)
    >>> agent = ma.fit_agent(data, ma.fit(data, steps=2, progress=False), steps=2, progress=False)
    >>> agent.save("/tmp/minaction-agent.safetensors")
    >>> ma.Agent.load("/tmp/minaction-agent.safetensors").actions.choices
    4
    """

    def __init__(
        self,
        model: DistanceModel,
        roadmap: Roadmap | None,
        policy: Policy,
        architecture: PolicyArchitecture,
        units: Units,
        lookahead: float,
    ) -> None:
        self.model, self.roadmap, self.policy, self.architecture = model, roadmap, policy, architecture
        self.units, self.lookahead = units, lookahead

    def __repr__(self) -> str:
        nodes = "no roadmap" if self.roadmap is None else f"{len(self.roadmap.states)} nodes"
        return f"Agent({self.model.provenance.data or 'unnamed data'}, {nodes}, {self.actions.in_words})"

    @property
    def actions(self) -> Actions:
        """The kind of actions it takes."""
        return self.architecture.actions

    def _local(self, state: np.ndarray, subgoal: np.ndarray) -> Any:
        here, there = (self.units.centred(side[None]) for side in (state, subgoal))
        return self.actions.decode(self._policy(here.astype(np.float32), there.astype(np.float32))[0])

    @cached_property
    def _policy(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """As the NumPy runtime has it: for one state that is faster than compiled code, and nothing is compiled."""
        stored = stored_agent(*contents_of(self))
        return _formulas.policy(OPERATIONS, stored.hidden, stored.heading, stored.weights)

    def save(self, path: str | Path) -> None:
        """Write policy, roadmap and model to the safetensors file `path`."""
        write_agent(self, path)

    def export(self, path: str | Path) -> None:
        """Write the local policy to the .onnx file `path`, a graph of plain operators.

        It takes `states` and `subgoals`, both (n, D), and gives `actions`: numbers (n, A) within bounds, or choices
        (n,) beside their `scores` (n, choices). Subgoals are found by `way`, here or in `minaction.runtimes.numpy` and
        `.torch`, whose agents read the file that `save` writes.

        >>> import minaction as ma
        >>> data = ma.read("cliffwalking", episodes=50, keep_actions=True)
        >>> agent = ma.fit_agent(data, ma.fit(data, steps=2, progress=False), steps=2, progress=False)
        >>> agent.export("/tmp/minaction-agent.onnx")
        """
        if Path(path).suffix != ".onnx":
            raise InputError(
                f"An agent is exported to an .onnx file, not to {path}; NumPy and PyTorch read its .safetensors file."
            )
        from ..runtimes.onnx import serialise_policy

        with atomic_write(path) as file:
            file.write(serialise_policy(stored_agent(*contents_of(self))))

    @classmethod
    def load(cls, path: str | Path) -> Agent:
        """Read what `save` wrote to `path`. Nothing in the file is executed."""
        agent = cls(**read_agent(path))
        with fitting(path):
            try_out(agent.model, agent.towards)
        return agent
