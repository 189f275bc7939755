"""Worlds with known distances beyond the package's own tasks, to measure the recording as a graph on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from minaction.exact import minimum_action_distance
from minaction.tasks import get_task, read
from minaction.trajectories import Trajectories

Truth = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Sources (n, D), goals (m, D) and the distances between them (n, m), infinite where unreachable."""
MOVES = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])


@dataclass(frozen=True)
class World:
    """A recording and its truths by name."""

    data: Trajectories
    truths: dict[str, Truth]


def task(name: str, seed: int, episodes: int | None = None) -> World:
    """One of the package's tasks, by its truths in steps."""
    chosen = get_task(name)
    shared = not chosen.fresh_data_per_seed and episodes is None
    data = read(name) if shared else chosen.trajectories(seed, episodes)
    truths = [truth for truth in chosen.truths() if truth.name != "observed"]
    return World(data, {truth.name: (truth.sources, truth.targets, truth.distances) for truth in truths})


# ---------------------------------------------------------------- MountainCar


def mountain_car(seed: int, steps: int, episodes: int = 800, judged: int = 120) -> World:
    """MountainCar under a random policy from random starts; pairs of recorded states.

    A goal counts as reached within half a typical step of it (.009 in position, .0007 in speed). That matters: a state
    just out of reach costs another swing, so that the truths for a half and a quarter of a step correlate by .943.
    """
    random = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        walk = [np.array([random.uniform(-1.2, 0.6), random.uniform(-0.07, 0.07)])]
        while len(walk) <= steps and not (walk[-1][0] >= 0.5 and walk[-1][1] >= 0):
            walk.append(_car(walk[-1], random.integers(3)))
        if len(walk) > 1:
            walks.append(np.array(walk, np.float32))
    data = Trajectories.from_episodes(walks)
    states = data.states[np.random.default_rng(seed + 77).choice(data.num_states, judged, replace=False)]
    return World(data, {"true": (states, states, car_distances(states))})


def _car(state: np.ndarray, action: int | np.ndarray) -> np.ndarray:
    """Gymnasium's MountainCar-v0, for any number of cars."""
    speed = np.clip(state[..., 1] + (action - 1) * 0.001 - 0.0025 * np.cos(3 * state[..., 0]), -0.07, 0.07)
    place = np.clip(state[..., 0] + speed, -1.2, 0.6)
    return np.stack([place, np.where((place <= -1.2) & (speed < 0), 0.0, speed)], axis=-1)


def car_distances(states: np.ndarray, tolerance: tuple[float, float] = (0.009, 0.0007)) -> np.ndarray:
    """The least steps between all pairs, by a search over continuous states that keeps the first in every fine cell."""
    cell, lowest = np.array([0.002, 0.0002]), np.array([-1.2, -0.07])
    shape = (901, 701)
    distances = np.full((len(states), len(states)), np.inf)
    low, high = ((states + sign * np.array(tolerance) - lowest) / cell for sign in (-1, 1))
    low, high = np.maximum(np.round(low), 0).astype(int), np.round(high).astype(int) + 1
    for row, state in enumerate(states.astype(np.float64)):
        first = np.full(shape, np.inf)
        front, time = state[None], 0
        while len(front):
            cells = np.round((front - lowest) / cell).astype(int)
            _, one = np.unique(cells[:, 0] * shape[1] + cells[:, 1], return_index=True)
            one = one[np.isinf(first[cells[one, 0], cells[one, 1]])]
            first[cells[one, 0], cells[one, 1]] = time
            front = front[one]
            front = front[~((front[:, 0] >= 0.5) & (front[:, 1] >= 0))]  # the episode is over
            front = np.concatenate([_car(front, action) for action in range(3)])
            time += 1
        boxes = zip(low, high, strict=True)
        distances[row] = [first[a[0] : b[0], a[1] : b[1]].min(initial=np.inf) for a, b in boxes]
    return distances


# ---------------------------------------------------------------- rooms that do not connect


def rooms(seed: int, parts: int = 4, wall: float = 0.5, judged: int = 200) -> World:
    """Rooms of 10 x 10 that do not connect, each with a wall; a ball that moves by up to 0.5 in x and in y."""

    def free(place: np.ndarray) -> np.ndarray:
        inside = ((place >= 0) & (place <= 10)).all(axis=-1)
        return inside & ~((np.abs(place[..., 0] - 5) < wall / 2) & (place[..., 1] < 7))

    random = np.random.default_rng(seed)
    walks = []
    for _ in range(100 * parts):
        room, place = random.integers(parts), random.uniform(0, 10, 2)
        while not free(place):
            place = random.uniform(0, 10, 2)
        walk, drift = [place], random.normal(size=2)
        for _ in range(100):
            drift = random.normal(size=2) if random.random() < 0.1 else drift
            move = np.clip(0.3 * drift + 0.2 * random.normal(size=2), -0.5, 0.5)
            place = place + move if free(place + np.linspace(0.25, 1, 4)[:, None] * move).all() else place
            walk.append(place)
        walks.append((np.array(walk) + np.array([30 * room, 0])).astype(np.float32))
    points, distances = _lattice(free, 0.1, 0.5)
    random = np.random.default_rng(seed + 5)
    chosen, room = random.choice(len(points), judged), random.integers(parts, size=judged)
    true = distances(chosen)[:, chosen]
    true[room[:, None] != room] = np.inf
    states = (points[chosen] + np.stack([30.0 * room, 0 * room], axis=1)).astype(np.float32)
    return World(Trajectories.from_episodes(walks), {"true": (states, states, true)})


