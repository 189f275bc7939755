"""`Trial`: one seed of one run, as reports see it; read from run folders, whether `train` or `suite` made them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .._files import read_json
from ..errors import InputError
from ..evaluation import Evaluation
from ..objectives import OBJECTIVES
from ..tasks import TASKS
from ..training._run import Ablation, Run, is_run

_MADE_BY = "give folders that `minaction train` or `minaction suite` made"


@dataclass(frozen=True)
class PlanningSummary:
    """What came of the episodes of one start-goal pair, or of all (task 0)."""

    task: int
    episodes: int
    successes: int
    success_rate: float
    path_ratio: float | None = None
    mean_steps: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Planning:
    """What `minaction plan` wrote for one seed: together and by start-goal pair."""

    total: PlanningSummary
    tasks: list[PlanningSummary]


@dataclass(frozen=True)
class Trial:
    """One seed of one run: what was asked for, how training went, and where the model is."""

    task: str
    """The data it was trained on: a task's name or the path of a file."""
    method: str
    """What the method is called in tables and charts."""
    objective: str
    seed: int
    steps: int
    """How many steps were asked for."""
    last_step: int
    """The step of the last measurement."""
    folder: Path
    """The run it belongs to."""
    evaluations: tuple[Evaluation, ...]
    """The learning curve: every overall evaluation, in the order of the steps."""
    final: tuple[Evaluation, ...]
    """The last overall evaluation against every truth, the most important truth first."""
    by_range: tuple[Evaluation, ...] = ()
    """The last evaluation by range of true distance, truth by truth."""
    model: Path | None = None
    """Where the model is; None while training is not finished."""
    episodes: int | None = None
    ablation: Ablation | None = None
    failure: str = ""
    """Why it could not be trained, if so."""
    device: str = ""
    planning: Mapping[str, Planning] = field(default_factory=dict)
    """By the distance that the planner followed: learned, truth, euclidean or untrained."""


@dataclass(frozen=True)
class Trials:
    """Everything that was read, and what a reader has to be told about it."""

    trials: tuple[Trial, ...]
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> tuple[Trial, ...]:
        """The trials that are not part of an ablation."""
        return tuple(trial for trial in self.trials if trial.ablation is None)

    @property
    def ablations(self) -> tuple[Trial, ...]:
        """The trials that are part of an ablation."""
        return tuple(trial for trial in self.trials if trial.ablation is not None)


def read_trials(paths: Sequence[str | Path]) -> Trials:
    """The trials of every run at or below the given folders.

    A run that cannot be read, failed or is not finished becomes a note. It is an error if nothing can be reported.
    """
    folders: dict[Path, Path] = {}  # by resolved path: a run that is given twice counts once
    for path in map(Path, paths):
        found = list(_run_folders(path))
        if not found:
            what = "is not a run or a suite of minaction" if path.is_dir() else "is not a folder"
            raise InputError(f"{path} {what}; {_MADE_BY}.")
        folders |= {folder.resolve(): folder for folder in found}
    trials: list[Trial] = []
    broken: list[str] = []
    for folder in folders.values():
        try:
            trials += _read_run(folder)
        except InputError as error:
            broken.append(f"{folder} is left out: {error}")
    kept = [trial for trial in trials if trial.final or trial.model]
    if not kept:
        if broken:
            raise InputError(broken[0])
        where = ", ".join(map(str, paths))
        raise InputError(f"Nothing has been measured yet in {where}; {_MADE_BY}, once they have got further.")
    notes = [note for trial in trials if (note := _note(trial))]
    return Trials(tuple(sorted(_with_distinct_methods(kept), key=_reading_order)), (*broken, *notes))


def _run_folders(path: Path) -> Iterator[Path]:
    """The run folders at or below `path`, broken ones included; links are followed, hidden folders are not entered."""
    seen = set()
    for name, below, files in os.walk(path, followlinks=True):
        folder, real = Path(name), os.path.realpath(name)
        measured = "config.json" in files and {"metrics.jsonl", "results.json"} & set(files)
        if real not in seen and (measured or is_run(folder)):
            yield folder
            below.clear()
        else:
            below[:] = [] if real in seen else sorted(one for one in below if not one.startswith("."))
        seen.add(real)


