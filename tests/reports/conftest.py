"""Real, tiny trainings for the tests of reports: made once, copied by the tests that change them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from minaction.training._run import RunConfig, RunDirectory
from minaction.training._session import Session

SMALL = {"stages": "32,16", "batch_size": "32", "constraint_batch_size": "32"}
MAZE = "ogbench-pointmaze-medium-stitch"


def train(
    folder: Path, data: str, objective: str, seeds: tuple[int, ...], steps: int, episodes: int | None = None
) -> Path:
    settings = {name: value for name, value in SMALL.items() if objective == "maddist" or name == "stages"}
    config = RunConfig(data, objective, settings, steps, seeds, evaluations=8, episodes=episodes)
    Session(RunDirectory.create(folder, config)).train(lambda step, note: None)
    return folder


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: two methods on CliffWalking with two seeds each, and one on a maze."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("session-cache")))
        train(folder / "cliff-maddist", "cliffwalking", "maddist", (0, 1), 240)
        train(folder / "cliff-tautdist", "cliffwalking", "tautdist", (0, 1), 240)
        train(folder / "maze-maddist", MAZE, "maddist", (0,), 16, episodes=20)
    return folder


@pytest.fixture
def runs(trained: Path, tmp_path: Path) -> Path:
    """Those runs, to be changed at will."""
    return Path(shutil.copytree(trained, tmp_path / "runs"))


@pytest.fixture(scope="session")
def store(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same trainings as the store of a suite: two methods, an ablation of two values, and planning in the maze."""
    path = tmp_path_factory.mktemp("suites") / "small"
    write(path / "suite.json", {"format": 1, "version": "0.1.0", "name": "small"})
    for method in ("maddist", "tautdist"):
        for seed in (0, 1):
            add_cell(path, trained / f"cliff-{method}", seed, "cliffwalking", method)
    for value, run in ((128, "cliff-tautdist"), (16, "cliff-maddist")):
        for seed in (0, 1):
            study = {"name": "latent-dimension", "parameter": "latent", "value": value}
            add_cell(path, trained / run, seed, "cliffwalking", f"maddist-latent-{value}", study)
    maze = add_cell(path, trained / "maze-maddist", 0, MAZE, "maddist")
    for kind, reached in (("learned", 30), ("truth", 50), ("euclidean", 10)):
        write(maze / f"planning-{kind}.json", {"0": planning(reached)})
    return path


def add_cell(store: Path, run: Path, seed: int, task: str, method: str, ablation: dict | None = None) -> Path:
    """One seed of a run as a cell."""
    config, results = (json.loads((run / name).read_text()) for name in ("config.json", "results.json"))
    cell, place = store / "cells" / task / method / f"seed-{seed}", config["seeds"].index(seed)
    keys = ("objective", "settings", "steps", "episodes")
    described = {"task": task, "method": method, "seed": seed, "ablation": ablation}
    write(cell / "config.json", {**described, **{key: config[key] for key in keys}})
    lines = [line for line in (run / "metrics.jsonl").read_text().splitlines() if json.loads(line)["seed"] == seed]
    (cell / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    shutil.copy(run / f"seed-{seed}.safetensors", cell / "model.safetensors")
    own = {key: results[key][place] for key in ("agreement", "by_range")}
    write(cell / "results.json", {**own, "seconds": 1.0, "steps_per_second": 10.0, "device": "cpu", "version": "0.1.0"})
    return cell


def planning(successes: int) -> dict[str, Any]:
    """As `minaction plan` writes it for one seed: fifty episodes over five pairs."""

    def part(task: int, episodes: int, successes: int) -> dict[str, Any]:
        rate = {"success_rate": successes / episodes, "interval": [0.0, 1.0], "mean_steps": 90.0, "path_ratio": 1.25}
        return {"task": task, "episodes": episodes, "successes": successes, **rate}

    tasks = [part(k, 10, successes // 5) for k in range(1, 6)]
    return {"maze": "medium", "seed": 0, "settings": {}, "total": part(0, 50, successes), "tasks": tasks}


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
