"""Continuous worlds in which the ground decides how fast a robot is, with exact truth.

    python reproductions/slow_ground.py mud --out slow/mud.json     # one world; --list names all
    python reproductions/slow_ground.py --table slow/*.json > reproductions/results/slow_ground.json

A robot in a box of 20 x 20 moves by up to half a unit in x and in y, times the pace of the ground it stands on, and by
the current there. It is recorded under actions that persist. The graph of the recording, PathDist (by default) and
MadDist (10,000 steps) are compared with shortest paths over a lattice, of which each step costs what it takes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import minaction as ma

SIDE, FASTEST = 20.0, 0.5
GRAIN = 0.1  # of the lattice
ASKED = 300  # states, whose pairs are compared
Ground = Callable[[np.ndarray], np.ndarray]


class World(NamedTuple):
    """At places (n, 2): how much of the full pace there is (n,), what the current adds (n, 2), what nobody enters."""

    pace: Ground = lambda at: np.ones(len(at))
    current: Ground = np.zeros_like
    blocked: Ground = lambda at: np.zeros(len(at), bool)


def _within(at: np.ndarray, x: float, y: float, radius: float) -> np.ndarray:
    return np.hypot(at[:, 0] - x, at[:, 1] - y) < radius


def _patches(at: np.ndarray) -> np.ndarray:
    """Nine discs of different paces; where they overlap, the slowest."""
    random, pace = np.random.default_rng(3), np.ones(len(at))
    discs = random.uniform((2, 2, 1, 0.15), (18, 18, 4, 0.9), (9, 4))
    for x, y, radius, slow in discs:
        pace = np.where(_within(at, x, y, radius), np.minimum(pace, slow), pace)
    return pace


def _road(at: np.ndarray) -> np.ndarray:
    """A ring of good road through slow country."""
    away = np.hypot(at[:, 0] - 10, at[:, 1] - 10)
    return np.where(np.abs(away - 6) < 1, 1.0, 0.25)


def _river(at: np.ndarray, strength: float) -> np.ndarray:
    flow = np.where(np.abs(at[:, 0] - 10) < 3, strength, 0.0)
    return np.stack([np.zeros(len(at)), flow], axis=1)


WORLDS = {
    "plain": World(),
    "mud": World(lambda at: np.where(at[:, 0] > 10, 0.3, 1.0)),
    "mud-patch": World(lambda at: np.where(np.abs(at - 10).max(axis=1) < 4, 0.2, 1.0)),
    "slope": World(lambda at: 1 - 0.75 * at[:, 0] / SIDE),
    "patches": World(_patches),
    "road": World(_road),
    "mud-and-wall": World(
        lambda at: np.where(at[:, 1] > 12, 0.3, 1.0),
        blocked=lambda at: (np.abs(at[:, 0] - 10) < 0.5) & (at[:, 1] < 16),
    ),
    "wind": World(current=lambda at: np.stack([np.zeros(len(at)), np.full(len(at), 0.2)], axis=1)),
    "river": World(current=lambda at: _river(at, 0.2)),
    "strong-river": World(current=lambda at: _river(at, 0.4)),
}


def record(world: World, episodes: int, length: int, seed: int) -> ma.Trajectories:
    """Walks from anywhere; an action changes one time in five, and a step that is blocked does not happen."""
    random = np.random.default_rng(seed)
    at = random.uniform(0, SIDE, (episodes, 2))
    while (inside := world.blocked(at)).any():
        at[inside] = random.uniform(0, SIDE, (int(inside.sum()), 2))
    action, seen = random.uniform(-1, 1, (episodes, 2)), [at]
    for _ in range(length):
        action = np.where(random.random((episodes, 1)) < 0.2, random.uniform(-1, 1, (episodes, 2)), action)
        step = FASTEST * action * world.pace(at)[:, None] + world.current(at)
        after = np.clip(at + step, 0, SIDE)
        at = np.where(world.blocked(after)[:, None], at, after)
        seen.append(at)
    return ma.Trajectories.from_episodes(list(np.stack(seen, axis=1).astype(np.float32)))


def truth(world: World) -> tuple[np.ndarray, csr_array]:
    """Lattice places (n, 2) and the graph of the time that steps between them take."""
    axis = np.arange(0, SIDE + GRAIN / 2, GRAIN)
    places = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    number, open_place = np.arange(len(places)).reshape(len(axis), -1), ~world.blocked(places)
    starts, ends, costs = [], [], []
    steps = [(dx, dy) for dx, dy in itertools.product(range(-3, 4), repeat=2) if math.gcd(dx, dy) == 1]
    for dx, dy in steps:
        xs, ys = (slice(max(0, -d), len(axis) - max(0, d)) for d in (dx, dy))
        start = number[xs, ys].ravel()
        end = start + dx * len(axis) + dy
        middle, way = (places[start] + places[end]) / 2, places[end] - places[start]
        most, current = FASTEST * world.pace(middle)[:, None], world.current(middle)
        pace = most + np.sign(way) * current  # of each coordinate by itself
        cost = np.max(np.where(way == 0, 0.0, np.abs(way) / np.maximum(pace, 1e-9)), axis=1)
        kept = open_place[start] & open_place[end] & ~world.blocked(middle) & (cost < 1e6)
        starts, ends, costs = [*starts, start[kept]], [*ends, end[kept]], [*costs, cost[kept]]
    graph = csr_array(
        (np.concatenate(costs), (np.concatenate(starts), np.concatenate(ends))), shape=(len(places), len(places))
    )
    return places, graph


def judge(name: str, out: Path | None, seed: int, episodes: int, steps: int | None, graph_alone: bool) -> None:
    """Record the world, learn it unless the graph is to be compared alone, compare."""
    world = WORLDS[name]
    data = record(world, episodes, 100, seed)
    places, graph = truth(world)
    asked = np.random.default_rng(100 + seed).choice(np.flatnonzero(~world.blocked(places)), ASKED, replace=False)
    true = dijkstra(graph, indices=asked)[:, asked]
    states = places[asked].astype(np.float32)
    began = time.monotonic()
    recorded = ma.recorded_distance(data)
    found: dict[str, Any] = {"world": name, "seed": seed, "states": data.num_states, "longest": round(true.max(), 1)}
    found["graph"] = _compared(recorded.pairwise(states), true) | {"seconds": round(time.monotonic() - began, 1)}
    _write(found, out)
    for method, many in () if graph_alone else (("pathdist", steps), ("maddist", 10_000)):
        began = time.monotonic()
        model = ma.fit(data, method, steps=many, seed=seed, progress=False)
        found[method] = _compared(np.asarray(model.pairwise(states, states)), true)
        found[method]["seconds"] = round(time.monotonic() - began, 1)
        _write(found, out)
    print(json.dumps(found), flush=True)


def _write(found: dict[str, Any], out: Path | None) -> None:
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found, indent=1) + "\n")


def _compared(found: np.ndarray, true: np.ndarray) -> dict[str, float]:
    told = np.isfinite(found) & np.isfinite(true)
    agreed = ma.agreement(found[told][None], true[told][None])
    return {
        "pearson": round(agreed.pearson, 4),
        "ratio_cv": round(agreed.ratio_cv, 4),
        "mean_ratio": round(agreed.mean_ratio, 4),
        "mean_absolute_error": round(agreed.mean_absolute_error, 3),
        "no path": round(float((np.isfinite(true) & ~np.isfinite(found)).mean()), 4),
    }


def table(paths: list[Path]) -> None:
    """A line for each world on standard error; all raw results as one JSON on standard output."""
    results = [json.loads(path.read_text()) for path in paths]
    for result in sorted(results, key=lambda one: [*WORLDS].index(one["world"])):
        cells = [result["world"]]
        for method in ("graph", "pathdist", "maddist"):
            one = result.get(method)
            cells.append(f"{one['pearson']:.4f} / {one['ratio_cv']:.3f} / {one['mean_ratio']:.2f}" if one else "–")
        print("| " + " | ".join(cells) + " |", file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", nargs="?", choices=[*WORLDS])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--steps", type=int, help="of PathDist; its default otherwise")
    parser.add_argument("--graph-alone", action="store_true", help="learn nothing")
    parser.add_argument("--table", type=Path, nargs="+")
    given = parser.parse_args()
    if given.list:
        print(*WORLDS, sep="\n")
    elif given.table:
        table(given.table)
    else:
        judge(given.world, given.out, given.seed, given.episodes, given.steps, given.graph_alone)
