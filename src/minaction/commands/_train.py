"""`minaction train`: train, show how it goes, then a table, a figure and where the models are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.markup import escape

from .._interrupts import interruptible
from .._locks import locked
from .._model import DistanceModel
from .._progress import training_progress
from .._warm_start import objective_settings
from ..errors import InputError
from ..objectives import make_objective
from ..reports import write_report
from ..tasks import Source
from ..training import Diverged, Evaluated, Finished, Progressed, Run, RunConfig, Training
from ..training import train as driven
from ..training._fit import held_out_by_default
from ..training._run import check_free, empty_run, foreign_files, is_run
from ..training._start import starting_models
from ..training._stopping import stopped_early
from ..validation import check_data, refuse_ids, split
from ._models import refuse_models
from ._options import Train, all_of
from ._show import STOPPING, make_console, print_agreement, print_health
from ._table import check_unit, table_options
from ._tracking import tracking


def train(options: Train) -> int:
    """Carry the command out. Everything is checked before anything is written."""
    console = make_console()
    config = _config(options)
    _check_device()
    refuse_models([options.data])
    name = f"{Path(options.data).stem}-{config.objective}"
    path = Path(os.path.realpath(options.out or Path("runs") / name))
    source = Source(config.data, config.seeds, config.episodes, config.table, config.policy)
    _recover(path)
    if options.overwrite and is_run(path):
        _check_foreign(path)
    elif not is_run(path):
        check_free(path)
    elif Run.create(path, config).finished:  # which refuses other settings
        _check_unchanged(Run.open(path), source)
        console.print(f"{path} is finished already; --overwrite trains anew.", highlight=False, markup=False)
        return _show(console, path, source)
    with console.status(f"preparing {escape(options.data)}"):
        for seed in config.seeds:
            source.data(seed)
            source.truths(seed)
        split(source.data(config.seeds[0]), config.held_out)  # refuses what cannot be
        warnings = list[str]()
        if source.task is None:
            recording = source.data(config.seeds[0])
            check_unit(options, recording, options.data)
            refuse_ids(recording)
            warnings = check_data(recording)
    for sentence in warnings:
        console.print(f"warning: {sentence}", style="yellow", highlight=False, markup=False, soft_wrap=True)
    with _begun(path, config, options.overwrite) as run:
        if not run.finished:
            try:
                _train(console, run, source, options, path.name)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(_kept(run)) from None
    return _show(console, path, source)


def _train(console: Console, run: Run, source: Source, options: Train, name: str) -> None:
    training = Training.of(run, source)
    done = max(run.checkpoints, default=0)
    if done:
        console.print(f"going on from step {done:,}", highlight=False)
    label = f"{run.config.objective} on {options.data}" + (f", {options.seeds} seeds" if options.seeds > 1 else "")
    note = told = ""
    with (
        tracking(all_of(options.track), run, done, name) as trackers,
        training_progress(run.config.steps, done=done, label=label) as show,
        interruptible(STOPPING) as interrupted,
    ):
        for event in driven([training], options.devices, interrupted):
            if isinstance(event, Progressed):
                show(event.step, note or f"loss {event.loss:.4f}")
            elif isinstance(event, Evaluated):
                note = event.note
                trackers.log(event.measurements)
            elif isinstance(event, Diverged):
                raise event.error
            elif isinstance(event, Finished):
                told = stopped_early(event.models[0].provenance.steps, training.steps)
    if told:
        console.print(told, highlight=False)


def _kept(run: Run) -> str:
    """What there is after an interrupt, which is nothing if a second one came before the first had its effect."""
    done = max(run.checkpoints, default=0)
    return f"the same command continues from step {done:,}" if done else "nothing was kept"


def _check_unchanged(run: Run, source: Source) -> None:
    """Refuse to show a finished run for data that is not what it was trained on any more."""
    if source.task is not None:
        return  # made by a recipe, which says itself when it changes
    for seed in run.config.seeds:
        trained, _ = split(source.data(seed), run.config.held_out)
        if DistanceModel.load(run.model_path(seed)).provenance.data_fingerprint != trained.fingerprint:
            raise InputError(
                f"{source.name} has changed since {run.path} was trained on it; --overwrite trains anew, "
                f"--start-from {run.path} with another --out goes on from it."
            )


def _show(console: Console, path: Path, source: Source) -> int:
    """What a finished run came to; the report too, and it is written if a kill right after the results cost it."""
    run = Run.open(path)
    with locked(path):
        run.tidy()
        if not (path / "report.html").exists():
            write_report(run, source)
    print_agreement(console, [run.results.of(seed) for seed in run.config.seeds])
    print_health(console, run.results.health)
    shown = {"report": ["report.html"], "figure": ["curves.png", "landscape.png"]}
    shown["model"] = [run.model_path(seed).name for seed in run.config.seeds]
    for kind, names in shown.items():
        for file in (path / name for name in names if (path / name).exists()):
            console.print(f"{kind:<8}{file}", highlight=False, markup=False, soft_wrap=True)
    return 0


@contextmanager
def _begun(path: Path, config: RunConfig, overwrite: bool) -> Iterator[Run]:
    """The run to train, held for this process. If nothing comes of it, what this process made is removed again.

    One that is to be replaced is held too, and stays as it is until the new one, which is trained beside it, is whole.
    """
    with ExitStack() as held:
        place = path
        if overwrite and is_run(path):
            held.enter_context(locked(path))
            place = _beside(path, "new")
        made = _make_folder(place)
        held.enter_context(locked(place))
        if place != path and is_run(place) and Run.open(place).config != config:
            empty_run(place)  # what an interrupted --overwrite with other settings left
        begun = not is_run(place)
        try:
            run = Run.create(place, config)
            run.tidy()
            yield run
        except BaseException:
            if begun and not any(place.glob("checkpoint-*")) and not (place / "results.json").exists():
                empty_run(place)
                if made:
                    place.rmdir()
            raise
        if place != path:
            _swap(place, path)


def _make_folder(path: Path) -> bool:
    """Make a folder; whether it was not there before."""
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}; choose a folder you may write to.") from error
    return made


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}")


def _check_foreign(path: Path) -> None:
    if foreign := foreign_files(path):
        raise InputError(
            f"{path} holds files that no run makes ({', '.join(foreign[:3])}); move them away and give the same "
            "command again, or choose another --out."
        )


def _swap(new: Path, path: Path) -> None:
    """Put a finished run in the place of another."""
    _check_foreign(path)  # it was hours ago that they were looked for
    old = _beside(path, "replaced")
    try:
        path.rename(old)
        new.rename(path)
    except OSError as error:
        raise InputError(f"{path} cannot be replaced ({error.strerror}); the new run is in {new}.") from error
    _remove(old)


def _recover(path: Path) -> None:
    """Finish a swap that was killed."""
    old, new = _beside(path, "replaced"), _beside(path, "new")
    if not old.is_dir() or foreign_files(old):
        return
    with locked(old):
        if not path.exists():
            (new if is_run(new) else old).rename(path)
        if old.exists():
            _remove(old)


def _remove(old: Path) -> None:
    empty_run(old)
    with suppress(OSError):  # somebody's own file came into it meanwhile
        old.rmdir()


def _config(options: Train) -> RunConfig:
    if min(options.seeds, options.evaluations, 1 if options.steps is None else options.steps) < 1:
        raise InputError("--seeds, --steps and --evaluations must be at least 1.")
    settings: dict[str, Any] = {}
    for item in all_of(options.set):
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"--set takes NAME=VALUE, but {item!r} has no '='.")
        settings[name.replace("-", "_")] = value
    name = options.objective or "pathdist"
    if options.start_from is not None:
        first = starting_models(options.start_from, 1)[0]
        if options.objective is None:
            name, own = objective_settings(first)
            settings = own | settings
    objective = make_objective(name, settings)  # refuses what cannot be
    steps = objective.default_steps if options.steps is None else options.steps
    return RunConfig(
        data=options.data,
        objective=name,
        settings=settings,
        steps=steps,
        seeds=tuple(range(options.first_seed, options.first_seed + options.seeds)),
        evaluations=min(options.evaluations, steps),
        episodes=options.episodes,
        table=table_options(options),
        held_out=held_out_by_default(options.data) if options.held_out is None else options.held_out,
        policy=options.policy,
        start_from=None if options.start_from is None else str(options.start_from),
        stop_early=options.steps is None,
    )


def _check_device() -> None:
    try:
        jax.devices()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"The chosen device cannot be used ({reason}); leave --device out or see `minaction doctor`."
        ) from None
