"""What a process with NumPy and safetensors alone must be able to do with a model and an agent saved by another."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np

from minaction.runtimes.numpy import load, load_agent

assert all(importlib.util.find_spec(name) is None for name in ("jax", "equinox", "msgspec", "scipy", "lazy_loader"))
folder = Path(sys.argv[1])
asked = json.loads((folder / "expected.json").read_text())
model = load(folder)
np.testing.assert_allclose(model.pairwise(asked["states"], asked["states"]), asked["distances"], rtol=1e-4, atol=1e-4)
assert model.nearest(asked["states"][0], asked["states"], 3)[0][0] == 0
acts, agent = json.loads((folder / "acts.json").read_text()), load_agent(folder / "agent.safetensors")
assert [agent.act(one, acts["goal"]) for one in acts["observations"]] == acts["actions"]
print("smoke tests with NumPy and safetensors alone: fine")
