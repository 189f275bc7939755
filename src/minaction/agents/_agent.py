"""`Agent`: reaches goals by what was recorded: a way on the roadmap, and a policy from one subgoal to the next."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._model import DistanceModel
from .._units import Units
from ..errors import InputError
from ._actions import Actions
from ._agent_file import read_agent, write_agent
from ._policy import Policy, PolicyArchitecture, in_numpy
from ._roadmap import Roadmap, Way

_FAR = 6.0  # typical moves from anything recorded: a goal out there is a guess


class Agent:
    """Acts to reach goals, without a simulator; made by `minaction.fit_agent`.

    The way to a goal is computed again in every step, so that an agent that drifts off it continues from where it is.

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
        self._told: bytes | None = None
        self._stand_ins: dict[bytes, tuple[np.ndarray, float]] = {}

    def __repr__(self) -> str:
        nodes = "no roadmap" if self.roadmap is None else f"{len(self.roadmap.states)} nodes"
        return f"Agent({self.model.provenance.data or 'unnamed data'}, {nodes}, {self.actions.in_words})"

    @property
    def actions(self) -> Actions:
        """The kind of actions it takes."""
        return self.architecture.actions

    def act(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """The action in a state, `observation` (D,), on the way to `goal` (D,): numbers (A,), or a choice's number.

        Warns once of a goal that is far from anything recorded, or to which no recorded path leads. To such a goal it
        goes by way of the state that is nearest to it, by the learned distance, of those to which a path leads.
        """
        if self.roadmap is None:
            return self.towards(self._checked(observation, "observation"), self._checked(goal, "goal"))
        way = self.way(observation, goal)
        self._warn(self.roadmap, way, np.asarray(goal))
        return self.towards(observation, way.subgoal)

    def way(self, observation: ArrayLike, goal: ArrayLike) -> Way:
        """Where to head for next from `observation` (D,) to reach `goal` (D,), and how long the way is."""
        state, target = self._checked(observation, "observation"), self._checked(goal, "goal")
        if self.roadmap is None:
            return Way(target, float(self.model.distance(state, target)), 0.0, 0.0)
        found = self.roadmap.way(state, target, self.lookahead)
        recorded = np.isfinite(found.remaining) and self.roadmap.holds(found.goal_off_road)
        return found if recorded else self._detour(found, state, target)

    def _detour(self, found: Way, state: np.ndarray, goal: np.ndarray) -> Way:
        """The way to the recorded state that is nearest to the goal by the learned distance, then straight on."""
        assert self.roadmap is not None
        if not self.roadmap.holds(found.off_road):  # beyond what was recorded already
            return found._replace(subgoal=goal)
        key = goal.tobytes()
        if key not in self._stand_ins:
            nodes = self.roadmap.states[self.roadmap.reachable(state)]
            away = self.model.pairwise(nodes, goal[None])[:, 0]
            self._stand_ins = {key: (nodes[np.argmin(away)], float(away.min()))}
        stand_in, beyond = self._stand_ins[key]
        there = self.roadmap.way(state, stand_in, self.lookahead)
        arrived = there.remaining < self.roadmap.move_time or np.isinf(there.remaining)
        remaining = there.remaining + beyond if np.isfinite(found.remaining) else np.inf
        return found._replace(subgoal=goal if arrived else there.subgoal, remaining=remaining)

    def towards(self, observation: ArrayLike, subgoal: ArrayLike) -> Any:
        """The local policy's action in a state, `observation` (D,), towards a nearby `subgoal` (D,)."""
        here, there = (self.units.centred(np.asarray(side)) for side in (observation, subgoal))
        return self.actions.decode(self._policy(here, there))

    @cached_property
    def _policy(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return in_numpy(self.policy)

    def save(self, path: str | Path) -> None:
        """Write policy, roadmap and model to the safetensors file `path`."""
        write_agent(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Agent:
        """Read what `save` wrote to `path`. Nothing in the file is executed."""
        return cls(**read_agent(path))

    def _warn(self, roadmap: Roadmap, way: Way, goal: np.ndarray) -> None:
        if self._told == goal.tobytes():
            return
        self._told = goal.tobytes()
        if way.goal_off_road > _FAR or not roadmap.holds(way.goal_off_road):
            far = "infinitely many" if np.isinf(way.goal_off_road) else f"{way.goal_off_road:.0f}"
            warnings.warn(
                f"The goal lies {far} typical moves from anything recorded; heading for the recorded state that is "
                "nearest to it, and likely to miss it.",
                stacklevel=3,
            )
        elif np.isinf(way.remaining):
            warnings.warn(
                "No recorded path leads to the goal from here, so that it may be unreachable; heading for the recorded "
                "state that is nearest to it by the learned distance.",
                stacklevel=3,
            )

    def _checked(self, state: ArrayLike, what: str) -> np.ndarray:
        found = np.asarray(state)
        if found.shape != self.model.state_shape or found.dtype.kind not in "fiub":
            raise InputError(
                f"The {what} has shape {found.shape}; this agent takes states of shape {self.model.state_shape}, "
                "as they were recorded."
            )
        if not np.isfinite(found).all():
            raise InputError(f"The {what} holds NaN or infinity.")
        return found.astype(self.model.state_dtype, copy=False)
