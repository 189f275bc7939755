"""`minaction agent`: train agents from recordings with actions, and evaluate them by OGBench's protocol."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from .._files import write_json
from .._load import load
from .._model import DistanceModel
from .._progress import counting_progress
from ..agents import Agent, AgentEvaluation, evaluate_agent, fit_agent, write_film
from ..agents._actions import Actions
from ..errors import InputError
from ..tasks import read
from ..training import fit
from ..trajectories import Trajectories
from . import _options as options
from ._show import make_console

_EPISODES = 50  # of each task, as OGBench has it


def agent(chosen: options.Agent) -> int:
    """Carry the command out."""
    return _train(chosen) if chosen.action == "train" else _evaluate(chosen)


def _train(chosen: options.Agent) -> int:
    console = make_console()
    if chosen.seeds < 1 or chosen.first_seed < 0:
        raise InputError("Training takes at least one seed, from 0 on.")
    out = chosen.out or Path("agents") / Path(chosen.source).stem
    with counting_progress(f"reading {chosen.source}") as progress:
        data = read(chosen.source, keep_actions=True, episodes=chosen.episodes, progress=progress)
    Actions.of(data)  # refuses data without actions before anything is trained
    began = time.monotonic()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    for seed, model in zip(seeds, _models(chosen, data, seeds), strict=True):
        path = out / f"agent-seed{seed}.safetensors"
        fit_agent(data, model, steps=chosen.steps, seed=seed).save(path)
        console.print(f"wrote {path}, {time.monotonic() - began:.0f} s after the data was read", highlight=False)
    return 0


def _models(chosen: options.Agent, data: Trajectories, seeds: range) -> list[DistanceModel]:
    if chosen.model is not None:
        return [load(chosen.model)] * len(seeds)
    return fit(data, seeds=seeds, name=chosen.source, held_out=0.0)


def _evaluate(chosen: options.Agent) -> int:
    if not chosen.environment:
        raise InputError("`minaction agent evaluate` needs an environment of OGBench, such as pointmaze-medium-v0.")
    console, source = make_console(), Path(chosen.source)
    files = sorted(source.glob("agent-seed*.safetensors")) if source.is_dir() else [source]
    if not files:
        raise InputError(f"There is no agent in {source}; `minaction agent train` writes some.")
    results: dict[str, AgentEvaluation] = {}
    for path in files:
        with counting_progress(f"evaluating {path.name}") as progress:
            results[path.stem] = evaluate_agent(
                Agent.load(path),
                chosen.environment,
                tasks=chosen.tasks,
                episodes=_EPISODES if chosen.episodes is None else chosen.episodes,
                seed=chosen.first_seed,
                workers=chosen.jobs,
                progress=progress,
            )
    folder = source if source.is_dir() else source.parent
    numbers = folder / f"evaluation-{chosen.environment}.json"
    write_json(numbers, {name: result.as_dict() for name, result in results.items()})
    _show(console, results, chosen.environment)
    console.print(f"wrote {numbers}", highlight=False)
    if chosen.gif is not None:
        write_film(chosen.gif, Agent.load(files[0]), chosen.environment, chosen.tasks, chosen.first_seed)
        console.print(f"wrote {chosen.gif}", highlight=False)
    return 0


def _show(console: Console, results: dict[str, AgentEvaluation], environment: str) -> None:
    table = Table(title=f"Goals reached in {environment}", title_justify="left", caption_justify="left")
    table.caption = "95%: Wilson's interval. Steps and their median ratio to the least possible: of goals reached."
    for name in ("agent", "task", "episodes", "success", "95%", "steps", "of least", "failures"):
        table.add_column(name, justify="left" if name == "failures" else "right")
    for name, result in results.items():
        for one in (*result.tasks, result.total):
            low, high = one.interval
            shown = [f"{value:.{digits}f}" for value, digits in ((one.mean_steps, 0), (one.of_least, 2))]
            table.add_row(
                name,
                str(one.task or "all"),
                str(one.episodes),
                f"{one.success_rate:.3f}",
                f"{low:.3f} to {high:.3f}",
                *("–" if np.isnan(float(text)) else text for text in shown),
                ", ".join(f"{count} {what}" for what, count in one.failures.items()),
                end_section=one is result.total,
            )
    console.print(table)
