"""Agents and their baselines on OGBench's mazes: three seeds of each, from recordings with actions.

    python reproductions/agents.py train ogbench-pointmaze-medium-stitch agents/pointmaze-medium-stitch --episodes 2500
    minaction agent evaluate agents/pointmaze-medium-stitch pointmaze-medium-v0

Beside the agents it leaves goal-conditioned behaviour cloning of the same recordings in `gcbc/`: the same policy and
trainer, but any later state of the episode as the goal, all weights equal, and no roadmap.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import minaction as ma
from minaction.agents import Agent
from minaction.agents._fit import NODES


def train(source: str, out: Path, episodes: int | None, seeds: int, steps: int | None, model_steps: int | None) -> None:
    """Write agents, baselines and how long each part took."""
    data = ma.read(source, keep_actions=True, episodes=episodes)
    took, began = {}, time.monotonic()

    def lap(name: str) -> None:
        nonlocal began
        took[name], began = round(time.monotonic() - began, 1), time.monotonic()

    models = ma.fit(data, steps=model_steps, seeds=range(seeds), name=source, held_out=0.0, progress=False)
    lap("distances")
    recorded = ma.recorded_distance(data, max_nodes=NODES)
    lap("roadmap")
    for seed, model in enumerate(models):
        agent = ma.fit_agent(data, model, steps=steps, seed=seed, recorded=recorded, progress=False)
        agent.save(out / f"agent-seed{seed}.safetensors")
        lap(f"agent {seed}")
    longest = int(data.lengths.max())
    for seed, model in enumerate(models):
        settings = {"horizon": longest, "sharpness": 0.0, "single_steps": False}
        cloned = ma.fit_agent(data, model, steps=steps, seed=seed, recorded=recorded, progress=False, **settings)
        baseline = Agent(model, None, cloned.policy, cloned.architecture, cloned.units, cloned.lookahead)
        baseline.save(out / "gcbc" / f"agent-seed{seed}.safetensors")
        lap(f"cloning {seed}")
    (out / "took.json").write_text(json.dumps({"states": data.num_states, "seconds": took}, indent=2) + "\n")
    print(source, data, recorded, took, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["train"])
    parser.add_argument("source")
    parser.add_argument("out", type=Path)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--model-steps", type=int)
    given = parser.parse_args()
    train(given.source, given.out, given.episodes, given.seeds, given.steps, given.model_steps)
