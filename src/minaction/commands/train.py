"""`minaction train`: train, show how it goes, then a table, a figure and where the models are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console

from ..cli import Train
from ..errors import InputError, unknown_name
from ..model import DistanceModel
from ..objectives import PRESETS, make_objective
from ..reports.figures import Field, Panel, landscape, learning_curves
from ..reports.progress import training_progress
from ..tasks import Layout, Truth
from ..training.run import RunConfig, RunDirectory
from ..training.session import Session, Source
from .show import print_agreement


def train(options: Train) -> int:
    """Carry the command out."""
    console = Console()
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
    try:
        with console.status(f"preparing {options.data}"):
            session = Session(run)
    except BaseException:
        if not run.checkpoint.exists():  # nothing was trained: leave nothing behind
            (run.path / "config.json").unlink(missing_ok=True)
            run.path.rmdir()
        raise
    if session.trainer.step:
        console.print(f"going on from step {session.trainer.step:,}", highlight=False)
    label = f"{options.objective} on {options.data}" + (f", {options.seeds} seeds" if options.seeds > 1 else "")
    with training_progress(config.steps, done=session.trainer.step, label=label) as show:
        results = session.train(show)
    print_agreement(console, results["agreement"], session.source.truths(0))
    for path in draw(run, session.source):
        console.print(f"figure  {path}", highlight=False)
    for seed in config.seeds:
        console.print(f"model   {run.model_path(seed)}", highlight=False)
    return 0


def draw(run: RunDirectory, source: Source) -> list[Path]:
    """The run's pictures: learning curves, and the landscape of the first seed's distances."""
    truths = source.truths(0)
    drawn = []
    if truths and run.metrics():
        drawn.append(run.path / "curves.png")
        _draw_curves(drawn[-1], run, truths)
    layout = source.layout()
    if layout is not None:
        drawn.append(run.path / "landscape.png")
        _draw_landscape(drawn[-1], run, layout, truths)
    return drawn


def _draw_curves(path: Path, run: RunDirectory, truths: list[Truth]) -> None:
    """Pearson and Ratio CV against every truth, over the course of training."""
    rows, seeds = run.metrics(), run.config.seeds

    def series(measure: str) -> dict[str, np.ndarray]:
        return {
            f"{run.config.objective}, {truth.name}": np.array(
                [[row["agreement"][truth.name][measure] for row in rows if row["seed"] == seed] for seed in seeds],
                dtype=float,  # None, a measure without a value, becomes NaN
            )
            for truth in truths
        }

    panels = [
        Panel("Pearson correlation", series("pearson"), best=1.0),
        Panel("Ratio CV", series("ratio_cv"), best=0.0),
    ]
    learning_curves(path, sorted({row["step"] for row in rows}), panels, title=run.config.data)


def _draw_landscape(path: Path, run: RunDirectory, layout: Layout, truths: list[Truth]) -> None:
    """Distances to and from a state in the middle, learned beside true where the truth covers the picture."""
    model = DistanceModel.load(run.model_path(run.config.seeds[0]))
    chosen = len(layout.states) // 2
    state = layout.states[chosen : chosen + 1]
    to = [Field("learned, to the marked state", model.pairwise(layout.states, state)[:, 0])]
    back = [Field("learned, from the marked state", model.pairwise(state, layout.states)[0])]
    for truth in truths[:1]:
        if truth.sources.shape == layout.states.shape and np.array_equal(truth.sources, layout.states):
            to.append(Field("true, to the marked state", truth.distances[:, chosen]))
            back.append(Field("true, from the marked state", truth.distances[chosen]))
    landscape(path, layout, [to, back], chosen, title=f"{run.config.data}: how many actions apart")


def _config(options: Train) -> RunConfig:
    if options.seeds < 1 or options.evaluations < 1 or options.steps < 1:
        raise InputError("--seeds, --steps and --evaluations must be at least 1.")
    if options.objective not in PRESETS:
        raise unknown_name("objective", options.objective, PRESETS)
    settings: dict[str, Any] = {}
    for item in options.set:
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
