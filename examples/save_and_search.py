"""Train on a task, save the model, load it again and search with it.

Run it: python examples/save_and_search.py
"""

import tempfile
from pathlib import Path

import minaction as ma

task = ma.get_task("cliffwalking")
data = task.trajectories(seed=1)
model = ma.fit(data, ma.MadDist(), steps=1000)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "cliff.safetensors"
    model.save(path)
    model = ma.load(path)

states = data.distinct.states
start = [0.0, 1.0]  # column 0 of 12, row 3 of 4: bottom left, above nothing but beside the cliff
index, actions = model.nearest(start, states, k=5)
for k, distance in zip(index, actions, strict=True):
    print(f"{states[k]} is {distance:.1f} actions away")

for name, found in ma.evaluate(model, task.truths()).items():
    print(f"{name}: Pearson {found.pearson:.3f}, mean ratio {found.mean_ratio:.2f}")
