"""Distances do not depend on units or origins: every objective, two tasks, trained alike on changed recordings.

python reproductions/equivariance.py                  writes reproductions/results/equivariance.json; some minutes
python reproductions/equivariance.py --last-bits      why two rows do not hold: adds `last_bits` to the same file

Of a world multiplied, timed or shifted otherwise the same distances are asked for, up to the unit of time: the Pearson
correlation with the truth may differ by .002, the mean ratio to the truth by 1%.

Of 70 rows 68 hold. TautDist on the ring does not for two of five changes (.004 and .009), whose inputs differ in their
last bits alone. It amplifies them: states that are changed by a ten-millionth of their spread differ as much, and
another seed by ten times that; neither longer training nor averaged weights change it, as TautDist does not come to an
end on the ring (.86 after 20,000 steps). The first update already differs by twice the learning rate in some weights:
Adam takes steps of full size along gradients that are rounding errors. With its epsilon at 1e-5 instead of 1e-10 all
rows hold; distances are a little less accurate then (CliffWalking after 8,000 steps .0700 off instead of .0651), so it
stays as it is.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import jax
import numpy as np

import minaction as ma
from minaction.objectives import make_objective
from minaction.tasks import Source

TASKS = ("cliffwalking", "one-way-ring")
OBJECTIVES = ("tautdist", "pathdist", "maddist", "tdmaddist", "plandist", "qrl", "hilbert")
CHANGES = {
    "states x 1e-9": {"states": 1e-9},
    "states x 1e9": {"states": 1e9},
    "times x 1e-9": {"times": 1e-9},
    "times x 1e9": {"times": 1e9},
    "states + 1e9 spreads": {"shift": 1e9},
}
_OF_STATES = ("states x 1e-9", "states x 1e9", "states + 1e9 spreads")
STEPS = 300
SMALL = {
    "qrl": {
        "encoder": {"name": "mlp", "hidden": [64, 64], "latent": 64},
        "quasimetric": {"name": "iqe", "component_size": 8},
    },
    "hilbert": {"encoder.base.hidden": [64, 64], "encoder.base.latent": 32},
}
OUT = Path(__file__).parent / "results" / "equivariance.json"


def changed(values: np.ndarray, spread: np.ndarray, states: float = 1.0, shift: float = 0.0, **_: float) -> np.ndarray:
    """States in another unit, every input from an origin that is so many of its own spreads away."""
    return values.astype(np.float64) * states + shift * spread * states


def measure(
    task: str, objective: str, change: dict[str, float], *, seed: int = 0, bits: int = 0, steps: int = STEPS
) -> dict[str, float]:
    """Pearson correlation and mean ratio to the truth, in the truth's unit; `bits` numbers changes of the last bits."""
    source = Source(task)
    data, truth = source.data(0), source.truths(0)[0]
    spread, unit = data.states.std(axis=0).astype(np.float64), change.get("times", 1.0)
    times = np.concatenate([np.arange(length) for length in data.lengths]) if data.times is None else data.times

    def seen(states: np.ndarray) -> np.ndarray:
        found = changed(states, spread, **change)
        return found + (1e-7 * spread * np.sin(1e5 * bits * found / spread + bits) if bits else 0.0)

    recording = ma.Trajectories.from_flat(seen(data.states), data.offsets, times * unit)
    settings = SMALL.get(objective, {"encoder.hidden": [64, 64], "encoder.latent": 64})
    trainer = ma.Trainer(make_objective(objective, settings), recording, steps=steps, seeds=(seed,))
    trainer.advance(steps)
    model = trainer.models()[0]
    found = model.pairwise(seen(truth.sources), seen(truth.targets))
    counted = np.isfinite(truth.distances) & (truth.distances > 0)
    true, learned = truth.distances[counted], found[counted].astype(np.float64) / unit
    return {"pearson": float(np.corrcoef(true, learned)[0, 1]), "ratio": float((learned / true).mean())}


def main() -> None:
    """Measure, and write what was found after every objective."""
    rows = []
    for task in TASKS:
        for objective in OBJECTIVES:
            plain = measure(task, objective, {})
            for name, change in CHANGES.items():
                found = measure(task, objective, change)
                pearson = abs(found["pearson"] - plain["pearson"])
                ratio = abs(found["ratio"] / plain["ratio"] - 1.0)
                holds = pearson <= 0.002 and ratio <= 0.01
                rows.append({"task": task, "objective": objective, "change": name, "plain": plain, "found": found})
                rows[-1] |= {"pearson_difference": pearson, "ratio_difference": ratio, "holds": holds}
                print(f"{task:<14}{objective:<11}{name:<22}{pearson:.6f} {ratio:.6f} {holds}", flush=True)
            report = {"command": "python reproductions/equivariance.py", "steps": STEPS, "rows": rows}
            OUT.write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(0 if all(row["holds"] for row in rows) else 1)


def last_bits() -> None:
    """TautDist on the ring: other last bits of the states, other seeds, longer training, another epsilon of Adam."""
    found: dict[str, dict[str, list[float]]] = {}
    usual = ma.TautDist.adam_epsilon
    for epsilon, steps in ((usual, STEPS), (usual, 3000), (1e-5, STEPS)):
        ma.TautDist.adam_epsilon = epsilon
        alike = {"steps": steps}
        found[f"epsilon {epsilon:g}, {steps} steps"] = {
            "plain": [measure(TASKS[1], "tautdist", {}, **alike)["pearson"]],
            "changed": [measure(TASKS[1], "tautdist", CHANGES[name], **alike)["pearson"] for name in _OF_STATES],
            "other last bits": [measure(TASKS[1], "tautdist", {}, bits=k, **alike)["pearson"] for k in (1, 2)],
            "other seeds": [measure(TASKS[1], "tautdist", {}, seed=k, **alike)["pearson"] for k in (1,)],
        }
        print(epsilon, steps, found[f"epsilon {epsilon:g}, {steps} steps"], flush=True)
        jax.clear_caches()  # the program of an objective is kept by what describes it, and this does not
    report = json.loads(OUT.read_text())
    OUT.write_text(json.dumps({**report, "last_bits": found}, indent=1) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:  # the changed trainings are the same programs
        jax.config.update("jax_compilation_cache_dir", cache)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        parser = argparse.ArgumentParser()
        parser.add_argument("--last-bits", action="store_true")
        last_bits() if parser.parse_args().last_bits else main()
