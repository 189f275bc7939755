"""The same recordings as a robot would write them: with pauses, noise, spikes, lost rows, and more than a place.

    python reproductions/disturbed.py TASK --out disturbed/TASK.json --steps 2000    # --graph-alone learns nothing
    python reproductions/disturbed.py --table disturbed/*.json > reproductions/results/disturbed.json

The distances do not change, so that graph and model are compared with the task's own truth. Noise, jitter and spikes
are measured in typical steps. What is recorded beside a place is, for the states that are judged, that of the nearest
recorded one.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import KDTree

import minaction as ma
from minaction.tasks import Source, Truth

Change = Callable[[ma.Trajectories, np.random.Generator], ma.Trajectories]


def typical_step(data: ma.Trajectories) -> np.ndarray:
    """Of every number the median of its changes."""
    change = np.abs(np.diff(data.states.astype(np.float64), axis=0))
    return np.array([np.median(column[column > 0]) for column in change.T])


def noise(size: float) -> Change:
    """Noise of measurement in every row."""

    def change(data: ma.Trajectories, random: np.random.Generator) -> ma.Trajectories:
        states = data.states + size * typical_step(data) * random.normal(size=data.states.shape)
        return replace(data, states=states.astype(np.float32))

    return change


def pauses(share: float, rows: int, jitter: float = 0.0, everywhere: bool = False) -> Change:
    """A `share` of the states lasts for so many `rows`; noise of size `jitter` in these, or `everywhere`."""

    def change(data: ma.Trajectories, random: np.random.Generator) -> ma.Trajectories:
        times = np.where(random.random(data.num_states) < share, rows, 1)
        index = np.repeat(np.arange(data.num_states), times)
        shaken = jitter * typical_step(data) * random.normal(size=(len(index), data.state_shape[0]))
        shaken[(times[index] == 1) & (not everywhere)] = 0.0
        offsets = np.concatenate([[0], np.cumsum(times)])[data.offsets]
        return ma.Trajectories.from_flat((data.states[index] + shaken).astype(np.float32), offsets)

    return change


def spikes(share: float) -> Change:
    """Readings of anywhere within some hundred steps, in a `share` of the rows."""

    def change(data: ma.Trajectories, random: np.random.Generator) -> ma.Trajectories:
        wrong = random.random(data.num_states) < share
        states = np.array(data.states, np.float64)
        states[wrong] += 100 * typical_step(data) * random.normal(size=(int(wrong.sum()), data.state_shape[0]))
        return replace(data, states=states.astype(np.float32))

    return change


def lost(share: float) -> Change:
    """A `share` of the rows is missing; a clock tells when the others were recorded."""

    def change(data: ma.Trajectories, random: np.random.Generator) -> ma.Trajectories:
        kept = random.random(data.num_states) >= share
        kept[data.offsets[:-1]] = kept[data.offsets[1:] - 1] = True
        offsets = np.concatenate([[0], np.cumsum(kept)])[data.offsets]
        return ma.Trajectories.from_flat(
            data.states[kept], offsets, times=np.flatnonzero(kept).astype(np.float64), time_unit="steps"
        )

    return change


DISTURBANCES: dict[str, Change] = {
    "as it is": lambda data, random: data,
    "a tenth of the states last 10 rows": pauses(0.1, 10),
    "half of the states last 50 rows": pauses(0.5, 50),
    "a tenth last 30 rows, jitter .05": pauses(0.1, 30, 0.05),
    "half last 50 rows, jitter .02": pauses(0.5, 50, 0.02),
    "a tenth last 30 rows, noise .05 everywhere": pauses(0.1, 30, 0.05, everywhere=True),
    "noise .05": noise(0.05),
    "spikes in .001 of the rows": spikes(0.001),
    "spikes in .01 of the rows": spikes(0.01),
    "half of the rows lost": lost(0.5),
    "two thirds of the rows lost": lost(0.67),
}


def before(data: ma.Trajectories) -> np.ndarray:
    """The state before each, at the beginning of an episode the same."""
    found = np.roll(data.states, 1, axis=0)
    found[data.offsets[:-1]] = data.states[data.offsets[:-1]]
    return found


def velocity(data: ma.Trajectories) -> np.ndarray:
    """The step to each state, in typical ones."""
    return (data.states - before(data)) / typical_step(data)


def temperature(data: ma.Trajectories) -> np.ndarray:
    """What changes slowly and has nothing to do with anything: white noise over 50 rows."""
    white = np.random.default_rng(0).normal(size=data.num_states + 49)
    return np.convolve(white, np.ones(50) / 50, "valid")[:, None]


BESIDE: dict[str, Callable[[ma.Trajectories], np.ndarray]] = {
    "with its velocity": velocity,
    "with its heading": lambda data: np.arctan2(velocity(data)[:, 1:], velocity(data)[:, :1]),
    "with its speed": lambda data: np.linalg.norm(velocity(data), axis=1, keepdims=True),
    "with the frame before": before,
    "with a sensor off by half a step": lambda data: noise(0.5)(data, np.random.default_rng(0)).states,
    "with a temperature": temperature,
}


def judge(
    task: str, out: Path, only: list[str], seed: int, episodes: int | None, steps: int, graph_alone: bool
) -> None:
    """Compare the graph of every disturbed recording, and what is learned from it, with the truth."""
    source = Source(task, (seed,), episodes)
    truth, data = source.truths(seed)[0], source.data(seed)
    result: dict[str, Any] = {"task": task, "seed": seed, "states": data.num_states, "steps": steps}
    result |= json.loads(out.read_text()) if out.exists() else {}
    for name in only or (*DISTURBANCES, *BESIDE):
        disturbed, sources, targets = _disturbed(name, data, truth, np.random.default_rng(seed))
        found = {"graph": ma.recorded_distance(disturbed).pairwise(sources, targets)}
        if not graph_alone:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # which tell of the spikes
                model = ma.fit(disturbed, steps=steps, held_out=0, progress=False)
            found["pathdist"] = model.pairwise(sources, targets)
        result[name] = {method: _compared(np.asarray(own), truth.distances) for method, own in found.items()}
        print(task, name, result[name], flush=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(result, indent=1))


def _disturbed(
    name: str, data: ma.Trajectories, truth: Truth, random: np.random.Generator
) -> tuple[ma.Trajectories, np.ndarray, np.ndarray]:
    """The disturbed recording, and the states that the truth is about as they would be recorded."""
    if name in DISTURBANCES:
        return DISTURBANCES[name](data, random), truth.sources, truth.targets
    wide = np.concatenate([data.states, BESIDE[name](data)], axis=1).astype(np.float32)
    unit = typical_step(data)
    nearest = KDTree(data.states / unit)
    judged = (wide[nearest.query(states / unit)[1]] for states in (truth.sources, truth.targets))
    return ma.Trajectories.from_flat(wide, data.offsets), *judged


def _compared(found: np.ndarray, true: np.ndarray) -> dict[str, float]:
    told = np.isfinite(found) & np.isfinite(true) & (true > 0)
    agreed = ma.agreement(found[told][None], true[told][None])
    return {
        "pearson": round(agreed.pearson, 4),
        "ratio_cv": round(agreed.ratio_cv, 4),
        "mean_ratio": round(agreed.mean_ratio, 4),
        "no path": round(float((np.isfinite(true) & ~np.isfinite(found)).mean()), 4),
        "path where none is": round(float((np.isinf(true) & np.isfinite(found)).mean()), 4),
    }


def table(paths: list[Path]) -> None:
    """A line for each disturbance on standard error; all raw results as one JSON on standard output."""
    results = [json.loads(path.read_text()) for path in paths]
    for name in (*DISTURBANCES, *BESIDE):
        cells = [name]
        for result in results:
            for method in ("graph", "pathdist"):
                one = result.get(name, {}).get(method)
                cells.append(f"{one['pearson']:.4f} / {one['mean_ratio']:.2f}" if one else "–")
        print("| " + " | ".join(cells) + " |", file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?")
    parser.add_argument("--out", type=Path, help="what it holds of other disturbances is kept")
    parser.add_argument("--only", nargs="+", choices=[*DISTURBANCES, *BESIDE], default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--graph-alone", action="store_true", help="learn nothing")
    parser.add_argument("--table", type=Path, nargs="+")
    given = parser.parse_args()
    if given.table:
        table(given.table)
    else:
        judge(given.task, given.out, given.only, given.seed, given.episodes, given.steps, given.graph_alone)
