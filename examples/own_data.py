"""Learn distances from your own recording: here, a robot vacuum's log in a flat with a one-way cat flap.

Run it: python examples/own_data.py
"""

import numpy as np

import minaction as ma

# A log is a list of episodes; an episode is an array with one row per recorded state. Here: random walks on a 6 x 6
# floor, split by a wall at x = 3. The flap at (3, 2) lets you pass from left to right only, the door at (3, 5) both
# ways.
random = np.random.default_rng(0)


def walk(steps: int) -> np.ndarray:
    """One episode of the log."""
    x, y = random.integers(0, 6, 2)
    rows = [(x, y)]
    for dx, dy in random.permutation(np.repeat([[1, 0], [-1, 0], [0, 1], [0, -1]], steps // 4, axis=0)):
        nx, ny = np.clip(x + dx, 0, 5), np.clip(y + dy, 0, 5)
        crossing = {x, nx} == {2, 3}
        if not crossing or ny == 5 or (ny == 2 and nx == 3):
            x, y = nx, ny
        rows.append((x, y))
    return np.array(rows, dtype=float)


data = ma.Trajectories.from_episodes([walk(100) for _ in range(100)])
print(data)

model = ma.fit(data)

left, right = [2.0, 2.0], [3.0, 2.0]
print(f"through the flap: {float(model.distance(left, right)):.1f} actions")
print(f"and back, by the door: {float(model.distance(right, left)):.1f} actions")

# How right is it? Compare with the exact distances of what was observed.
states, exact = ma.observed_distance(data)
print(ma.agreement(model.pairwise(states, states), exact))
