"""Worlds that are no tasks of the package, with exact truth: what a stranger might bring.

    python reproductions/other_worlds.py puzzle --out others/puzzle.json     # one world; --list names all
    python reproductions/other_worlds.py --table others/*.json > reproductions/results/other_worlds.json

Each is a directed graph of some hundred states that look like something (numbers, one-hot vectors, angles), recorded as
random walks. The graph of the recording, PathDist and MadDist are compared with breadth-first search over the states
that were recorded, and beside them the recorded steps alone. MadDist is trained for 10,000 steps, PathDist by default.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

import minaction as ma

FOUR = ((0, 1), (0, -1), (1, 0), (-1, 0))


class World(NamedTuple):
    """The states that each state can be followed by, what states look like, and how it is recorded."""

    following: list[list[int]]
    looks: np.ndarray
    episodes: int = 100
    length: int = 100
    starts: Sequence[int] | None = None  # anywhere


def graph_of(states: list[Any], follow: Callable[[Any], list[Hashable]]) -> list[list[int]]:
    """The numbers of the states that `follow` names."""
    number = {state: k for k, state in enumerate(states)}
    return [[number[after] for after in follow(state)] for state in states]


def grid(rows: int, columns: int, walls: set[tuple[int, int]], passes: Callable[[Any, Any], bool]) -> World:
    """Four moves between cells; a wall is a cell, or lies between two that nobody `passes`."""
    cells = [cell for cell in itertools.product(range(rows), range(columns)) if cell not in walls]
    free = set(cells)

    def follow(cell: tuple[int, int]) -> list[Hashable]:
        found = [(cell[0] + dx, cell[1] + dy) for dx, dy in FOUR]
        return [after if after in free and passes(cell, after) else cell for after in found]

    return World(graph_of(cells, follow), np.array(cells, np.float32), length=200)


def four_rooms() -> World:
    """31 x 31 cells, two doors in either wall."""
    walls = {(15, c) for c in range(31) if c not in (7, 23)} | {(r, 15) for r in range(31) if r not in (7, 23)}
    return grid(31, 31, walls, lambda a, b: True)


def thin_wall() -> World:
    """A wall without thickness, open in one row."""
    return grid(20, 20, set(), lambda a, b: {a[1], b[1]} != {9, 10} or a[0] == 2)


def one_way_door() -> World:
    """Two rooms; the door opens one way."""
    walls = {(r, 10) for r in range(12)} - {(6, 10)}
    return grid(12, 21, walls, lambda a, b: (a, b) != ((6, 10), (6, 9)))


def wind() -> World:
    """In a third of the columns every move ends one row further up."""
    cells = list(itertools.product(range(10), range(20)))

    def follow(cell: tuple[int, int]) -> list[Hashable]:
        blown = int(8 <= cell[1] < 14)
        return [(min(9, max(0, cell[0] + dx - blown)), min(19, max(0, cell[1] + dy))) for dx, dy in FOUR]

    return World(graph_of(cells, follow), np.array(cells, np.float32))


def torus() -> World:
    """16 x 16 cells without a border, seen as the sines and cosines of two angles."""
    cells = list(itertools.product(range(16), range(16)))
    angle = 2 * np.pi / 16 * np.array(cells)
    looks = np.concatenate([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    return World(graph_of(cells, lambda cell: [((cell[0] + a) % 16, (cell[1] + b) % 16) for a, b in FOUR]), looks)


def inertia() -> World:
    """A cart on 41 places at up to three places a step, stopped by the ends."""
    states = list(itertools.product(range(41), range(-3, 4)))

    def follow(state: tuple[int, int]) -> list[Hashable]:
        found: list[Hashable] = []
        for push in (-1, 0, 1):
            speed = min(3, max(-3, state[1] + push))
            place = state[0] + speed
            found.append((place, speed) if 0 <= place <= 40 else (min(40, max(0, place)), 0))
        return found

    return World(graph_of(states, follow), np.array(states, np.float32))


def car() -> World:
    """Forward only, turning by up to an eighth, on 15 x 15 places; the heading as sine and cosine."""
    ways = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)]
    states = list(itertools.product(range(15), range(15), range(8)))

    def follow(state: tuple[int, int, int]) -> list[Hashable]:
        found: list[Hashable] = []
        for turn in (-1, 0, 1):
            heading = (state[2] + turn) % 8
            x, y = state[0] + ways[heading][0], state[1] + ways[heading][1]
            found.append((x, y, heading) if 0 <= x < 15 and 0 <= y < 15 else (*state[:2], heading))
        return found

    seen = [[x, y, np.cos(k * np.pi / 4), np.sin(k * np.pi / 4)] for x, y, k in states]
    return World(graph_of(states, follow), np.array(seen, np.float32), episodes=200, length=200)


def puzzle() -> World:
    """Sliding tiles, 2 x 3: two halves that do not connect."""
    boards = list(itertools.permutations(range(6)))

    def follow(board: tuple[int, ...]) -> list[Hashable]:
        blank = board.index(0)
        row, column = divmod(blank, 3)
        found: list[Hashable] = []
        for down, right in FOUR:
            if 0 <= row + down < 2 and 0 <= column + right < 3:
                other, swapped = 3 * (row + down) + column + right, list(board)
                swapped[blank], swapped[other] = swapped[other], swapped[blank]
                found.append(tuple(swapped))
        return found

    return World(graph_of(boards, follow), np.array(boards, np.float32), episodes=150, length=200)


def hanoi() -> World:
    """Five discs on three pegs."""
    states = list(itertools.product(range(3), repeat=5))

    def follow(state: tuple[int, ...]) -> list[Hashable]:
        found: list[Hashable] = []
        for disc, peg in enumerate(state):
            if peg in state[:disc]:
                continue
            found += [(*state[:disc], to, *state[disc + 1 :]) for to in range(3) if to not in (peg, *state[:disc])]
        return found

    return World(graph_of(states, follow), np.array(states, np.float32), length=200)


def random_graph() -> World:
    """300 states of 16 random numbers, each followed by three others: nothing can be guessed."""
    random = np.random.default_rng(0)
    following = [[int(k) for k in random.integers(0, 300, 3)] for _ in range(300)]
    return World(following, random.normal(size=(300, 16)).astype(np.float32), episodes=200)


def lights_out() -> World:
    """3 x 3 lamps; pressing one switches it and those beside it."""
    boards = list(itertools.product(range(2), repeat=9))
    near = [[k for k in range(9) if abs(k // 3 - lamp // 3) + abs(k % 3 - lamp % 3) <= 1] for lamp in range(9)]

    def follow(board: tuple[int, ...]) -> list[Hashable]:
        return [tuple(on ^ (k in near[lamp]) for k, on in enumerate(board)) for lamp in range(9)]

    return World(graph_of(boards, follow), np.array(boards, np.float32))


def two_robots() -> World:
    """Two robots on 6 x 6 cells that take turns at random and never stand in one cell."""
    cells = list(itertools.product(range(6), range(6)))
    states = [(a, b) for a in cells for b in cells if a != b]

    def follow(state: tuple[tuple[int, int], tuple[int, int]]) -> list[Hashable]:
        found: list[Hashable] = []
        for robot, (dx, dy) in itertools.product(range(2), FOUR):
            here, other = state[robot], state[1 - robot]
            there = (min(5, max(0, here[0] + dx)), min(5, max(0, here[1] + dy)))
            moved = here if there == other else there
            found.append((moved, other) if robot == 0 else (other, moved))
        return found

    return World(graph_of(states, follow), np.array(states, np.float32).reshape(len(states), 4), 200, 200)


def ice() -> World:
    """12 x 12 cells of ice with rocks: whoever moves slides on until something stops them."""
    random = np.random.default_rng(5)
    cells = list(itertools.product(range(12), range(12)))
    rocks = {cells[k] for k in random.choice(len(cells), 20, replace=False)}
    free = [cell for cell in cells if cell not in rocks]
    open_cells = set(free)

    def follow(cell: tuple[int, int]) -> list[Hashable]:
        found: list[Hashable] = []
        for dx, dy in FOUR:
            place = cell
            while (place[0] + dx, place[1] + dy) in open_cells:
                place = (place[0] + dx, place[1] + dy)
            found.append(place)
        return found

    return World(graph_of(free, follow), np.array(free, np.float32))


def elevator() -> World:
    """Twelve floors and a passenger, who waits on a floor, rides, or has arrived on another: no way back from there."""
    riding, arrived = 12, 13
    states = list(itertools.product(range(12), range(14), range(12)))  # cabin, passenger, destination

    def follow(state: tuple[int, int, int]) -> list[Hashable]:
        cabin, passenger, destination = state
        found: list[Hashable] = [(min(11, cabin + 1), *state[1:]), (max(0, cabin - 1), *state[1:])]
        if passenger == cabin:
            found.append((cabin, riding, destination))
        elif passenger == riding and cabin == destination:
            found.append((cabin, arrived, destination))
        return found

    return World(graph_of(states, follow), np.array(states, np.float32), 300, 200)


def taxi() -> World:
    """Gymnasium's Taxi, as row, column, passenger and destination."""
    import gymnasium

    world: Any = gymnasium.make("Taxi-v4").unwrapped
    following = [[way[0][1] for way in world.P[state].values()] for state in range(500)]
    return World(following, np.array([[*world.decode(k)] for k in range(500)], np.float32), 300, 200)


