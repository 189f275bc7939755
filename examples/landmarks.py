"""Let Stable-Baselines3's DQN practise to reach landmarks: a few recorded states from which, together, none is far.

`ma.landmarks` spreads them by the learned distance, so that practice covers the whole world, behind the key as well,
in goals of equal worth. With hindsight replay the learner comes to reach most of them from the start (5 of 8 in 15,000
steps).

Run it: pip install stable-baselines3, then python examples/landmarks.py
"""

import argparse

import gymnasium
import numpy as np
from stable_baselines3 import DQN, HerReplayBuffer

import minaction as ma

WORLD, LONGEST = "minaction.environments:minaction/KeyDoorGridWorld-v0", 60


class Practice(gymnasium.Wrapper):
    """Every episode has a landmark as its goal; each step costs 1 until it is reached."""

    def __init__(self, env: gymnasium.Env, goals: np.ndarray) -> None:
        super().__init__(env)
        self.goals, place = goals, env.observation_space
        names = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = gymnasium.spaces.Dict(dict.fromkeys(names, place))

    def reset(self, *, seed=None, options=None):
        observation, info = self.env.reset(seed=seed)
        self.goal = self.goals[self.np_random.integers(len(self.goals))] if options is None else options["goal"]
        return self.seen(observation), info

    def step(self, action):
        observation, _, _, cut, info = self.env.step(action)
        reward = float(self.compute_reward(observation, self.goal, info))
        return self.seen(observation), reward, reward == 0, cut, info

    def compute_reward(self, achieved, desired, info):
        return -(np.abs(achieved - desired).max(axis=-1) > 1e-3).astype(np.float32)

    def seen(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        return {"observation": observation, "achieved_goal": observation, "desired_goal": self.goal}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--steps", type=int, default=15_000, help="of the learner")
options = parser.parse_args()

data = ma.collect(gymnasium.make(WORLD), episodes=400, max_steps=100)
model = ma.fit(data, steps=600, held_out=0.0)
landmarks = data.states[ma.landmarks(data, model, 8)]
print(f"landmarks: {landmarks.round(2).tolist()}")

world = Practice(gymnasium.make(WORLD, max_episode_steps=LONGEST), landmarks)
learner = DQN("MultiInputPolicy", world, replay_buffer_class=HerReplayBuffer, learning_rate=1e-3, learning_starts=500,
              train_freq=1, target_update_interval=250, gamma=0.95, exploration_fraction=0.5, exploration_final_eps=0.2,
              seed=0, device="cpu")  # fmt: skip
learner.learn(options.steps)
reached = 0
for landmark in landmarks:
    observation, _ = world.reset(seed=0, options={"goal": landmark})
    ended = np.array_equal(observation["observation"], landmark)
    for _ in range(LONGEST):
        if ended:
            break
        observation, _, ended, _, _ = world.step(int(learner.predict(observation, deterministic=True)[0]))
    reached += ended
print(f"reached {reached} of {len(landmarks)} landmarks from the start")
