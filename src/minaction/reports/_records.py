"""What was measured, one record per task, method and seed, from run folders and from the stores of suites alike.

::

    RUN/                                a folder that `minaction train` made, with several seeds
    STORE/suite.json                    a folder that `minaction suite` made
    STORE/cells/TASK/METHOD/seed-0/     config.json  metrics.jsonl  model.safetensors  results.json
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from .._files import read_json
from ..errors import InputError
from ..objectives import PRESETS
from ..suite._cells import Ablation
from ..suite._store import FORMAT
from ..tasks import all_tasks
from ..training._run import RunDirectory

Agreements = Mapping[str, Mapping[str, float | None]]
"""For every truth its measures by name; None where a measure has no value."""


@dataclass(frozen=True)
class Record:
    """One training: what was asked for, how it went, and where its model is."""

    task: str
    method: str
    objective: str
    seed: int
    steps: int
    folder: Path
    origin: str
    """The name of the run or of the suite, to tell equal methods of several apart."""
    curve: tuple[tuple[int, Agreements], ...]
    """The agreement at every evaluation, by step."""
    final: Agreements
    model: Path | None
    """Where the model is, or None while training is not finished."""
    episodes: int | None = None
    ablation: Ablation | None = None
    seconds: float | None = None
    device: str = ""
    by_range: Mapping[str, Sequence[Mapping[str, float | None]]] = field(default_factory=dict)
    """For every truth its measures apart for each range of true distance, from `low` to `high`."""
    planning: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the distance that was followed (learned, truth, ...): what `minaction plan` wrote for this seed."""

    @property
    def last_step(self) -> int:
        """The step of the last evaluation."""
        return self.curve[-1][0]


@dataclass(frozen=True)
class Records:
    """Everything that was read, and what a reader has to be told about it."""

    records: tuple[Record, ...]
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> tuple[Record, ...]:
        """Those that are not part of an ablation."""
        return tuple(record for record in self.records if record.ablation is None)

    @property
    def ablations(self) -> tuple[Record, ...]:
        """Those that are."""
        return tuple(record for record in self.records if record.ablation is not None)


def read_records(paths: Sequence[str | Path]) -> Records:
    """Every record in the given run folders, stores of suites, and folders that hold run folders."""
    by_folder: dict[Path, list[Record]] = {}  # a folder that was given twice counts once
    for folder, read in (found for path in paths for found in _folders(Path(path))):
        by_folder[folder.resolve()] = list(read())
    found = [record for records in by_folder.values() for record in records]
    kept = [record for record in found if record.final or record.model]
    if not kept:
        where = ", ".join(map(str, paths))
        raise InputError(
            f"Nothing was measured yet in {where}; give folders that `minaction train` or `minaction suite` made."
        )
    return Records(
        tuple(sorted(_told_apart(kept), key=_reading_order)), tuple(note for record in found if (note := _note(record)))
    )


def _folders(path: Path) -> Iterator[tuple[Path, Callable[[], Iterator[Record]]]]:
    """The folders of runs and cells at or below `path`, each with the function that reads it."""
    if (path / "suite.json").is_file():
        _check_store(path)
        for config in sorted((path / "cells").rglob("config.json")):
            yield config.parent, partial(_read_cell, config.parent, path.resolve().name)
        return
    runs = [path] if (path / "config.json").is_file() else sorted(one.parent for one in path.glob("*/config.json"))
    if not runs:
        what = "is not a run or a suite of minaction" if path.is_dir() else "is not a folder"
        raise InputError(f"{path} {what}; give folders that `minaction train` or `minaction suite` made.")
    yield from ((run, partial(_read_run, run)) for run in runs)


def _check_store(path: Path) -> None:
    about = read_json(path / "suite.json")
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        version = about.get("version", "unknown") if isinstance(about, dict) else "unknown"
        raise InputError(f"{path} is a suite of another version of minaction ({version}); use that version to report.")


