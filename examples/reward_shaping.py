"""Teach Stable-Baselines3's DQN to fetch a key and go through a door, with and without a learned distance as guide.

The reward is 1 at the door and nothing before: a learner without guidance hardly ever sees it. The distance is
learned beforehand, from random episodes without rewards or actions. Everything else is the same for both learners.

Run it: pip install stable-baselines3, then python examples/reward_shaping.py --seeds 5
"""

import argparse
import json
from pathlib import Path

import gymnasium
import numpy as np
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

import minaction as ma

WORLD, DOOR = "minaction/KeyDoorGridWorld-v0", [0.5, 0.75, 1.0]  # the door, observed with the key in hand
DISCOUNT, LONGEST, GOOD_ENOUGH = 0.99, 200, 30  # the shortest path takes 23 actions
EXPLORING, RANDOM = 5000, 0.3  # steps until no more than this share of the actions is random


class UntilSolved(BaseCallback):
    """Ends the training when the greedy policy goes through the door, tested every 500 steps."""

    def _on_step(self) -> bool:
        self.solved = self.num_timesteps % 500 == 0 and actions_to_the_door(self.model) <= GOOD_ENOUGH
        return not self.solved


def actions_to_the_door(learner: BaseAlgorithm) -> int:
    """How many actions the greedy policy takes, or LONGEST where it does not get there."""
    env = gymnasium.make(WORLD)
    observation, _ = env.reset()
    for count in range(1, LONGEST):
        action, _ = learner.predict(observation, deterministic=True)
        observation, _, ended, _, _ = env.step(int(action))
        if ended:
            return count
    return LONGEST


def steps_until_solved(model: ma.DistanceModel | None, seed: int, most: int) -> int | None:
    """How many steps DQN needs, if `most` are enough; shaped by the distance to the door if there is one."""
    env = gymnasium.make(WORLD, max_episode_steps=LONGEST)
    if model is not None:
        env = ma.ShapedReward(env, model, DOOR, discount=DISCOUNT, scale=0.1)
    learner = DQN(
        "MlpPolicy",
        env,
        gamma=DISCOUNT,
        learning_rate=1e-3,
        batch_size=64,
        learning_starts=500,
        train_freq=1,
        target_update_interval=250,
        exploration_fraction=EXPLORING / most,
        exploration_final_eps=RANDOM,
        seed=seed,
        device="cpu",
    )
    callback = UntilSolved()
    learner.learn(most, callback=callback)
    return learner.num_timesteps if callback.solved else None


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--most-steps", type=int, default=30_000, help="of a learner")
parser.add_argument("--training-steps", type=int, default=2000, help="of the distance")
parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
options = parser.parse_args()

data = ma.get_task("keydoor-gridworld").trajectories(seed=0, episodes=400)
distance = ma.fit(data, ma.TautDist(), steps=options.training_steps)
needed: dict[str, list[int | None]] = {}
for name, model in (("with the learned distance", distance), ("with the reward alone", None)):
    needed[name] = []
    for seed in range(options.seeds):
        needed[name].append(steps_until_solved(model, seed, options.most_steps))
        print(f"{name}, seed {seed}: {needed[name][-1] or f'not in {options.most_steps}'} steps", flush=True)
    print(f"{name}: median {np.median([steps or np.inf for steps in needed[name]]):.0f} steps")
if options.out is not None:
    numbers = {"steps until solved": needed, "most steps": options.most_steps, "goal": f"at most {GOOD_ENOUGH} actions"}
    options.out.write_text(json.dumps(numbers, indent=2) + "\n")