def frozen_lake() -> World:
    """Gymnasium's slippery lake of 8 x 8, always from its start; holes end an episode."""
    import gymnasium

    world: Any = gymnasium.make("FrozenLake-v1", map_name="8x8").unwrapped
    following = [[one[1] for way in world.P[state].values() for one in way] for state in range(64)]
    return World(following, np.array([divmod(k, 8) for k in range(64)], np.float32), 400, 100, [0])


def frozen_lake_one_hot() -> World:
    """The same lake as one-hot vectors."""
    return frozen_lake()._replace(looks=np.eye(64, dtype=np.float32))


WORLDS = {
    made.__name__.replace("_", "-"): made
    for made in (
        four_rooms, thin_wall, one_way_door, wind, torus, inertia, car, puzzle, hanoi, random_graph, taxi, frozen_lake,
        frozen_lake_one_hot, lights_out, two_robots, ice, elevator,
    )
}  # fmt: skip


def judge(name: str, out: Path, seed: int, steps: int | None, other_steps: int, graph_alone: bool) -> None:
    """Record the world, learn it unless the graph is to be compared alone, compare."""
    random, world = np.random.default_rng(seed), WORLDS[name]()
    walks = [_walk(world, random) for _ in range(world.episodes)]
    data = ma.Trajectories.from_episodes([world.looks[walk] for walk in walks])
    seen = np.unique(np.concatenate(walks))
    true = _distances(world.following)[np.ix_(seen, seen)]
    taken = [sorted({int(b) for walk in walks for a, b in itertools.pairwise(walk) if a == k}) for k in seen]
    number = np.full(len(world.following), -1)
    number[seen] = np.arange(len(seen))
    recorded = _distances([[int(number[k]) for k in after] for after in taken])
    graph = ma.recorded_distance(data).pairwise(world.looks[seen])
    found: dict[str, Any] = {
        "world": name, "seed": seed, "states": len(world.following), "recorded": len(seen),
        "longest": float(true[np.isfinite(true)].max()), "recorded steps": _compared(recorded, true),
        "graph": _compared(graph, true),
    }  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=1) + "\n")
    for method, many in () if graph_alone else (("pathdist", steps), ("maddist", other_steps)):
        began = time.monotonic()
        model = ma.fit(data, method, steps=many, held_out=0, progress=False)
        learned = np.asarray(model.pairwise(world.looks[seen], world.looks[seen]))
        along_paths = _compared(np.where(np.isfinite(graph), learned, np.inf), true)["pearson"]
        found[method] = _compared(learned, true) | {"pearson where the graph has a path": along_paths}
        found[method]["seconds"] = round(time.monotonic() - began, 1)
        out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found), flush=True)