def _read_run(folder: Path) -> Iterator[Record]:
    """A record for every seed of a run."""
    run = RunDirectory.open(folder)
    config, lines = run.config, _metrics(folder)
    results = run.results() if run.finished else {}
    changed = ", ".join(f"{name}={value}" for name, value in config.settings.items())
    for place, seed in enumerate(config.seeds):
        curve = _curve(line for line in lines if line["seed"] == seed)
        final = results["agreement"][place] if results else _last(curve)
        yield Record(
            task=config.data,
            method=f"{config.objective} ({changed})" if changed else config.objective,
            objective=config.objective,
            seed=seed,
            steps=config.steps,
            folder=folder,
            origin=folder.resolve().name,
            curve=curve or ((config.steps, final),),
            final=final,
            model=run.model_path(seed) if results else None,
            seconds=results.get("seconds"),
            device=results.get("device", ""),
            episodes=config.episodes,
            by_range=results["by_range"][place] if "by_range" in results else {},
            planning=_planning(folder, seed),
        )


def _read_cell(folder: Path, store: str) -> Iterator[Record]:
    """The one record of a cell of a suite."""
    config, curve = read_json(folder / "config.json"), _curve(_metrics(folder))
    results = read_json(folder / "results.json") if (folder / "results.json").exists() else {}
    try:
        final = results["agreement"] if results else _last(curve)
        yield Record(
            task=config["task"],
            method=config["method"],
            objective=config["objective"],
            seed=config["seed"],
            steps=config["steps"],
            folder=folder,
            origin=store,
            curve=curve or ((config["steps"], final),),
            final=final,
            model=folder / "model.safetensors" if results else None,
            episodes=config["episodes"],
            ablation=Ablation(**config["ablation"]) if config["ablation"] else None,
            seconds=results.get("seconds"),
            device=results.get("device", ""),
            by_range=results.get("by_range", {}),
            planning=_planning(folder, config["seed"]),
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder} is not a cell of this version's suites ({error}); run the suite again.") from error


def _metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; one that breaks off is refused, because what follows it may be missing too."""
    path = folder / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            rows.append({name: row[name] for name in ("step", "seed", "agreement")})
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"Line {number} of {path} is not a measurement of minaction, or it is truncated; train again, "
                "or leave this folder out."
            ) from None
    return rows


def _curve(lines: Iterable[Mapping[str, Any]]) -> tuple[tuple[int, Agreements], ...]:
    return tuple((line["step"], line["agreement"]) for line in lines)


def _last(curve: Sequence[tuple[int, Agreements]]) -> Agreements:
    return curve[-1][1] if curve else {}


def _planning(folder: Path, seed: int) -> dict[str, Any]:
    """What `minaction plan` left: controls do not depend on the model and are written once, under seed 0."""
    found = {}
    for path in sorted(folder.glob("planning-*.json")):
        kind, by_seed = path.stem.removeprefix("planning-"), read_json(path)
        key = str(seed) if kind == "learned" else "0"
        # A goal of a person's own, numbered 0, says nothing beside the pairs that everybody is judged on.
        if key in by_seed and all(pair["task"] for pair in by_seed[key]["tasks"]):
            found[kind] = by_seed[key]
    return found


def _told_apart(records: Sequence[Record]) -> Iterator[Record]:
    """The records, those that would be taken for one another with their origin's name behind the method's."""
    keys = Counter((record.task, record.method, record.seed) for record in records)
    ambiguous = {(task, method) for (task, method, _), count in keys.items() if count > 1}
    for record in records:
        same = (record.task, record.method) in ambiguous
        yield replace(record, method=f"{record.method} [{record.origin}]") if same else record


def _reading_order(record: Record) -> tuple[int, str, int, str, int]:
    """Tasks and methods in the order in which they are listed everywhere, a person's own behind them."""
    tasks, methods = list(all_tasks()), list(PRESETS)
    task = tasks.index(record.task) if record.task in tasks else len(tasks)
    method = methods.index(record.objective) if record.objective in methods else len(methods)
    return task, record.task, method, record.method, record.seed


def _note(record: Record) -> str:
    """What a reader has to be told about this record, if anything."""
    where = f"{record.method} on {record.task}, seed {record.seed}"
    if record.model is None and record.final:
        return f"{where}, is not finished: it stands at step {record.last_step:,} of {record.steps:,}."
    if record.model is None:
        return f"{where}, was left out: nothing was measured yet."
    return "" if record.final else f"{where}: no truth is known for its data, so there is nothing to compare with."
