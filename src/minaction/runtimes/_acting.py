"""How an agent finds its subgoal and acts towards it, in every runtime."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ._roadmap import Roadmap, Way

_FAR = 6.0  # typical moves from anything recorded: a goal out there is a guess


class Acting:
    """An agent's `act` and `way`, where `towards` is its local policy."""

    model: Any
    roadmap: Roadmap | None
    lookahead: float
    _told: bytes | None = None  # the goal that was warned of last

    def act(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """The action in a state, `observation` (D,), on the way to `goal` (D,): numbers (A,), or a choice's number.

        Warns once of a goal that is far from anything recorded, or to which no recorded path leads.
        """
        way = self.way(observation, goal)
        self._warn(way, np.asarray(goal))
        return self.towards(observation, way.subgoal)

    def way(self, observation: ArrayLike, goal: ArrayLike) -> Way:
        """Where to head for next from `observation` (D,) to reach `goal` (D,), and how long the way is."""
        state, target = self._checked(observation, "observation"), self._checked(goal, "goal")
        if self.roadmap is None:
            return Way(target, float(self.model.distance(state, target)), 0.0, 0.0)
        return self.roadmap.way(state, target, self.lookahead)

    def towards(self, observation: ArrayLike, subgoal: ArrayLike) -> Any:
        """The local policy's action in a state, `observation` (D,), towards a nearby `subgoal` (D,)."""
        raise NotImplementedError

    def _warn(self, way: Way, goal: np.ndarray) -> None:
        if self._told == goal.tobytes():
            return
        self._told = goal.tobytes()
        if way.goal_off_road > _FAR:
            far = "infinitely many" if np.isinf(way.goal_off_road) else f"{way.goal_off_road:.0f}"
            warnings.warn(f"The goal lies {far} typical moves from anything recorded; expect to miss it.", stacklevel=3)
        elif np.isinf(way.remaining):
            warnings.warn("No recorded path leads to the goal from here; it may be unreachable.", stacklevel=3)

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
