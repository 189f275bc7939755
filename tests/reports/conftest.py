"""Real, tiny trainings for the tests of reports: made once, copied by the tests that change them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from minaction.training import Ablation, Run, RunConfig, Training
from minaction.training import train as train_runs

SMALL = {"encoder.hidden": "32", "encoder.latent": "16"}
SMALL_BATCHES = {"batch_size": "32", "constraint_batch_size": "32"}
MAZE = "ogbench-pointmaze-medium-stitch"


def train(
    folder: Path, data: str, objective: str, seeds: tuple[int, ...], steps: int, episodes: int | None = None
) -> Path:
    settings = {**SMALL, **(SMALL_BATCHES if objective == "maddist" else {})}
    config = RunConfig(data, objective, settings, steps, seeds, evaluations=8, episodes=episodes)
    for _ in train_runs([Training.of(Run.create(folder, config))]):
        pass
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
def suite(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same trainings as a suite: two methods, an ablation of two values, and planning in the maze."""
    path = tmp_path_factory.mktemp("suites") / "small"
    write(path / "suite.json", {"format": 2, "version": "0.2.0", "name": "small"})
    for method in ("maddist", "tautdist"):
        for seed in (0, 1):
            add_run(path, trained / f"cliff-{method}", seed, method)
    for value, run in ((128, "cliff-tautdist"), (16, "cliff-maddist")):
        for seed in (0, 1):
            study = Ablation("latent-dimension", "latent", value)
            add_run(path, trained / run, seed, f"maddist-latent-{value}", study)
    maze = add_run(path, trained / "maze-maddist", 0, "maddist")
    for kind, reached in (("learned", 30), ("truth", 50), ("euclidean", 10)):
        write(maze / f"planning-{kind}.json", {"0": planning(reached)})
    return path


def add_run(suite: Path, run: Path, seed: int, method: str, ablation: Ablation | None = None) -> Path:
    """One seed of a run as a run of its own."""
    given = Run.open(run)
    config = replace(given.config, seeds=(seed,), method=method, ablation=ablation)
    made = Run.create(suite / config.data / method / f"seed-{seed}", config)
    rows = [row for row in given.metrics if row.seed == seed]
    for step in sorted({row.step for row in rows}):
        made.log([row for row in rows if row.step == step], step=step)
    shutil.copy(given.model_path(seed), made.model_path(seed))
    results = given.results
    made.finish(replace(results, evaluations=[*results.of(seed), *results.by_range(seed)], device="cpu"))
    return made.path


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


@pytest.fixture
def change_config() -> Callable[..., None]:
    """Write the config of a run anew, with some fields set otherwise."""

    def change(run: Path, **values: Any) -> None:
        write(run / "config.json", {**asdict(Run.open(run).config), **values})

    return change
