"""Agents, what others do and ablations on OGBench's mazes, trained and evaluated side by side.

    python reproductions/agents.py record recordings ogbench-antmaze-medium-navigate --states 500000
    python reproductions/agents.py train agents ogbench-pointmaze-medium-stitch ogbench-antmaze-medium-navigate \\
        --data recordings
    python reproductions/agents.py evaluate agents --out reproductions/results/agents.json
    python reproductions/agents.py table reproductions/results/agents.json

`record` lets ants walk on all cores. `train` leaves, for every data set, agents of three seeds, of those named after
`--gcbc` goal-conditioned behaviour cloning, after `--qrl` QRL with an actor, and after `--ablate` the agents with one
part changed; the seeds of a method are trained side by side and share one distance. `--data` is a folder with
recordings NAME.safetensors, for which it waits; without it they are made. `evaluate` plays episodes of all agents in
turn, so that what is there when it ends is spread evenly, until the file DONE is in the folder and everything is
played. Several processes may train meanwhile, each of which takes the next job that nobody has taken.
"""

from __future__ import annotations

import argparse
import heapq
import json
import multiprocessing
import os
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np

# ------------------------------------------------------------------------------------------------ recording

_EPISODES_AT_ONCE = 20


def record(folder: Path, names: list[str], given: argparse.Namespace) -> None:
    """Recordings of about so many states each, the episodes that `minaction.read` would begin with."""
    import minaction as ma
    from minaction.mazes._ant_recipes import ANT_RECIPES

    folder.mkdir(parents=True, exist_ok=True)
    began, running = time.monotonic(), {}
    with ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn")) as pool:
        for name in names:  # all at once, so that no core waits for the last episodes of a data set
            recipe = ANT_RECIPES[name]
            episodes = min(recipe.published_episodes, -(-given.states // recipe.length))
            begins = range(0, episodes, _EPISODES_AT_ONCE)
            blocks = [np.arange(begin, min(begin + _EPISODES_AT_ONCE, episodes)) for begin in begins]
            running[name] = pool.map(roll_out, [name] * len(blocks), blocks)
        for name in names:
            parts = list(running.pop(name))
            states, actions = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
            offsets = np.arange(len(states) + 1) * states.shape[1]
            flat = (array.reshape(-1, array.shape[-1]) for array in (states, actions))
            ma.Trajectories.from_flat(next(flat), offsets, actions=next(flat)).save(folder / f"{name}.safetensors")
            print(name, "recorded", len(states), "episodes after", round(time.monotonic() - began, 1), flush=True)


def roll_out(name: str, episodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States and actions of some episodes."""
    from minaction.mazes._ant import Ants, maze_model
    from minaction.mazes._ant_recipes import ANT_RECIPES
    from minaction.mazes._walker import Walker

    recipe = ANT_RECIPES[name]
    found = recipe.roll_out(Ants(maze_model(recipe.maze), len(episodes)), Walker.load(), 0, episodes)
    return found[0].astype(np.float32), found[1].astype(np.float32)


# ------------------------------------------------------------------------------------------------ training


def train(root: Path, names: list[str], given: argparse.Namespace) -> None:
    """Carry out what nobody has taken yet and has what it needs: agents, then what they are compared with."""
    compared = {"shortest": given.shortest, "qrl": given.qrl, "gcbc": given.gcbc, "ablations": given.ablate}
    left = [
        (kind, name)
        for name in names
        for kind in (given.label, *compared)
        if kind not in compared or name in compared[kind]
    ]
    while left:
        job = next((one for one in left if ready(root, *one, given)), None)
        if job is None:
            time.sleep(0.5)
            continue
        left.remove(job)
        try:
            (root / "taken" / "-".join(job)).mkdir(parents=True)
        except FileExistsError:
            continue
        train_one(*job, root / job[1], given)


def ready(root: Path, kind: str, name: str, given: argparse.Namespace) -> bool:
    """Whether the recording is there, and the distance or the agents where they are needed."""
    made = given.data is None or "pointmaze" in name or (given.data / f"{name}.safetensors").exists()
    agents = f"{given.label}-seed{given.seeds - 1}.safetensors"
    needed = {"gcbc": "distance.safetensors", "ablations": agents, "shortest": agents}
    return made and (kind not in needed or (root / name / needed[kind]).exists())


def train_one(kind: str, name: str, folder: Path, given: argparse.Namespace) -> None:
    """Agents of one kind on one data set, and how long each part took."""
    from agent_ablations import VARIANTS, on_shortest_ways, vary

    import minaction as ma
    from minaction.agents import fit_gcbc, fit_qrl_actor

    took, began = {}, time.monotonic()

    def lap(what: str) -> None:
        nonlocal began
        took[what], began = round(time.monotonic() - began, 1), time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"took-{kind}.json").write_text(json.dumps({"states": data.num_states, "seconds": took}) + "\n")
        print(name, kind, what, took[what], flush=True)

    path = None if given.data is None else given.data / f"{name}.safetensors"
    data = ma.Trajectories.load(path) if path is not None and path.exists() else ma.read(name, keep_actions=True)
    lap("data")
    goal_inputs = ma.get_task(name).goal_inputs
    told: dict[str, Any] = {"seeds": list(range(given.seeds)), "goal_inputs": goal_inputs, "progress": False}
    settings = {"steps": given.steps, **json.loads(given.settings)}
    if kind == "gcbc":
        save(
            folder,
            kind,
            fit_gcbc(data, ma.DistanceModel.load(folder / "distance.safetensors"), **told, steps=given.steps),
        )
    elif kind == "qrl":
        save(folder, kind, fit_qrl_actor(data, **told, steps=given.other_steps))
    elif kind == "shortest":
        agents = [ma.Agent.load(folder / f"{given.label}-seed{seed}.safetensors") for seed in told["seeds"]]
        save(folder, kind, [on_shortest_ways(agent, data.states) for agent in agents])
    elif kind == "ablations":
        others = {}
        for objective in ("maddist", "qrl"):
            others[objective] = ma.fit(data, objective, steps=given.other_steps, held_out=0.0, progress=False)
            lap(objective)
        agents = [ma.Agent.load(folder / f"{given.label}-seed{seed}.safetensors") for seed in told["seeds"]]
        for variant in VARIANTS:
            save(folder, variant, vary(agents, variant, others))
    else:
        if not (folder / "distance.safetensors").exists():
            model = ma.fit(data, steps=given.model_steps, name=name, held_out=0.0, progress=False)
            model.save(folder / "distance.safetensors")
            lap("distance")
        model = ma.DistanceModel.load(folder / "distance.safetensors")
        save(folder, kind, ma.fit_agent(data, model, **told, **settings))
    lap("agents")


def save(folder: Path, method: str, agents: list[Any]) -> None:
    """Write agents so that a reader finds them whole."""
    for seed, agent in enumerate(agents):
        agent.save(folder / f"{method}-seed{seed}.safetensors")


# ------------------------------------------------------------------------------------------------ evaluation

_worlds: dict[str, Any] = {}
_agents: dict[str, Any] = {}


def play(job: tuple[str, str, int, int]) -> tuple[Any, float]:
    """One episode, and the least steps that it could have taken."""
    from agent_ablations import load

    from minaction.agents._evaluation import _least_steps, make_environment, run_episode

    file, environment, task, number = job
    if environment not in _worlds:
        _worlds[environment] = make_environment(environment)
    if file not in _agents:
        if len(_agents) > 200:
            _agents.clear()
        _agents[file] = load(Path(file))
    seed = int(np.random.SeedSequence([0, task, number]).generate_state(1)[0])  # as `minaction agent evaluate` has it
    found = run_episode(_agents[file], _worlds[environment], task, seed)
    return found, float(_least_steps(environment, [found])[0])


def evaluate(root: Path, given: argparse.Namespace) -> None:
    """Play the episodes of all agents in `root`, the first of each before the second of any."""
    began, written = time.monotonic(), time.monotonic()
    queue: list[tuple[Any, ...]] = []
    known: set[Path] = set()
    playing: dict[Any, tuple[str, str, int]] = {}
    results: dict[tuple[str, str, int], list[Any]] = {}
    os.environ.update(JAX_PLATFORMS="cpu", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    with ProcessPoolExecutor(given.workers, multiprocessing.get_context("spawn")) as pool:
        while True:
            over = time.monotonic() - began > given.seconds
            done = (root / "DONE").exists()
            for path in sorted(root.glob("*/*-seed*.safetensors")):
                if path not in known:
                    known.add(path)
                    for item in jobs_of(path, given):
                        heapq.heappush(queue, item)
            while queue and len(playing) < 2 * given.workers and not over:
                *_, key, job = heapq.heappop(queue)
                playing[pool.submit(play, job)] = key
            if not playing and (over or (done and not queue)):
                break
            finished, _ = wait(list(playing), timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                results.setdefault(playing.pop(future), []).append(future.result())
            if not playing:
                time.sleep(0.2)
            if time.monotonic() - written > 15:
                write(given.out, root, results)
                written = time.monotonic()
    write(given.out, root, results)


def jobs_of(path: Path, given: argparse.Namespace) -> list[tuple[Any, ...]]:
    """The episodes of an agent, with how urgent each is: the first ten of each task in any agent's turn come early."""
    name, (method, _, seed) = path.parent.name, path.stem.partition("-seed")
    environment = f"{name.removeprefix('ogbench-').rsplit('-', 1)[0]}-v0"
    key, rank = (name, method, int(seed)), int(method != "agent")
    return [
        (rank + number // 10, number, name, method, int(seed), task, key, (str(path), environment, task, number))
        for number in range(given.other_episodes if rank else given.episodes)
        for task in range(1, 6)
    ]


def write(out: Path, root: Path, results: dict[tuple[str, str, int], list[Any]]) -> None:
    """All results so far, one line for each agent."""
    from minaction._files import write_json
    from minaction.agents._evaluation import _plain, _together

    lines = []
    for (name, method, seed), played in sorted(results.items()):
        episodes, least = [one for one, _ in played], np.array([each for _, each in played])
        tasks = [_plain(_together(task, episodes, least)) for task in sorted({one.task for one in episodes})]
        total = _plain(_together(0, episodes, least))
        lines.append({"data": name, "method": method, "seed": seed, "total": total, "tasks": tasks})
    took = {str(path.relative_to(root)): json.loads(path.read_text()) for path in sorted(root.glob("*/took-*.json"))}
    write_json(out, {"training": took, "results": lines})


# ------------------------------------------------------------------------------------------------ reading


def table(path: Path) -> None:
    """Print the results as Markdown: success over all seeds with the least and the greatest, and the failures."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in json.loads(path.read_text())["results"]:
        found.setdefault((line["method"], line["data"].removeprefix("ogbench-")), []).append(line["total"])
    print("| method | data | success | seeds | episodes | of the least steps | failures |\n" + "| --- " * 7 + "|")
    for (method, name), seeds in sorted(found.items()):
        count = sum(one["episodes"] for one in seeds)
        reached = sum(one["successes"] for one in seeds)
        rates = [f"{100 * one['success_rate']:.0f}" for one in seeds]
        ratios = [one["of_least"] for one in seeds if one["of_least"] is not None]
        failures: dict[str, int] = {}
        for one in seeds:
            for what, many in one["failures"].items():
                failures[what] = failures.get(what, 0) + many
        words = ", ".join(f"{many} {what}" for what, many in failures.items()) or "none"
        longer = f"{np.mean(ratios):.2f}" if ratios else "–"
        shown = (method, name, f"{100 * reached / count:.1f}%", " ".join(rates), count, longer, words)
        print("| " + " | ".join(map(str, shown)) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "train", "evaluate", "table"])
    parser.add_argument("root", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--states", type=int, default=300_000, help="to record of each data set")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--settings", default="{}", help="of the local policy, as JSON, where not the defaults")
    parser.add_argument("--label", default="agent", help="what agents of other settings are called")
    parser.add_argument("--model-steps", type=int)
    parser.add_argument("--other-steps", type=int, help="of MadDist, QRL and its actor")
    parser.add_argument("--gcbc", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--qrl", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--ablate", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--shortest", nargs="*", default=[], metavar="NAME", help="agents on shortest ways too")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--other-episodes", type=int, default=20)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=1e9, help="stop starting episodes after so many")
    options = parser.parse_args()
    if options.action == "table":
        table(options.root)
    elif options.action == "record":
        record(options.root, options.names, options)
    elif options.action == "train":
        train(options.root, options.names, options)
    else:
        evaluate(options.root, options)
