"""Logs of which everything is known: pauses, detours, retries and failures are put in, and what remains is computed.

Three worlds. A planar arm of two joints, whose speed is limited, reaches for a pose: the time to go is the larger of
the two angles over that speed. OGBench's ant walks to a corner of the medium maze, by this package's policy with noise
on its torques: the steps to go are the shortest way around the walls over the policy's measured speed. An expert that
errs in one step of ten fetches KeyDoor's key and opens the door: the steps to go are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from minaction.environments import NUM_ACTIONS, KeyDoorGridWorld, transition_graph
from minaction.exact import minimum_action_distance
from minaction.mazes._layouts import ANT_LAYOUTS

KINDS = ("plain", "plain", "pause", "detour", "retry", "failure")
"""What happens in one episode after the other."""

DT = 0.05  # seconds from one row to the next, where a log has time stamps


@dataclass
class Recorded:
    """One episode: its rows, which of them were put in to waste time, and what truly remained at each."""

    kind: str
    states: list[np.ndarray] = field(default_factory=list)
    wasted: list[bool] = field(default_factory=list)
    remaining: list[float] = field(default_factory=list)
    times: np.ndarray | None = None

    def add(self, state: np.ndarray, remaining: float, wasted: bool) -> None:
        self.states.append(np.array(state))
        self.remaining.append(float(remaining))
        self.wasted.append(wasted)

    @property
    def failed(self) -> bool:
        return self.kind == "failure"


def stamped(episodes: list[Recorded], rng: np.random.Generator, dropped: float = 0.3) -> list[Recorded]:
    """The same episodes as an irregular log: a share of the rows is lost, the others have time stamps in seconds."""
    found = []
    for one in episodes:
        kept = rng.random(len(one.states)) >= dropped
        kept[[0, -1]] = True
        rows = np.flatnonzero(kept)
        found.append(
            Recorded(
                one.kind,
                [one.states[k] for k in rows],
                [one.wasted[k] for k in rows],
                [DT * one.remaining[k] for k in rows],
                times=DT * rows,
            )
        )
    return found


def kept_log(folder: Path | None, world: str, seed: int, episodes: int, rng: np.random.Generator) -> list[Recorded]:
    """A log of that many episodes: read from `folder` where it is there, else made, and kept there."""
    path = None if folder is None else folder / f"{world}-{seed}-{episodes}.npz"
    if path is not None and path.exists():
        kept = np.load(path)
        ends = np.cumsum(kept["lengths"])[:-1]
        parts = (np.split(kept[name], ends) for name in ("states", "wasted", "remaining"))
        return [
            Recorded(str(kind), list(states), wasted.tolist(), remaining.tolist())
            for kind, states, wasted, remaining in zip(kept["kinds"], *parts, strict=True)
        ]
    made = LOGS[world](episodes, rng)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            path,
            kinds=[one.kind for one in made],
            lengths=[len(one.states) for one in made],
            states=np.concatenate([np.array(one.states) for one in made]),
            wasted=np.concatenate([np.array(one.wasted) for one in made]),
            remaining=np.concatenate([np.array(one.remaining) for one in made]),
        )
    return made


# -------------------------------------------------------------------------------- the arm

_SPEED = 0.05  # radians a row, of either joint
_POSE = np.array([0.6, -1.1])
_NOISE = 0.002  # of the angles as they are measured


def arm(episodes: int, rng: np.random.Generator) -> list[Recorded]:
    """States are the two angles and the position of the hand, (4,); what remains is counted in rows."""
    return [_arm_episode(KINDS[k % len(KINDS)], rng) for k in range(episodes)]


def _arm_episode(kind: str, rng: np.random.Generator) -> Recorded:
    log, pose = Recorded(kind), rng.uniform(-2.4, 2.4, 2)
    while np.abs(pose - _POSE).max() < 1.0:
        pose = rng.uniform(-2.4, 2.4, 2)

    def look(at: np.ndarray, wasted: bool) -> None:
        seen = at + rng.normal(0, _NOISE, 2)
        hand = [np.cos(seen[0]) + np.cos(seen.sum()), np.sin(seen[0]) + np.sin(seen.sum())]
        log.add(np.array([*seen, *hand]), np.abs(at - _POSE).max() / _SPEED, wasted)

    def move(start: np.ndarray, end: np.ndarray, wasted: bool) -> np.ndarray:
        """Both joints arrive together, the one with the longer way at full speed."""
        rows = max(1, int(np.ceil(np.abs(end - start).max() / _SPEED)))
        for k in range(rows):
            look(start + (end - start) * k / rows, wasted)
        return end

    share = rng.uniform(0.25, 0.7) if kind != "retry" else rng.uniform(0.8, 0.95)
    middle = pose + share * (_POSE - pose)
    if kind != "plain":
        move(pose, middle, False)
        pose = middle
    if kind == "pause":
        for _ in range(rng.integers(15, 50)):
            look(middle, True)
    elif kind == "detour":
        aside = middle + rng.uniform(0.4, 0.9) * (middle - _POSE) / np.abs(middle - _POSE).max()
        move(middle, aside, True)
        move(aside, middle, True)
    elif kind == "retry":
        for _ in range(rng.integers(1, 3)):
            back = middle + rng.uniform(0.3, 0.7) * (middle - _POSE) / np.abs(middle - _POSE).max()
            move(middle, back, True)
            move(back, middle, True)
    elif kind == "failure":
        aside = rng.uniform(-2.4, 2.4, 2)
        while np.abs(aside - _POSE).max() < np.abs(middle - _POSE).max():
            aside = rng.uniform(-2.4, 2.4, 2)
        move(middle, aside, True)
        look(aside, True)
        return log
    move(pose, _POSE, False)
    look(_POSE, False)
    return log


# -------------------------------------------------------------------------------- KeyDoor


def key_door(episodes: int, rng: np.random.Generator) -> list[Recorded]:
    """Observations of KeyDoorGridWorld, (3,), by an expert of whose actions a tenth are random."""
    world = KeyDoorGridWorld()
    graph = transition_graph(world, world.starts(1, rng))
    states, distances = graph.states, minimum_action_distance(len(graph.states), graph.edges)
    number = {tuple(state): k for k, state in enumerate(states.tolist())}
    goal = int(np.flatnonzero(world.terminal(states))[0])
    after = np.stack([world.step(states, np.full(len(states), action)) for action in range(NUM_ACTIONS)], axis=1)
    follows = np.array([[number[tuple(row)] for row in several.tolist()] for several in after])
    seen = world.observe(states, rng)

    def episode(kind: str) -> Recorded:
        log, here = Recorded(kind), number[tuple(world.starts(1, rng)[0].tolist())]
        whole = distances[here, goal]
        disturbed_at = whole * (rng.uniform(0.3, 0.75) if kind != "retry" else rng.uniform(0.1, 0.2))

        def towards(target: int, wasted: bool, until: Callable[[int], bool]) -> None:
            nonlocal here
            while not until(here) and np.isfinite(distances[here, target]):  # the key cannot be put back
                log.add(seen[here], distances[here, goal], wasted)
                best = np.flatnonzero(distances[follows[here], target] == distances[follows[here], target].min())
                action = rng.integers(NUM_ACTIONS) if rng.random() < 0.1 else rng.choice(best)
                here = int(follows[here, action])

        def aside(nearest: int, farthest: int) -> int:
            """A state that far off from which the goal is farther than from here; it can be gone back from."""
            ways, farther = distances[here], distances[:, goal] - distances[here, goal]
            can = np.isfinite(ways) & np.isfinite(distances[:, here])
            fits = can & (ways >= nearest) & (ways <= farthest) & (farther >= nearest - 2)
            fits = fits if fits.any() else can & (farther == farther[can].max())
            return int(rng.choice(np.flatnonzero(fits)))

        if kind != "plain":
            towards(goal, False, lambda at: distances[at, goal] <= disturbed_at)
        left = distances[here, goal]
        if kind == "pause":
            for _ in range(rng.integers(10, 30)):
                log.add(seen[here], distances[here, goal], True)
        elif kind in ("detour", "retry"):
            for _ in range(1 if kind == "detour" else rng.integers(1, 3)):
                target = aside(6, 12) if kind == "detour" else aside(4, 8)
                towards(target, True, lambda at, target=target: at == target)
                towards(goal, True, lambda at: distances[at, goal] <= left)
        elif kind == "failure":
            target = aside(5, 14)
            towards(target, True, lambda at: at == target)
            log.add(seen[here], distances[here, goal], True)
            return log
        towards(goal, False, lambda at: at == goal)
        log.add(seen[goal], 0.0, False)
        return log

    return [episode(KINDS[k % len(KINDS)]) for k in range(episodes)]


# -------------------------------------------------------------------------------- the ant

_LONGEST = 600  # steps of an ant's episode; three times what an undisturbed one takes
_ARRIVED = 1.0  # from the goal, in OGBench's unit, of which a cell has four
_PER_CELL = 4  # points along the side of a cell, between which ways are measured


def ant(episodes: int, rng: np.random.Generator) -> list[Recorded]:
    """OGBench's ant in the medium maze, (29,), all ants stepped together; the goal is the lower right corner."""
    from minaction.mazes._ant import ACTION_SIZE, Ants, maze_model, reset_noise, reset_states
    from minaction.mazes._routes import next_cells
    from minaction.mazes._walker import Walker
    from minaction.tasks._ant_mazes import walking_speed

    layout, walker = ANT_LAYOUTS["medium"], Walker.load()
    route, speed = next_cells(layout), walking_speed()
    to_go = _ways_to(layout, layout.centres[-1])
    goal = len(layout.free_cells) - 1
    starts = np.array([k for k in range(goal) if to_go(layout.centres[k][None])[0] > 4 * layout.cell_size])
    logs = [Recorded(KINDS[k % len(KINDS)]) for k in range(episodes)]
    at = layout.centres[rng.choice(starts, episodes)] + rng.uniform(-1, 1, (episodes, 2))
    state = reset_states(at, reset_noise(rng, episodes))
    ants = Ants(maze_model("medium"), episodes, 2)
    ants.place(state)
    whole = to_go(state[:, :2])
    near = np.array([rng.uniform(0.1, 0.2) if log.kind == "retry" else rng.uniform(0.35, 0.7) for log in logs])
    phase = np.array([0 if log.kind != "plain" else 3 for log in logs])  # 0 before, 1 aside, 2 back again, 3 after
    left, target, rest = np.zeros(episodes), np.full(episodes, goal), np.zeros(episodes, int)
    over = np.zeros(episodes, bool)
    for _ in range(_LONGEST):
        remaining = to_go(state[:, :2])
        cell = layout.cell_index[tuple(np.moveaxis(layout.cell_of(state[:, :2]), -1, 0))]
        for k in np.flatnonzero(~over):
            log = logs[k]
            if phase[k] == 0 and remaining[k] <= near[k] * whole[k]:
                phase[k], left[k], rest[k] = 1, remaining[k], rng.integers(30, 90)
                steps = (3, 4) if log.kind == "failure" else (1, 2)
                target[k] = (
                    goal if log.kind == "pause" else _aside(layout, route, cell[k], remaining[k], to_go, steps, rng)
                )
            elif phase[k] == 1 and log.kind == "pause":
                rest[k] -= 1
                phase[k] = 3 if rest[k] <= 0 else 1
            elif phase[k] == 1 and cell[k] == target[k]:
                over[k] = log.failed
                phase[k], target[k] = 2, goal
            elif phase[k] == 2 and remaining[k] <= left[k]:
                phase[k] = 3
            log.add(state[k].astype(np.float32), remaining[k] / speed, phase[k] in (1, 2))
            over[k] |= remaining[k] <= 0
        if over.all():
            break
        towards = layout.centres[route[cell, target]] - state[:, :2]
        directions = towards / (np.linalg.norm(towards, axis=1, keepdims=True) + 1e-6)
        torques = walker.actions(state, directions) + rng.normal(0, 0.2, (episodes, ACTION_SIZE))
        torques[(phase == 1) & (rest > 0) & (target == goal)] = 0.0  # an ant that rests lets its legs hang
        state = ants.step(np.clip(torques, -1.0, 1.0))
    return [log for log, done in zip(logs, over, strict=True) if done]  # one that fell on its back is left out


