"""Continuous worlds with slow ground, currents, walls without thickness or without ends, with exact truth.

    python reproductions/boxes.py mud --out boxes/mud.json     # one world; --list names all
    python reproductions/boxes.py --table boxes/*.json > reproductions/results/boxes.json

A robot in a box of 20 x 20 moves by up to half a unit in x and in y, times the pace of the ground it stands on, and by
the current there; a move that would cross a wall does not happen. It is recorded under actions that persist. The graph
of the recording, PathDist (by default) and MadDist (10,000 steps) are compared with shortest paths over a lattice, of
which each step costs what it takes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
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
Segment = tuple[float, float, float, float]


class World(NamedTuple):
    """At places (n, 2): how much of the full pace there is (n,), what the current adds (n, 2), what nobody enters.

    Nobody crosses a `wall`, from (x, y) to (x, y) in rows of four numbers; a `ledge` can be crossed to its left alone.
    In a world that is `round`, who leaves it comes in again on the other side.
    """

    pace: Ground = lambda at: np.ones(len(at))
    current: Ground = np.zeros_like
    blocked: Ground = lambda at: np.zeros(len(at), bool)
    walls: Sequence[Segment] = ()
    ledges: Sequence[Segment] = ()
    round: bool = False

    def passes(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Which straight ways from `start` (n, 2) to `end` (n, 2) cross no wall, (n,) bool."""
        free = np.ones(len(start), bool)
        for wall in self.walls:
            free &= _crossing(wall, start, end) == 0
        for ledge in self.ledges:
            free &= _crossing(ledge, start, end) >= 0
        return free


