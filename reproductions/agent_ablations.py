"""What each part of an agent contributes: the same policy with other roadmaps, with a plan made once, and with none.

`reproductions/agents.py` makes these of the agents of the data sets named after `--ablate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import minaction as ma
from minaction.agents import Agent
from minaction.agents._roadmap import TRODDEN, Roadmap, Way

VARIANTS = (
    "plan made once",
    "no roadmap",
    "edges by its own distance",
    "edges by Euclidean distance",
    "edges by maddist",
    "edges by qrl",
)


class PlansOnce(Agent):
    """Follows the path that it found at the start of an episode, wherever it drifts."""

    _goal: bytes | None = None
    _path: list[np.ndarray]

    def way(self, observation: ArrayLike, goal: ArrayLike) -> Way:
        """The subgoal on the first path."""
        state, target, roadmap = self._checked(observation, "observation"), self._checked(goal, "goal"), self.roadmap
        assert roadmap is not None
        if self._goal != target.tobytes():
            self._goal, self._path = target.tobytes(), []
            ahead, left = state, np.inf
            while left > self.lookahead and len(self._path) < 1000:
                found = roadmap.way(ahead, target, self.lookahead)
                left, ahead = found.remaining, found.subgoal
                self._path.append(ahead)
                if not np.isfinite(left):
                    break
        moves = np.linalg.norm((state - self._path[0])[roadmap.counts] / roadmap.unit)
        if len(self._path) > 1 and moves * (roadmap.straight_time or roadmap.move_time) < 0.5 * self.lookahead:
            self._path.pop(0)
        return roadmap.way(state, target, self.lookahead)._replace(subgoal=self._path[0])


def on_shortest_ways(agent: Agent, states: np.ndarray) -> Agent:
    """The agent on a roadmap whose edges cost their time alone, wherever they lead."""
    assert agent.roadmap is not None
    roadmap = agent.roadmap.on_trodden_ways(states, -TRODDEN)  # takes back what it cost
    return Agent(agent.model, roadmap, agent.policy, agent.architecture, agent.units, agent.lookahead)


def load(path: Path) -> Agent:
    """The agent in a file named by its variant."""
    return (PlansOnce if path.stem.startswith("plan made once") else Agent).load(path)


def vary(agents: list[Agent], variant: str, others: Mapping[str, ma.DistanceModel]) -> list[Agent]:
    """The seeds of an agent, which share a roadmap, with one part changed; `others` are distances not its own."""
    roadmap = None if variant == "no roadmap" else _varied(agents[0], variant, others)
    return [Agent(one.model, roadmap, one.policy, one.architecture, one.units, one.lookahead) for one in agents]


def _varied(agent: Agent, variant: str, others: Mapping[str, ma.DistanceModel]) -> Roadmap:
    roadmap = agent.roadmap
    assert roadmap is not None
    if variant == "plan made once":
        return roadmap
    if variant == "edges by Euclidean distance":
        counts, speed = roadmap.counts, roadmap.unit / roadmap.move_time
        return roadmap.measured(lambda a, b: np.linalg.norm((a - b)[:, counts] / speed, axis=1))
    model = {"its own distance": agent.model, **others}[variant.removeprefix("edges by ")]
    return roadmap.measured(lambda first, second: np.asarray(model.distance(first, second)))
