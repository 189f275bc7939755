"""An agent that fetches a key and goes through a door in a Gymnasium environment, learned from random episodes.

The recording holds observations and actions, no rewards. The distance says how far states are apart, the agent follows
the shortest recorded path and clones what the recording did from one state of it to the next.

Run it: python examples/agent.py
"""

import gymnasium
import numpy as np

import minaction as ma

environment = gymnasium.make("minaction.environments:minaction/KeyDoorGridWorld-v0")
data = ma.collect(environment, episodes=400, max_steps=100, keep_actions=True)
model = ma.fit(data, steps=600, held_out=0.0)
agent = ma.fit_agent(data, model, steps=1000)

goal = np.array([0.5, 0.75, 1.0], np.float32)  # the door, with the key in hand
observation, _ = environment.reset(seed=0)
print(f"the way is {agent.way(observation, goal).remaining:.0f} actions long")
print(f"halfway: {model.subgoal(observation, goal, data)}")
print(f"three landmarks: {data.states[ma.landmarks(data, model, 3)].tolist()}")
ended, count = False, 0
while not ended and count < 200:
    observation, _, ended, _, _ = environment.step(agent.act(observation, goal))
    count += 1
print(f"the door {'opened' if ended else 'stayed shut'} after {count} actions; 23 are the least")