def _crossing(wall: Segment, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Of each way 1 if it crosses the wall from right to left, -1 if the other way round, else 0."""
    first, last = np.array(wall[:2]), np.array(wall[2:])
    before, after = (_side(last - first, place - first) for place in (start, end))
    beyond, short = (_side(end - start, corner - start) for corner in (first, last))
    crosses = ((before > 0) != (after > 0)) & ((beyond > 0) != (short > 0))
    return np.where(crosses, np.where(after > 0, 1, -1), 0)


def _side(way: np.ndarray, other: np.ndarray) -> np.ndarray:
    return way[..., 0] * other[..., 1] - way[..., 1] * other[..., 0]


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


def _maze(cells: int, seed: int) -> list[Segment]:
    """The walls of a maze without loops, but for one more door in eight; a little too long, so that no corner leaks."""
    random, side = np.random.default_rng(seed), SIDE / cells
    doors = [((x, y), (x + dx, y + dy)) for x in range(cells) for y in range(cells) for dx, dy in ((1, 0), (0, 1))]
    doors = [door for door in doors if max(door[1]) < cells]
    part, walls = {(x, y): (x, y) for x in range(cells) for y in range(cells)}, list[Segment]()
    for number in random.permutation(len(doors)):
        (x, y), (u, v) = here, there = doors[number]
        if part[here] != part[there]:
            part = {cell: part[here] if other == part[there] else other for cell, other in part.items()}
        elif random.random() > 1 / 8:
            middle = ((u + x + 1) / 2 * side + 0.03, (v + y + 1) / 2 * side + 0.03)
            along = (0.0, side / 2 + 0.05) if u > x else (side / 2 + 0.05, 0.0)
            walls.append((middle[0] - along[0], middle[1] - along[1], middle[0] + along[0], middle[1] + along[1]))
    return walls


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
    "thin-wall": World(walls=[(10.03, -1, 10.03, 16)]),
    "thin-rooms": World(
        walls=[
            *((10.03, -1, 10.03, 4), (10.03, 6, 10.03, 13), (10.03, 15, 10.03, 21)),
            *((-1, 10.03, 3, 10.03), (5, 10.03, 16, 10.03), (18, 10.03, 21, 10.03)),
        ]
    ),
    "slanted-wall": World(walls=[(3, 2.03, 15, 14.03)]),
    "ledge": World(ledges=[(10.03, -1, 10.03, 16)]),
    "slanted-ledge": World(ledges=[(3, 2.03, 15, 14.03)]),
    "terrace": World(
        ledges=[
            *((4.9, 5.03, 15.1, 5.03), (15.03, 4.9, 15.03, 15.1)),
            *((15.1, 15.03, 4.9, 15.03), (5.03, 15.1, 5.03, 4.9)),
        ]
    ),
    "one-way-doors": World(
        walls=[(10.03, -1, 10.03, 3), (10.03, 6, 10.03, 14), (10.03, 17, 10.03, 21)],
        ledges=[(10.03, 2.95, 10.03, 6.05), (10.03, 17.05, 10.03, 13.95)],
    ),
    "one-way-passages": World(
        blocked=lambda at: (
            (np.abs(at[:, 0] - 10) < 1) & (np.abs(at[:, 1] - 4.5) > 1.5) & (np.abs(at[:, 1] - 15.5) > 1.5)
        ),
        ledges=[(10.03, 2.95, 10.03, 6.05), (10.03, 17.05, 10.03, 13.95)],
    ),
    "comb": World(walls=[(4 * k + 0.03, -1 if k % 2 else 4, 4 * k + 0.03, 16 if k % 2 else 21) for k in range(1, 5)]),
    "thin-maze": World(walls=_maze(5, 1)),
    "fine-maze": World(walls=_maze(8, 2)),
    "narrow-doors": World(
        walls=[(10.03, -1, 10.03, 7.4), (10.03, 8.2, 10.03, 21), (-1, 12.03, 2.1, 12.03), (3.1, 12.03, 10.03, 12.03)]
    ),
    "torus": World(round=True),
    "mud-and-thin-wall": World(
        lambda at: np.where(at[:, 1] > 12, 0.3, 1.0), walls=[(10.03, -1, 10.03, 15), (3, 6.03, 8, 6.03)]
    ),
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
        after = np.mod(at + step, SIDE) if world.round else np.clip(at + step, 0, SIDE)
        at = np.where((world.blocked(after) | ~world.passes(at, after))[:, None], at, after)
        seen.append(at)
    return ma.Trajectories.from_episodes(list(np.stack(seen, axis=1).astype(np.float32)))


def truth(world: World) -> tuple[np.ndarray, csr_array]:
    """Lattice places (n, 2) and the graph of the time that steps between them take."""
    axis = np.arange(0, SIDE - GRAIN / 2 if world.round else SIDE + GRAIN / 2, GRAIN)
    places = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    number, open_place = np.arange(len(places)).reshape(len(axis), -1), ~world.blocked(places)
    starts, ends, costs = [], [], []
    steps = [(dx, dy) for dx, dy in itertools.product(range(-3, 4), repeat=2) if math.gcd(dx, dy) == 1]
    for dx, dy in steps:
        xs, ys = (slice(max(0, -d), len(axis) - max(0, d)) for d in (dx, dy))
        inside = (slice(None), slice(None)) if world.round else (xs, ys)
        start, end = number[inside].ravel(), np.roll(number, (-dx, -dy), axis=(0, 1))[inside].ravel()
        way = np.broadcast_to(GRAIN * np.array([dx, dy]), (len(start), 2))
        middle = places[start] + way / 2
        most, current = FASTEST * world.pace(middle)[:, None], world.current(middle)
        pace = most + np.sign(way) * current  # of each coordinate by itself
        cost = np.max(np.where(way == 0, 0.0, np.abs(way) / np.maximum(pace, 1e-9)), axis=1)
        kept = open_place[start] & open_place[end] & ~world.blocked(middle) & (cost < 1e6)
        kept &= world.passes(places[start], places[start] + way)
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
    longest = round(true[np.isfinite(true)].max(), 1)
    found: dict[str, Any] = {"world": name, "seed": seed, "states": data.num_states, "longest": longest}
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
        "auroc": _unreachable_told(found, true),
    }


def _unreachable_told(found: np.ndarray, true: np.ndarray) -> float | None:
    """How well pairs that cannot be reached are told from those that can; None where all can."""
    told = np.isfinite(found)
    auroc = ma.agreement(np.where(told, found, 2 * found[told].max()), true).auroc
    return None if np.isnan(auroc) else round(float(auroc), 4)


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
