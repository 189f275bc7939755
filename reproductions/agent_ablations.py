"""What each part of an agent contributes: the same policy with other roadmaps, with a plan made once, and with none.

`reproductions/agents.py` plays these beside the agents of the data sets named after `--ablate`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

import minaction as ma
from minaction.agents import Agent
from minaction.agents._roadmap import Roadmap, Way

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

    def way(self, observation: ArrayLike, goal: ArrayLike) -> Way:
        """The subgoal on the first path."""
        observation, target = np.asarray(observation), np.asarray(goal)
        assert self.roadmap is not None
        if getattr(self, "_goal", None) is not goal:
            self._goal, self._path, self._place = goal, [], 0
            state, left = observation, np.inf
            while left > self.lookahead:
                found = self.roadmap.way(state, target, self.lookahead)
                left, state = found.remaining, found.subgoal
                self._path.append(state)
                if not np.isfinite(left) or len(self._path) > 1000:
                    break
        now = self.roadmap.way(observation, self._path[self._place], self.lookahead)
        if now.remaining < 0.5 * self.lookahead and self._place + 1 < len(self._path):
            self._place += 1
        whole = self.roadmap.way(observation, target, self.lookahead)
        return whole._replace(subgoal=self._path[self._place])


def vary(agent: Agent, variant: str, folder: Path) -> Agent:
    """The agent itself, or with one part changed; other distances are in `folder`."""
    if not variant:
        return agent
    assert agent.roadmap is not None

    def with_roadmap(roadmap: Roadmap | None, kind: type[Agent] = Agent) -> Agent:
        return kind(agent.model, roadmap, agent.policy, agent.architecture, agent.units, agent.lookahead)

    def by(model: ma.DistanceModel) -> Agent:
        assert agent.roadmap is not None
        return with_roadmap(agent.roadmap.measured(lambda first, second: np.asarray(model.distance(first, second))))

    if variant == "plan made once":
        return with_roadmap(agent.roadmap, PlansOnce)
    if variant == "no roadmap":
        return with_roadmap(None)
    if variant == "edges by its own distance":
        return by(agent.model)
    if variant == "edges by Euclidean distance":
        counts, speed = agent.roadmap.counts, agent.roadmap.unit / agent.roadmap.move_time
        return with_roadmap(agent.roadmap.measured(lambda a, b: np.linalg.norm((a - b)[:, counts] / speed, axis=1)))
    return by(ma.load(folder / f"{variant.removeprefix('edges by ')}.safetensors"))
