"""Whether models can be judged without the truth: the score, coverage and spread, each held against the truth.

    python reproductions/judgement.py cliffwalking --out judged/cliffwalking.json   # one task after the other
    python reproductions/judgement.py --table judged/*.json > reproductions/results/judgement.json

Of every recording a tenth of the episodes is held out. Six models learn from the rest: three methods, two lengths each.
`score` is what `ma.validate` says of them, `pearson` the truth. Five seeds of the default are the ensemble whose spread
is compared with its errors. Coverage has to tell states that nobody could be in from the held-out ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

import minaction as ma
from minaction.mazes._layouts import MazeLayout
from minaction.tasks import Source
from minaction.validation import split, validate_seeds

MODELS: dict[str, tuple[str, int]] = {
    "pathdist, 30 steps": ("pathdist", 30),
    "pathdist, 4,000 steps": ("pathdist", 4000),
    "maddist, 300 steps": ("maddist", 300),
    "maddist, 10,000 steps": ("maddist", 10_000),
    "tautdist, 300 steps": ("tautdist", 300),
    "tautdist, 10,000 steps": ("tautdist", 10_000),
}
ENSEMBLE = ("pathdist", 4000)
SEEDS = range(5)
ASKED = 1_000


def judge(name: str, out: Path, share_of_steps: float, seed: int, episodes: int | None) -> None:
    """All of a task, written as it comes."""
    source = Source(name, (seed,), episodes)
    training, held_out = split(source.data(seed), 0.1)
    assert held_out is not None
    truth = next(one for one in source.truths(seed) if one.name in ("true", "steps"))
    found: dict[str, Any] = {"task": name, "seed": seed, "episodes": episodes, "truth": truth.name, "models": {}}
    if out.exists():  # an earlier run was interrupted
        found = json.loads(out.read_text())
    for label, (method, steps) in MODELS.items():
        if label in found["models"]:
            continue
        began = time.monotonic()
        seeds = SEEDS if (method, steps) == ENSEMBLE else (seed,)
        steps = max(1, round(share_of_steps * steps))
        models = ma.fit(training, method, steps=steps, seeds=seeds, held_out=0, progress=False)
        for model, judged in zip(models, validate_seeds(models, held_out, training), strict=True):
            model.health = judged
        health = models[0].health
        assert health is not None
        agreed = ma.evaluate(models[0], [truth])[truth.name]
        found["models"][label] = {
            "score": health.agreement,
            "pearson": agreed.pearson,
            "ratio_cv": agreed.ratio_cv,
            "novel_excess": health.novel_excess,
            "excess": health.excess,
            "single_step": health.single_step,
            "random_pairs": health.random_pairs,
            "path_ratio": health.path_ratio,
            "verdict": list(health.verdict),
            "seconds": round(time.monotonic() - began, 1),
        }
        print(name, label, found["models"][label], flush=True)
        if len(models) > 1:
            found["spread"] = within_spread(models, truth)
            found["coverage"] = coverage(source, models[0], training, held_out)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found, indent=1) + "\n")


def within_spread(models: list[ma.DistanceModel], truth: ma.Truth) -> dict[str, float]:
    """How many true distances lie within two spreads of the mean, and how many within two standard deviations."""
    mean, spread = ma.DistanceEnsemble(models).pairwise(truth.sources, truth.targets, spread=True)
    real = np.isfinite(truth.distances) & (truth.distances > 0)
    off = np.abs(mean - truth.distances)[real] / spread[real]
    assert models[0].health is not None
    factor = models[0].health.spread_factor or 1.0
    return {
        "factor": factor,
        "within two spreads": float((off <= 2).mean()),
        "within two standard deviations": float((off <= 2 / factor).mean()),
        "mean spread over mean distance": float(spread[real].mean() / mean[real].mean()),
    }


def coverage(
    source: Source, model: ma.DistanceModel, training: ma.Trajectories, held_out: ma.Trajectories
) -> dict[str, float]:
    """AUROC of coverage, of states that nobody could be in against held-out ones."""
    random = np.random.default_rng(0)
    recorded = held_out.states[random.permutation(held_out.num_states)[:ASKED]]
    inside = model.coverage(recorded)
    return {
        what: auroc(inside, model.coverage(states))
        for what, states in impossible(source, training, recorded, random).items()
    }


def impossible(
    source: Source, training: ma.Trajectories, recorded: np.ndarray, random: np.random.Generator
) -> dict[str, np.ndarray]:
    """States that nobody could be in, by what is wrong with them."""
    task = source.task
    low, high = training.states[:, :2].min(0), training.states[:, :2].max(0)

    def outside(possible: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        states = recorded.copy()
        places = random.uniform(low, high, (200 * len(states), 2))
        states[:, :2] = places[~possible(places)][: len(states)]
        return states

    found = {}
    maze = getattr(task, "maze", None)
    if isinstance(maze, MazeLayout):
        found["inside walls"] = outside(lambda places: maze.clearance(places) > 0)
    if training.state_shape[0] >= 10:  # of fewer numbers, others may go together as well
        pool = training.states[random.permutation(training.num_states)[: len(recorded)]]
        found["shuffled"] = np.stack([random.permutation(column) for column in pool.T], axis=1)
    if source.name.startswith("one-way"):
        track = task.view.places(task._states())  # type: ignore[union-attr]
        reach = np.linalg.norm(np.diff(track, axis=0), axis=1).max()

        def on_track(states: np.ndarray) -> np.ndarray:
            places = task.view.places(states)  # type: ignore[union-attr]
            return np.linalg.norm(places[:, None] - track, axis=2).min(1) < reach

        found["off the track"] = outside(on_track)
    if source.name.startswith("parts"):
        drawn = task.layout().states  # type: ignore[union-attr]
        half = 0.5 * np.asarray(task.view.scale)  # type: ignore[union-attr]
        found["outside the rooms"] = outside(
            lambda places: np.array([(np.abs(place - drawn) <= half).all(1).any() for place in places])
        )
    return found


def auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    """How often a state from outside has the higher value; ties count half."""
    ranks = rankdata(np.concatenate([inside, outside]))[len(inside) :]
    return float((ranks.sum() - len(outside) * (len(outside) + 1) / 2) / (len(inside) * len(outside)))


def table(paths: list[Path]) -> None:
    """What the score picks on every task, on standard error; all raw results as one JSON on standard output."""
    results = [json.loads(path.read_text()) for path in paths]
    for result in results:
        models = result["models"]
        scored = {name: one["score"] for name, one in models.items() if one["score"] is not None}
        best, picked = max(models, key=lambda name: models[name]["pearson"]), max(scored, key=scored.__getitem__)
        behind = models[best]["pearson"] - models[picked]["pearson"]
        row = [result["task"], picked, f"{models[picked]['pearson']:.4f}", best, f"{models[best]['pearson']:.4f}"]
        print(" | ".join(["", *row, f"{behind:.4f}", ""]).strip(), file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--share-of-steps", type=float, default=1.0, help="for a quick look")
    parser.add_argument("--table", type=Path, nargs="+")
    given = parser.parse_args()
    if given.table:
        table(given.table)
    else:
        judge(given.task, given.out, given.share_of_steps, given.seed, given.episodes)
