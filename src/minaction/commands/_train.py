"""`minaction train`: train, show how it goes, then a table, a figure and where the models are."""

from __future__ import annotations

import itertools
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jax

from .._progress import training_progress
from ..cli import Train
from ..errors import InputError, unknown_name
from ..objectives import PRESETS, make_objective
from ..reports._run import write_report
from ..training._run import RunConfig, RunDirectory
from ..training._session import Session, Source
from ..training._tracking import tracking
from ._show import make_console, print_agreement


def train(options: Train) -> int:
    """Carry the command out."""
    console = make_console()
    config = _config(options)
    _check_device()
    run = RunDirectory.create(
        options.out or Path("runs") / f"{Path(options.data).stem}-{options.objective}",
        config,
        overwrite=options.overwrite,
    )
    if run.finished:
        console.print(f"{run.path} is finished already; --overwrite trains anew.", highlight=False)
        print_agreement(console, run.results()["agreement"], Source(config.data, config.seeds).truths(0))
        return 0
    with ExitStack() as tools:
        try:
            with console.status(f"preparing {options.data}"):
                session = Session(run, options.devices)
                trackers = tools.enter_context(tracking(options.track, run, session.trainer.step))
        except BaseException:
            if not run.checkpoint.exists():  # nothing was trained: leave nothing behind
                shutil.rmtree(run.path)
            raise
        if session.trainer.step:
            console.print(f"going on from step {session.trainer.step:,}", highlight=False)
        label = f"{options.objective} on {options.data}" + (f", {options.seeds} seeds" if options.seeds > 1 else "")
        with training_progress(config.steps, done=session.trainer.step, label=label) as show:
            results = session.train(show, trackers)
    print_agreement(console, results["agreement"], session.source.truths(0))
    for path in write_report(run, session.source):
        console.print(f"{'report' if path.suffix == '.html' else 'figure'}  {path}", highlight=False)
    for seed in config.seeds:
        console.print(f"model   {run.model_path(seed)}", highlight=False)
    return 0


def _config(options: Train) -> RunConfig:
    if options.seeds < 1 or options.evaluations < 1 or options.steps < 1:
        raise InputError("--seeds, --steps and --evaluations must be at least 1.")
    if options.objective not in PRESETS:
        raise unknown_name("objective", options.objective, PRESETS)
    settings: dict[str, Any] = {}
    for item in itertools.chain(*options.set):
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"--set takes NAME=VALUE, but {item!r} has no '='.")
        settings[name.replace("-", "_")] = value
    make_objective(options.objective, settings)  # refuses what cannot be, before anything is written
    return RunConfig(
        data=options.data,
        objective=options.objective,
        settings=settings,
        steps=options.steps,
        seeds=tuple(range(options.first_seed, options.first_seed + options.seeds)),
        evaluations=min(options.evaluations, options.steps),
    )


def _check_device() -> None:
    try:
        jax.devices()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"The chosen device cannot be used ({reason}); leave --device out or see `minaction doctor`."
        ) from None