def _walk(world: World, random: np.random.Generator) -> np.ndarray:
    places = range(len(world.following)) if world.starts is None else world.starts
    walk = [int(random.choice(np.asarray(places)))]
    for _ in range(world.length):
        after = world.following[walk[-1]]
        walk.append(after[random.integers(len(after))])
    return np.array(walk)


def _distances(following: list[list[int]]) -> np.ndarray:
    edges = np.array([(a, b) for a, after in enumerate(following) for b in set(after) if a != b])
    graph = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(following),) * 2)
    return shortest_path(graph, unweighted=True)


def _compared(found: np.ndarray, true: np.ndarray) -> dict[str, float | None]:
    """Agreement over pairs that can be reached and were found to be; how many were not; AUROC over all pairs."""
    told = np.isfinite(found)
    agreed = ma.agreement(found[told][None], true[told][None])
    ranked = ma.agreement(np.where(told, found, 2 * found[told].max()), true)
    reachable = np.isfinite(true) & (true > 0)
    return {
        "pearson": round(agreed.pearson, 4),
        "ratio_cv": round(agreed.ratio_cv, 4),
        "mean_ratio": round(agreed.mean_ratio, 4),
        "mean_absolute_error": round(agreed.mean_absolute_error, 4),
        "no path": round(float((reachable & ~told).sum() / reachable.sum()), 4),
        "auroc": None if np.isnan(ranked.auroc) else round(float(ranked.auroc), 4),
    }


def table(paths: list[Path]) -> None:
    """A line for each world on standard error; all raw results as one JSON on standard output."""
    results = [json.loads(path.read_text()) for path in paths]
    for result in results:
        cells = [result["world"], f"{result['recorded']} of {result['states']}"]
        for method in ("recorded steps", "graph", "pathdist", "maddist"):
            one = result.get(method)
            without = f" ({100 * one['no path']:.1f}% without a path)" if one and one["no path"] else ""
            cells.append(f"{one['pearson']:.4f} / {one['ratio_cv']:.3f}{without}" if one else "–")
        print("| " + " | ".join(cells) + " |", file=sys.stderr)
    json.dump(results, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", nargs="?", choices=sorted(WORLDS))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="of PathDist; its default otherwise")
    parser.add_argument("--other-steps", type=int, default=10_000)
    parser.add_argument("--graph-alone", action="store_true", help="learn nothing")
    parser.add_argument("--table", type=Path, nargs="+")
    given = parser.parse_args()
    if given.list:
        print(*WORLDS, sep="\n")
    elif given.table:
        table(given.table)
    else:
        judge(given.world, given.out, given.seed, given.steps, given.other_steps, given.graph_alone)
