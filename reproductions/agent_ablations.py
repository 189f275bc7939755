"""What each part of an agent contributes: the same policy with other roadmaps, with a plan made once, and with none.

    python reproductions/agent_ablations.py agents/pointmaze-large-stitch/agent-seed0.safetensors pointmaze-large-v0 \
        --model maddist=others/maddist.safetensors --model qrl=others/qrl.safetensors --out ablations.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import minaction as ma
from minaction._files import write_json
from minaction.agents import Agent
from minaction.agents._evaluation import ALL_TASKS, _least_steps, _plain, _together, make_environment, run_episode
from minaction.agents._roadmap import Roadmap, Way


class PlansOnce(Agent):
    """Follows the path that it found at the start of an episode, wherever it drifts."""

    def way(self, observation: np.ndarray, goal: np.ndarray) -> Way:
        """The subgoal on the first path."""
        assert self.roadmap is not None
        if getattr(self, "_goal", None) is not goal:
            self._goal, self._path, self._place = goal, [], 0
            state, left = observation, np.inf
            while left > self.lookahead:
                found = self.roadmap.way(state, goal, self.lookahead)
                left, state = found.remaining, found.subgoal
                self._path.append(state)
                if not np.isfinite(left) or len(self._path) > 1000:
                    break
        now = self.roadmap.way(observation, self._path[self._place], self.lookahead)
        if now.remaining < 0.5 * self.lookahead and self._place + 1 < len(self._path):
            self._place += 1
        whole = self.roadmap.way(observation, goal, self.lookahead)
        return whole._replace(subgoal=self._path[self._place])


def variants(agent: Agent, models: dict[str, Path]) -> dict[str, Agent]:
    """The agent itself and what it is compared with."""
    assert agent.roadmap is not None

    def with_roadmap(roadmap: Roadmap | None, kind: type[Agent] = Agent) -> Agent:
        return kind(agent.model, roadmap, agent.policy, agent.architecture, agent.units, agent.lookahead)

    def by(model: ma.DistanceModel) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda first, second: np.asarray(model.distance(first, second))

    speed = agent.roadmap.unit / agent.roadmap.move_time
    counts = agent.roadmap.counts
    found = {
        "agent": agent,
        "plan made once": with_roadmap(agent.roadmap, PlansOnce),
        "no roadmap": with_roadmap(None),
        "edges by its own distance": with_roadmap(agent.roadmap.measured(by(agent.model))),
        "edges by Euclidean distance": with_roadmap(
            agent.roadmap.measured(lambda a, b: np.linalg.norm((a - b)[:, counts] / speed, axis=1))
        ),
    }
    for name, path in models.items():
        found[f"edges by {name}"] = with_roadmap(agent.roadmap.measured(by(ma.load(path))))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agent", type=Path)
    parser.add_argument("environment")
    parser.add_argument("--model", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    models = {name: Path(path) for name, _, path in (text.partition("=") for text in given.model)}
    world = make_environment(given.environment)
    results = {}
    for name, agent in variants(Agent.load(given.agent), models).items():
        played = [run_episode(agent, world, task, 1000 * task + k) for task in ALL_TASKS for k in range(given.episodes)]
        results[name] = _plain(_together(0, played, _least_steps(given.environment, played)))
        print(name, results[name], flush=True)
        write_json(given.out, {"agent": given.agent.parent.name, "environment": given.environment, "results": results})
