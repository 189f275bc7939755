"""What an installed minaction must be able to do: learn, save, load, ask without JAX, write a page and a card."""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

import minaction as ma
from minaction.cli import main
from minaction.runtimes.numpy import load

assert ma.__version__ == sys.argv[1], (ma.__version__, sys.argv[1])
assert "site-packages" in ma.__file__, ma.__file__
for name in ma.__all__:
    getattr(ma, name)
with tempfile.TemporaryDirectory() as folder:
    run, page = Path(folder) / "run", Path(folder) / "page.html"
    settings = ["--set", "encoder.hidden=16", "encoder.latent=8"]
    assert main(["train", "cliffwalking", "--steps", "20", "--evaluations", "2", "--out", str(run), *settings]) == 0
    assert (run / "report.html").stat().st_size > 10_000
    model = ma.load(run)
    states = np.random.default_rng(0).random((20, 2))
    distances, saved = model.pairwise(states, states), Path(sys.argv[2])
    model.save(saved)
    (saved / "expected.json").write_text(json.dumps({"states": states.tolist(), "distances": distances.tolist()}))
    data = ma.read("cliffwalking", episodes=20, keep_actions=True)
    agent = ma.fit_agent(data, model, steps=5, progress=False, hidden=(16,))
    agent.save(saved / "agent.safetensors")
    ends = data.states[-1]
    acts = {
        "observations": data.states[:50].tolist(),
        "goal": ends.tolist(),
        "actions": [agent.act(one, ends) for one in data.states[:50]],
    }
    (saved / "acts.json").write_text(json.dumps(acts))
    np.testing.assert_allclose(load(saved).pairwise(states, states), distances, rtol=1e-4, atol=1e-4)
    assert main(["export", str(run), str(page)]) == 0
    assert main(["card", str(run), "-o", str(Path(folder) / "card.md")]) == 0
    assert main(["doctor"]) == 0
print("smoke tests: fine")
