"""Find the way through a door in a Gymnasium environment, by searching from one subgoal to the next.

`model.subgoal` gives the recorded state halfway to a goal. Halved three times, the way through the door has seven
subgoals, and from each to the next a blind search tries few actions. They come from random episodes, whose rewards and
actions nobody recorded; the key, which lies off the straight way to the door, is on the way by itself.

Run it: python examples/subgoals.py
"""

import copy
from collections import deque

import gymnasium
import numpy as np

import minaction as ma

WORLD = "minaction.environments:minaction/KeyDoorGridWorld-v0"
DOOR = np.array([0.5, 0.75, 1.0], np.float32)  # with the key in hand


def halved(start: np.ndarray, goal: np.ndarray, times: int) -> list[np.ndarray]:
    """Subgoals from `start` to `goal`, which is the last."""
    if times == 0:
        return [goal]
    middle = model.subgoal(start, goal, data)
    return halved(start, middle, times - 1) + halved(middle, goal, times - 1)


def search(world: gymnasium.Env, here: np.ndarray, goal: np.ndarray) -> tuple[gymnasium.Env, int, int]:
    """The world at the goal, by the fewest actions from `here`: how many, and how many were tried."""
    queue, seen, tried = deque([(world, here, 0)]), {here.tobytes()}, 0
    while queue:
        world, here, actions = queue.popleft()
        if np.allclose(here, goal):
            return world, actions, tried
        for action in range(4):
            after = copy.deepcopy(world)
            observation, *_ = after.step(action)
            tried += 1
            if observation.tobytes() not in seen:
                seen.add(observation.tobytes())
                queue.append((after, observation, actions + 1))
    raise SystemExit("There is no way.")


world = gymnasium.make(WORLD)
data = ma.collect(world, episodes=400, max_steps=100)
model = ma.fit(data, steps=600, held_out=0.0)
start, _ = world.reset(seed=0)
_, actions, tried = search(copy.deepcopy(world), start, DOOR)
print(f"at once: {tried} actions tried for a way of {actions}")

here, total, total_tried = start, 0, 0
for subgoal in halved(start, DOOR, 3):
    world, actions, tried = search(world, here, subgoal)
    here, total, total_tried = subgoal, total + actions, total_tried + tried
print(f"by subgoals: {total_tried} actions tried for a way of {total}")