def _lattice(
    free: Callable[[np.ndarray], np.ndarray], spacing: float, step: float
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Free points of a lattice on [0, 10] x [0, 10], and their distances in the maximum norm through what is free."""
    axis = np.arange(0, 10 + spacing / 2, spacing)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    points = grid[free(grid)]
    index = np.full(grid.shape[:2], -1)
    index[free(grid)] = np.arange(len(points))
    starts, ends, costs = [], [], []
    for dx in range(-2, 3):
        for dy in range(-2, 3):
            shifted = np.full_like(index, -1)
            xs, ys = slice(max(0, -dx), len(axis) - max(0, dx)), slice(max(0, -dy), len(axis) - max(0, dy))
            shifted[xs, ys] = index[max(0, dx) : len(axis) + min(0, dx), max(0, dy) : len(axis) + min(0, dy)]
            both = (index >= 0) & (shifted >= 0) & (max(abs(dx), abs(dy)) > 0)
            a, b = index[both], shifted[both]
            clear = np.logical_and.reduce([free(points[a] + w * (points[b] - points[a])) for w in (0.25, 0.5, 0.75)])
            starts.append(a[clear])
            ends.append(b[clear])
            costs.append(np.full(clear.sum(), max(abs(dx), abs(dy)) * spacing / step))
    pairs = (np.concatenate(starts), np.concatenate(ends))
    graph = csr_array((np.concatenate(costs), pairs), shape=(len(points),) * 2)
    return points, lambda chosen: np.asarray(dijkstra(graph, indices=chosen))


# ---------------------------------------------------------------- grids and rings


def grid_parts(seed: int, parts: int = 4, size: int = 9) -> World:
    """Grids that do not connect, 20 apart, each with a wall of one cell; random walks."""
    random = np.random.default_rng(seed)
    cells = [(x, y) for x in range(size) for y in range(size) if not (x == 4 and y < 6)]
    walks = []
    for _ in range(25 * parts):
        part, cell = random.integers(parts), cells[random.integers(len(cells))]
        walk = [cell]
        for _ in range(100):
            following = tuple((np.array(cell) + MOVES[random.integers(4)]).tolist())
            cell = following if following in cells else cell
            walk.append(cell)
        walks.append((np.array(walk) + np.array([20 * part, 0])).astype(np.float32))
    states = np.array([(20 * part + x, y) for part in range(parts) for x, y in cells], np.float32)
    near = np.argwhere(np.abs(states[:, None] - states).sum(axis=2) == 1)
    return World(
        Trajectories.from_episodes(walks), {"true": (states, states, minimum_action_distance(len(states), near))}
    )


def sparse_grid(seed: int, size: int = 15, episodes: int = 25, steps: int = 60) -> World:
    """An open grid of which a few short walks were recorded; the recorded cells are judged."""
    random = np.random.default_rng(seed)
    walks = []
    for _ in range(episodes):
        walk = [random.integers(size, size=2)]
        for _ in range(steps):
            walk.append(np.clip(walk[-1] + MOVES[random.integers(4)], 0, size - 1))
        walks.append(np.array(walk, np.float32))
    data = Trajectories.from_episodes(walks)
    states = data.distinct.states
    true = np.abs(states[:, None] - states).sum(axis=2).astype(np.float64)
    return World(data, {"true": (states, states, true)})


def ring(seed: int, places: int = 60, episodes: int = 60, steps: int = 30) -> World:
    """A one-way ring of places, each of which takes its own time to leave."""
    random = np.random.default_rng(seed)
    lasts = random.uniform(0.5, 2, places)
    angle = 2 * np.pi * np.arange(places) / places
    states = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    visited = (random.integers(places, size=(episodes, 1)) + np.arange(steps + 1)) % places
    times = [np.concatenate([[0], np.cumsum(lasts[row[:-1]])]) for row in visited]
    data = Trajectories.from_episodes([states[row] for row in visited], times=times)
    around = np.stack([np.arange(places), (np.arange(places) + 1) % places], axis=1)
    return World(data, {"true": (states, states, minimum_action_distance(places, around, lasts))})


def continuous_ring(seed: int, episodes: int = 150, steps: int = 60, judged: int = 200) -> World:
    """A one-way ring run through at a pace that changes along it, seen at irregular times; never twice the same."""
    random = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, 20_001)
    pace = 0.08 * (1 + 0.6 * np.sin((angle[1:] + angle[:-1]) / 2))
    clock = np.concatenate([[0], np.cumsum(np.diff(angle) / pace)])

    def seen(times: np.ndarray) -> np.ndarray:
        at = np.interp(times % clock[-1], clock, angle)
        return np.stack([np.cos(at), np.sin(at)], axis=1).astype(np.float32)

    times = [random.uniform(0, clock[-1]) + np.cumsum(random.uniform(0.5, 2, steps + 1)) for _ in range(episodes)]
    asked = random.uniform(0, clock[-1], judged)
    true = (asked - asked[:, None]) % clock[-1]
    return World(
        Trajectories.from_episodes([seen(row) for row in times], times=times),
        {"true": (seen(asked), seen(asked), true)},
    )
