"""Agents in grid worlds, from random episodes: how often and how quickly they reach the goal from the start.

python reproductions/gridworld_agents.py --seeds 3 --out reproductions/results/gridworld_agents.json
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gymnasium
import numpy as np

import minaction as ma
from minaction._files import write_json
from minaction.environments import CliffWalking, KeyDoorGridWorld, transition_graph
from minaction.exact import minimum_action_distance

WORLDS = {
    "keydoor-gridworld": ("minaction/KeyDoorGridWorld-v0", KeyDoorGridWorld(), 400),
    "cliffwalking": ("minaction/CliffWalking-v0", CliffWalking(), 100),
}


def goal_and_least_steps(world: CliffWalking | KeyDoorGridWorld) -> tuple[np.ndarray, int]:
    """The observation of the state that ends an episode, and the least steps from the start to it."""
    origin = world.starts(1, np.random.default_rng(0))
    graph = transition_graph(world, origin)
    distances = minimum_action_distance(len(graph.states), graph.edges)
    goal = int(np.flatnonzero(world.terminal(graph.states))[0])
    observed = world.observe(graph.states[goal : goal + 1], np.random.default_rng(0))[0]
    start = int(np.flatnonzero((graph.states == origin).all(axis=1))[0])
    return observed, int(distances[start, goal])


def run(task: str, seed: int, episodes: int, steps: int | None, model_steps: int | None) -> dict:
    """Train on data of `seed` and act in 100 episodes."""
    name, world, recorded = WORLDS[task]
    data = ma.read(task, keep_actions=True, seed=seed, episodes=recorded)
    model = ma.fit(data, steps=model_steps, seed=seed, held_out=0.0, progress=False)
    agent = ma.fit_agent(data, model, steps=steps, seed=seed, progress=False)
    goal, least = goal_and_least_steps(world)
    environment = gymnasium.make(name)
    taken = []
    for episode in range(episodes):
        observation, _ = environment.reset(seed=episode)
        ended, step = False, 0
        while not ended and step < 10 * least:
            observation, _, ended, _, _ = environment.step(agent.act(observation, goal))
            step += 1
        taken.append(step if ended else None)
    reached = [step for step in taken if step is not None]
    found = {
        "task": task,
        "seed": seed,
        "recorded episodes": recorded,
        "episodes": episodes,
        "successes": len(reached),
        "least steps": least,
        "mean steps": float(np.mean(reached)) if reached else None,
        "goal recorded": bool((data.states == goal).all(axis=1).any()),
    }
    print(found, flush=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--model-steps", type=int)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    settings = (given.episodes, given.steps, given.model_steps)
    write_json(given.out, [run(task, seed, *settings) for task in WORLDS for seed in range(given.seeds)])