def _aside(layout, route, cell, remaining, to_go, steps, rng) -> int:
    """A cell some cells off that is farther from the goal than the ant is."""
    count = len(layout.free_cells)
    away = np.zeros(count, int)
    for other in range(count):
        here, hops = cell, 0
        while here != other:
            here, hops = route[here, other], hops + 1
        away[other] = hops
    farther = to_go(layout.centres) > remaining + 0.5 * layout.cell_size
    fits = np.flatnonzero((away >= steps[0]) & (away <= steps[1]) & farther)
    if not len(fits):
        fits = np.flatnonzero(farther & (away >= steps[0]))
    return int(rng.choice(fits[away[fits] == away[fits].min()]))


def _ways_to(layout, goal: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """How long the shortest way to `goal` is from positions (n, 2) until it counts as reached."""
    from scipy.spatial import cKDTree

    from minaction.mazes._walking_time import route_lengths

    shares = (np.arange(_PER_CELL) + 0.5) / _PER_CELL - 0.5
    inside = np.stack(np.meshgrid(shares, shares), axis=-1).reshape(-1, 2) * layout.cell_size
    points = (layout.centres[:, None] + inside).reshape(-1, 2)
    points = np.concatenate([goal[None], points[layout.is_free(points)]])
    lengths = route_lengths(layout, points)[0]
    tree = cKDTree(points)

    def to_go(positions: np.ndarray) -> np.ndarray:
        away, index = tree.query(positions, k=6)
        return np.maximum((away + lengths[index]).min(axis=1) - _ARRIVED, 0.0)

    return to_go


LOGS: dict[str, Callable[[int, np.random.Generator], list[Recorded]]] = {"arm": arm, "key-door": key_door, "ant": ant}
