"""How an agent finds its subgoal and acts towards it, in every runtime."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ._roadmap import Roadmap, Way

_FAR = 6.0  # typical moves from anything recorded: a goal out there is a guess
_FLATTENED = " (`minaction.environments.as_state` makes one of an observation, as `collect` does)"


def is_recorded(roadmap: Roadmap | None, way: Way) -> bool:
    """Whether the goal of `way` is near anything recorded; how to reach one further out is a guess."""
    return roadmap is None or (way.goal_off_road <= _FAR and roadmap.holds(way.goal_off_road))


class Acting:
    """An agent's `act`, `way` and `towards`, where `_local` is its local policy."""

    model: Any
    roadmap: Roadmap | None
    lookahead: float
    _told: bytes | None = None  # the goal that was warned of last
    _stand_in: tuple[bytes, np.ndarray, float] | None = None  # for a goal: a state near it, and from there to the goal
    _last: tuple[bytes, bytes] | None = None  # the state acted in last, and the goal it was for,
    _tries: int = 0  # and how many actions before changed nothing

    def act(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """The action in a state, `observation` (D,), on the way to `goal` (D,): numbers (A,), or a choice's number.

        Warns once of a goal that is far from anything recorded, or to which no recorded path leads. To such a goal it
        goes by way of the state that is nearest to it, by the learned distance, of those to which a path leads. Where
        the last action changed nothing, as in front of a wall, it heads for any recorded state around, and tries from
        there. So ask about one episode at a time, and call `reset` where another begins; a new goal is noticed.
        """
        state, target = self._checked(observation, "observation"), self._checked(goal, "goal")
        if self.roadmap is None:
            return self._local(state, target)
        way = self.way(state, target)
        self._warn(self.roadmap, way, target)
        now = state.tobytes(), target.tobytes()
        self._tries = self._tries + 1 if self._last == now else 0
        self._last = now
        return self._local(state, self.roadmap.around(state, self._tries) if self._tries else way.subgoal)

    def reset(self) -> None:
        """Forget what was tried, because an episode begins: `act` then does what an agent does that was just loaded."""
        self._last, self._tries, self._stand_in = None, 0, None

    def way(self, observation: ArrayLike, goal: ArrayLike) -> Way:
        """Where to head for next from `observation` (D,) to reach `goal` (D,), and how long the way is."""
        state, target = self._checked(observation, "observation"), self._checked(goal, "goal")
        if self.roadmap is None:
            return Way(target, float(self.model.distance(state, target)), 0.0, 0.0)
        found = self.roadmap.way(state, target, self.lookahead)
        if np.isfinite(found.remaining) and self.roadmap.holds(found.goal_off_road):
            return found
        if not self.roadmap.holds(found.off_road):  # beyond what was recorded already
            return found._replace(subgoal=target)
        return self._detour(self.roadmap, found, state, target)

    def _detour(self, roadmap: Roadmap, found: Way, state: np.ndarray, goal: np.ndarray) -> Way:
        """The way to the recorded state that is nearest to the goal by the learned distance, then straight on."""
        key = goal.tobytes()
        if self._stand_in is None or self._stand_in[0] != key:
            nodes = roadmap.states[roadmap.reachable(state)]
            away = np.asarray(self.model.distance(nodes, np.broadcast_to(goal, nodes.shape)))
            self._stand_in = key, nodes[np.argmin(away)], float(away.min())
        _, stand_in, beyond = self._stand_in
        there = roadmap.way(state, stand_in, self.lookahead)
        arrived = there.remaining < roadmap.move_time or np.isinf(there.remaining)
        remaining = there.remaining + beyond if np.isfinite(found.remaining) else np.inf
        return found._replace(subgoal=goal if arrived else there.subgoal, remaining=remaining)

    def towards(self, observation: ArrayLike, subgoal: ArrayLike) -> Any:
        """The local policy's action in a state, `observation` (D,), towards a nearby `subgoal` (D,)."""
        return self._local(self._checked(observation, "observation"), self._checked(subgoal, "subgoal"))

    def _local(self, state: np.ndarray, subgoal: np.ndarray) -> Any:
        """What `towards` gives, for states that are checked already."""
        raise NotImplementedError

    def _warn(self, roadmap: Roadmap, way: Way, goal: np.ndarray) -> None:
        if self._told == goal.tobytes():
            return
        self._told = goal.tobytes()
        if not is_recorded(roadmap, way):
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
        try:
            found = np.asarray(state)
        except ValueError:
            raise InputError(
                f"The {what} is no array: its rows have different lengths; give a state as recorded."
            ) from None
        if found.dtype.kind not in "fiub":
            raise InputError(
                f"The {what} is not made of numbers but of {found.dtype.name}; give a state as recorded{_FLATTENED}."
            )
        if found.shape != self.model.state_shape:
            flattened = _FLATTENED if found.ndim == 0 else ""  # a choice among n, of which n numbers were recorded
            raise InputError(
                f"The {what} has shape {found.shape}; this agent takes states of shape {self.model.state_shape}, "
                f"as they were recorded{flattened}."
            )
        if not np.isfinite(found).all():
            raise InputError(f"The {what} holds NaN or infinity.")
        return found.astype(self.model.state_dtype, copy=False)
