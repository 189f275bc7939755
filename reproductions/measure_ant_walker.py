"""Measure how well the ant walks, and write results/ant-walker.json.

- `python reproductions/measure_ant_walker.py` measures the policy that is shipped;
- `... --ship runs/ant-walker/walker-0308224.safetensors` another one, which is then shipped, with its card;
- `... --data` makes and describes the data sets, with pictures of them in docs/.
"""

from __future__ import annotations

import argparse
import importlib.metadata
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from minaction._files import atomic_write, read_json, write_json
from minaction._progress import counting_progress
from minaction.mazes._ant import Ants, maze_model, reset_noise, reset_states, uprightness
from minaction.mazes._ant_recipes import ANT_RECIPES
from minaction.mazes._walker import SHIPPED, Walker
from minaction.mazes._walking import measure_gait
from minaction.mazes._walking_time import route_lengths, shortest_routes
from minaction.reports import draw_visits
from minaction.tasks import read
from minaction.tasks._ant_mazes import TASKS, AntTask

RESULTS = Path(__file__).parent / "results" / "ant-walker.json"
DOCS = Path(__file__).parents[1] / "docs"
NOISE = 0.2
NAVIGATE = "ogbench-antmaze-medium-navigate"
ARRIVED = 0.5
LONGEST_WALK = 600


def goals_per_1000_steps(walker: Walker, episodes: int, threads: int) -> dict[str, float]:
    """As the navigate data are made."""
    recipe = ANT_RECIPES[NAVIGATE]
    ants = Ants(maze_model(recipe.maze), episodes, threads)
    states, _, reached = recipe.roll_out(ants, walker, 12345, np.arange(episodes))
    rates = 1000 * reached / recipe.length
    return {
        "goals per 1000 steps": float(rates.mean()),
        "standard error": float(rates.std(ddof=1) / np.sqrt(episodes)),
        "episodes": episodes,
        "flipped": float((uprightness(states) < 0).any(axis=1).mean()),
    }


def route_times(walker: Walker, pairs: int, threads: int, seed: int = 0) -> dict[str, float]:
    """How fast the ant gets along shortest ways between cells of the medium maze, from standing to arriving."""
    random = np.random.default_rng(seed)
    layout = ANT_RECIPES[NAVIGATE].layout
    lengths, routes = route_lengths(layout, layout.centres), shortest_routes(layout, layout.centres)
    cells = len(layout.centres)
    chosen = random.permutation([(i, j) for i in range(cells) for j in range(cells) if i != j])[:pairs]
    ways = [routes[i][j] for i, j in chosen]
    length = np.array([lengths[i, j] - ARRIVED for i, j in chosen])
    ants = Ants(maze_model("medium"), pairs, threads)
    state = reset_states(layout.centres[chosen[:, 0]], reset_noise(random, pairs))
    ants.place(state)
    passed, taken = np.zeros(pairs, dtype=np.int64), np.full(pairs, np.inf)
    for step in range(1, LONGEST_WALK + 1):
        targets = np.array([way[k] for way, k in zip(ways, passed, strict=True)])
        towards = targets - state[:, :2]
        directions = towards / (np.linalg.norm(towards, axis=1, keepdims=True) + 1e-6)
        state = ants.step(walker.actions(state, directions))
        near = np.linalg.norm(targets - state[:, :2], axis=1) <= ARRIVED
        last = passed == [len(way) - 1 for way in ways]
        taken[near & last & np.isinf(taken)] = step
        passed += near & ~last
        if np.isfinite(taken).all():
            break
    arrived = np.isfinite(taken)
    speed = length[arrived].sum() / taken[arrived].sum()
    ratio = taken[arrived] * speed / length[arrived]
    found = {"pairs": pairs, "arrived": arrived.mean(), "speed": speed, "spread": ratio.std()}
    return {name: float(value) for name, value in found.items()}


