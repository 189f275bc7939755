"""`minaction agent`: train agents from recordings with actions, and evaluate them by OGBench's protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from .._files import write_json
from .._interrupts import interruptible
from .._load import load
from .._model import DistanceModel
from .._progress import counting_progress, training_progress
from .._remaining import check_same_kind
from ..agents import Agent, AgentEvaluation, evaluate_agent, fit_agent, fit_gcbc, fit_qrl_actor, write_film
from ..agents._actions import Actions
from ..agents._film import layout_of
from ..agents._given import checked_seeds, chosen_inputs, fitting_model, usual_inputs
from ..errors import InputError
from ..objectives import PathDist
from ..tasks import read
from ..training import Diverged, Progressed, Run, RunConfig, Training, train
from ..trajectories import Trajectories
from . import _options as options
from ._models import refuse_models, refuse_recording
from ._show import STOPPING, make_console

_EPISODES = 50  # of each task, as OGBench has it


def agent(chosen: options.Agent) -> int:
    """Carry the command out."""
    if chosen.action == "evaluate":
        return _evaluate(chosen)
    out = chosen.out or Path("agents") / Path(chosen.source).stem
    try:
        return _train(chosen, out)
    except KeyboardInterrupt:
        found = [*out.glob("*.safetensors"), *out.glob("distance/*.safetensors")]
        raise KeyboardInterrupt(f"the same command continues from what is in {out}" if found else "") from None


def _train(chosen: options.Agent, out: Path) -> int:
    console = make_console()
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    checked_seeds(seeds, chosen.steps)
    if in_the_way := [place for place in (out, *out.parents) if place.exists() and not place.is_dir()]:
        raise InputError(f"{in_the_way[0]} is a file, so that no agents can be written to {out}; choose another --out.")
    refuse_models([chosen.source])
    with counting_progress(f"reading {chosen.source}") as progress:
        data = read(chosen.source, keep_actions=True, episodes=chosen.episodes, progress=progress)
    began = time.monotonic()
    goal_inputs = chosen.goal_inputs or usual_inputs(chosen.source)
    Actions.of(data)  # refuses data without actions, and
    chosen_inputs(data, goal_inputs)  # images, or numbers that a state does not have, before anything is trained
    settings = {"steps": chosen.steps, "goal_inputs": goal_inputs}
    for several, model in _distances(chosen, data, seeds, out):
        paths = [out / f"agent-seed{seed}.safetensors" for seed in several]
        if all(path.exists() for path in paths):
            console.print(f"{paths[0]} is there already; another --out trains anew.", highlight=False, markup=False)
            continue
        told = {**settings, "seeds": several, "checkpoint": out / f"checkpoint-seed{several[0]}.safetensors"}
        if model is None:
            agents = fit_qrl_actor(data, **told)
        else:
            agents = (fit_agent if chosen.method == "roadmap" else fit_gcbc)(data, model, **told)
        for path, one in zip(paths, agents, strict=True):
            one.save(path)
            console.print(f"wrote {path}, {time.monotonic() - began:.0f} s after the data was read", highlight=False)
    return 0


def _distances(
    chosen: options.Agent, data: Trajectories, seeds: range, out: Path
) -> Iterator[tuple[list[int], DistanceModel | None]]:
    """The seeds that are trained side by side, and the distance that they share; None where the method has its own."""
    if chosen.method == "qrl":
        yield list(seeds), None
    elif chosen.model is not None:
        yield list(seeds), _fitting(chosen.model, data, chosen.source)
    else:
        for seed, model in zip(seeds, _trained_distances(chosen, data, seeds, out / "distance"), strict=True):
            yield [seed], model


def _fitting(path: Path, data: Trajectories, source: str) -> DistanceModel:
    """The model of a file or a run, refused where it learned from states of another kind."""
    refuse_recording(path)
    model = fitting_model(load(path), data)
    try:
        check_same_kind(model.columns, model.unit, data)
    except InputError as error:
        wrong, _, _ = str(error).partition(";")
        way_out = "give one that learned from it, or leave --model out"
        raise InputError(f"{path} does not fit {source}: {wrong[:1].lower()}{wrong[1:]}; {way_out}.") from None
    return model


def _trained_distances(chosen: options.Agent, data: Trajectories, seeds: range, path: Path) -> list[DistanceModel]:
    """A distance for every seed, trained in a run folder, so that an interrupted training goes on."""
    objective = PathDist()
    steps, several = objective.default_steps, tuple(seeds)
    run = Run.create(path, RunConfig(chosen.source, objective.name, {}, steps, several, 1, chosen.episodes))
    if not run.finished:
        none = [()] * len(several)
        training = Training(objective, [data] * len(several), steps, several, none, 1, chosen.source, run)
        done = max(run.checkpoints, default=0)
        with (
            training_progress(steps, done=done, label="training the distance") as show,
            interruptible(STOPPING) as interrupted,
        ):
            for event in train([training], interrupted=interrupted):
                if isinstance(event, Progressed):
                    show(event.step, f"loss {event.loss:.4f}")
                elif isinstance(event, Diverged):
                    raise event.error
    return [DistanceModel.load(run.model_path(seed)) for seed in several]


def _evaluate(chosen: options.Agent) -> int:
    if not chosen.environment:
        raise InputError("`minaction agent evaluate` needs an environment of OGBench, such as pointmaze-medium-v0.")
    if chosen.gif is not None:
        layout_of(chosen.gif, chosen.environment)  # refused before anything is played
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