def _read_run(folder: Path) -> list[Trial]:
    """A trial for every seed of a run."""
    if not is_run(folder):
        raise InputError("its config.json does not describe a run of this version of minaction; train it again.")
    run = Run.open(folder)
    config, measured, failure = run.config, run.metrics, run.failure
    results = run.results if run.finished else None
    trials = []
    for seed in config.seeds:
        rows = [row for row in measured if row.seed == seed]
        curve = tuple(one for row in rows for one in row.evaluations)
        last = tuple(rows[-1].evaluations) if rows else ()
        final = tuple(results.of(seed)) if results else last
        trials.append(
            Trial(
                task=config.data,
                method=config.label,
                objective=config.objective,
                seed=seed,
                steps=config.steps,
                last_step=rows[-1].step if rows else config.steps if results else 0,
                folder=folder,
                evaluations=curve or final,
                final=final,
                by_range=tuple(results.by_range(seed)) if results else (),
                model=run.model_path(seed) if results else None,
                episodes=config.episodes,
                ablation=config.ablation,
                failure=failure.error if failure else "",
                device=results.device if results else "",
                planning=_planning(folder, seed),
            )
        )
    return trials


def _planning(folder: Path, seed: int) -> dict[str, Planning]:
    """What `minaction plan` left. Controls do not depend on the model and are written once, under seed 0."""
    found = {}
    for path in sorted(folder.glob("planning-*.json")):
        by_seed: dict[str, Planning] = read_json(path, dict[str, Planning])
        kind = path.stem.removeprefix("planning-")
        planning = by_seed.get(str(seed) if kind == "learned" else "0")
        # A goal of a person's own is numbered 0, and cannot be compared with the pairs on which everyone is judged.
        if planning is not None and all(pair.task for pair in planning.tasks):
            found[kind] = planning
    return found


def _with_distinct_methods(trials: Sequence[Trial]) -> list[Trial]:
    """The trials; where several have the same task, method and seed, the method's name gets their origin behind it."""
    origins = [_origin(trial.folder) for trial in trials]
    for names in (
        [origin.name for origin in origins],
        list(map(str, origins)),
    ):  # the path where the name is not enough
        keys = Counter((trial.task, trial.method, trial.seed) for trial in trials)
        ambiguous = {(task, method) for (task, method, _), count in keys.items() if count > 1}
        trials = [
            replace(trial, method=f"{trial.method} [{name}]") if (trial.task, trial.method) in ambiguous else trial
            for trial, name in zip(trials, names, strict=True)
        ]
    return list(trials)


def _origin(folder: Path) -> Path:
    """The suite that a run belongs to, or the run itself."""
    folder = folder.resolve()
    return next((above for above in folder.parents if (above / "suite.json").is_file()), folder)


def _reading_order(trial: Trial) -> tuple[int, str, int, str, int]:
    """Tasks and methods in the order in which they are listed everywhere, a person's own data behind them."""
    tasks, objectives = list(TASKS), list(OBJECTIVES)
    task = tasks.index(trial.task) if trial.task in tasks else len(tasks)
    objective = objectives.index(trial.objective) if trial.objective in objectives else len(objectives)
    return task, trial.task, objective, trial.method, trial.seed


def _note(trial: Trial) -> str:
    """What a reader has to be told about this trial, if anything."""
    which = f"{trial.method} on {trial.task}, seed {trial.seed}"
    at = f"at step {trial.last_step:,} of {trial.steps:,}"
    if trial.model is None and trial.failure:
        why = trial.failure.strip().splitlines()[0]
        return f"{which}, failed {at}: {why}" if trial.final else f"{which}, is left out because it failed: {why}"
    if trial.model is None:
        return (
            f"{which}, is not finished: it is {at}."
            if trial.final
            else f"{which}, is left out: nothing is measured yet."
        )
    return "" if trial.final else f"{which}: no truth is known for its data, so there is nothing to compare it with."