def measure(walker: Walker, episodes: int, threads: int) -> dict[str, Any]:
    """Everything the card says about how it walks."""
    return {
        "without noise": asdict(measure_gait(walker, episodes, noise=0.0, threads=threads)),
        f"with noise {NOISE}": asdict(measure_gait(walker, episodes, noise=NOISE, seed=1, threads=threads)),
        "episodes": episodes,
        "navigate": goals_per_1000_steps(walker, max(episodes // 4, 2), threads),
        "routes": route_times(walker, episodes, threads),
        "mujoco": importlib.metadata.version("mujoco"),
        "ogbench": importlib.metadata.version("ogbench"),
    }


def card_text(card: dict[str, Any]) -> str:
    """The card as a page for a person."""
    measured, trained = card["measured"], card["trained"]
    calm, noisy = measured["without noise"], measured[f"with noise {NOISE}"]
    navigate, routes, costs = measured["navigate"], measured["routes"], trained["settings"]["sideways_costs"]
    rows = "\n".join(
        f"| {label} | {gait['speed']:.3f} ± {gait['speed_error']:.3f} | {gait['cosine']:.3f} "
        f"| {gait['straightness']:.3f} | {gait['healthy']:.1%} "
        f"| {gait['upright']:.1%} |"
        for label, gait in (("none", calm), (f"{NOISE}", noisy))
    )
    return f"""# The ant's walking policy

`ant_walker.safetensors` walks OGBench's ant in a commanded direction. It makes the AntMaze data sets of this package.

**What it is.** A perceptron, 29 numbers to 256 to 256 to 8 torques. It sees the ant's height, and from the torso's own
point of view up, the command, velocity, rotation, joint angles and their velocities; legs are renumbered by quarter
turns so that the command is always ahead.

**How it was trained.** Soft actor-critic on flat ground, {trained["steps"]:,} steps of {trained["ants"]} ants together,
{trained["updates"]:,} updates, seed {trained["seed"]}, {trained["hours"]:.1f} hours on a core that others used too,
with `python reproductions/train_ant_walker.py`; the courses of learning rate and
sideways cost in it were settled while this very training ran, and the best of its three last policies was taken.
Reward: displacement along the command, less {costs[0][1]} of that
across it at first and {costs[-1][1]} towards the end. The command is redrawn every 100 steps; an episode ends when the
torso leaves the heights .2 to 1.0 or turns over. Made with MuJoCo {measured["mujoco"]} and OGBench
{measured["ogbench"]}.

**How well it walks.** {measured["episodes"]} episodes of 200 steps from a standing start, the command redrawn once.

| noise | along the command, per step | cosine | straightness | always at healthy height | upright at the end |
| --- | --- | --- | --- | --- | --- |
{rows}

Cosine: of the angle between a step and the command, mean over all steps, those after a new command included.
Straightness: way along the command over distance covered.

In antmaze-medium, heading for one random goal after another with noise {NOISE}, it reaches
{navigate["goals per 1000 steps"]:.1f} ± {navigate["standard error"]:.1f} goals per 1000 steps
({navigate["episodes"]} episodes; {navigate["flipped"]:.1%} of the ants were on their backs at some time).

**What a step truth from its speed is worth.** Walking the shortest ways between {routes["pairs"]:.0f} pairs of cells of
antmaze-medium, without noise and from standing to arriving, it arrived in {routes["arrived"]:.1%} of the cases at
{routes["speed"]:.3f} units per step. The steps of a single walk differ from length of way over that speed by
{routes["spread"]:.0%} (standard deviation).
"""


def ship(path: Path, measured: dict[str, Any]) -> None:
    """Put the policy at `path` into the package, with its card."""
    walker = Walker.load(path)
    shipped = replace(walker, card=walker.card | {"measured": measured})
    shipped.save(SHIPPED)
    with atomic_write(SHIPPED.with_suffix(".md"), "w") as file:
        file.write(card_text(shipped.card))


def describe_data() -> Iterator[tuple[str, dict[str, Any]]]:
    """Make the data sets that are not in the cache yet, draw where the ants were, and say what became of them."""
    for name, task in TASKS.items():
        with counting_progress(f"making {name}") as progress:
            data = read(name, keep_actions=True, progress=progress)
        assert isinstance(task, AntTask)
        numbers = {"episodes": data.num_episodes, "states": data.num_states, "fingerprint": data.fingerprint}
        draw_visits(DOCS / f"{name.removeprefix('ogbench-')}.png", task.maze, data, name)
        yield name, {**numbers, **task.facts(data)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and ship if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ship", type=Path, help="a policy of a training to measure and then ship")
    parser.add_argument("--data", action="store_true", help="describe the data sets instead")
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1, help="for MuJoCo (default %(default)s)")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = read_json(RESULTS) if RESULTS.exists() else {}
    if options.data:
        for name, facts in describe_data():
            result.setdefault("data", {})[name] = facts
            write_json(RESULTS, result)
            print(name, facts, flush=True)
        return
    result["measured"] = measure(Walker.load(options.ship), options.episodes, options.threads)
    if options.ship is not None:
        ship(options.ship, result["measured"])
        result["curve"] = read_json(options.ship.parent / "curve.json")
    write_json(RESULTS, result)
    print(card_text(Walker.load().card | {"measured": result["measured"]}))


if __name__ == "__main__":
    main()
