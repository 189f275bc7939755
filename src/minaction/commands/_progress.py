"""`minaction progress`: remaining time and wasted stretches of recorded episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .._model import DistanceModel
from .._progress import counting_progress
from .._remaining import Progress as Along
from .._remaining import check_same_kind
from ..errors import InputError
from ..tasks import Source
from ..trajectories import TableOptions, Trajectories, column_names, takes_options
from ._models import models_of, recording_of, refuse_models
from ._options import Progress
from ._progress_tables import check_outputs, summary_of, write_episodes, write_states
from ._show import make_console
from ._states import as_number, numbers_of, state_of, warn_if_far
from ._table import check_unit, table_options

_MOST_NAMED = 20  # episodes in one line


def progress(options: Progress) -> int:
    """Write the tables and figures, and show how the episodes did."""
    if options.out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"Cannot write {options.out}: its ending must be .csv or .parquet.")
    if options.worst < 1:
        raise InputError("--worst must be at least 1.")
    console = make_console()
    models, data = _models_and_data(options)
    check_unit(options, data, options.log or str(options.run))
    check_same_kind(models[0].columns, models[0].unit, data)
    goals = _goals(options, models[0], data)
    with console.status("measuring what remains"):
        remaining = np.mean([model.remaining(data, goals) for model in models], axis=0)
    starts, ends = data.offsets[:-1], data.offsets[1:]
    episodes = [
        Along(episode.times, remaining[start:end], models[0].unit)
        for episode, start, end in zip(data, starts, ends, strict=True)
    ]
    order = ranking(episodes)
    summary = summary_of(options.out)
    names = [data.episode_name(k) for k in range(len(data))]
    write_states(options.out, data, episodes)
    write_episodes(summary, episodes, order, names)
    _show(console, episodes, order, names, options.worst)
    if not options.goal:
        console.print(f"goals    {_origin(data, len(goals))}", highlight=False, markup=False, soft_wrap=True)
    _warn_of_models(console, models)
    if options.goal:
        for goal in goals:
            warn_if_far(models[0], "goal", goal)
    if options.figures is not None:
        _draw(options.figures, episodes, names)
    written = {"table": options.out, "episodes": summary, "figures": options.figures}
    for kind, path in written.items():
        if path is not None:
            console.print(f"{kind:<9}{path}", highlight=False, markup=False, soft_wrap=True)
    return 0


def ranking(episodes: Sequence[Along]) -> list[int]:
    """The episodes from best to worst: finished ones by the time that they lost, then the others by what is left."""

    def key(k: int) -> tuple[bool, float]:
        one = episodes[k]
        return not one.finished, one.lost if one.finished else float(one.remaining[-1])

    return sorted(range(len(episodes)), key=key)


def _models_and_data(options: Progress) -> tuple[list[DistanceModel], Trajectories]:
    refuse_models([options.log or ""])
    table = table_options(options)
    models, run = models_of(options.run)
    if run is None:
        if options.log is None:
            raise InputError("A model file does not say which log is meant; give the log after it.")
        check_outputs(options.log, options.out, options.figures)
        return models, Source(options.log, table=table).data(0)
    config = run.config
    check_outputs(options.log or config.data, options.out, options.figures)
    same = options.log is None
    path = Path(options.log or config.data)
    if same or takes_options(path):
        table = _as_in_run(config.table, table, path)
    source = Source(
        options.log or config.data,
        config.seeds,
        config.episodes if same else None,
        table,
        config.policy if same else None,
    )
    return models, recording_of(run, source, ", or give the recording after the run") if same else source.data(0)


def _as_in_run(learned: TableOptions | None, given: TableOptions | None, path: Path) -> TableOptions | None:
    """How the run read its table, but for what is named anew, and for columns to leave out that this one lacks."""
    if learned is None or learned == given:
        return given
    anew = {} if given is None else {one.name: getattr(given, one.name) for one in fields(given)}
    anew = {name: value for name, value in anew.items() if value != getattr(TableOptions(), name)}
    there = column_names(path) if learned.drop and path.exists() else ()
    dropped = [name for name in learned.drop if not there or name.strip().lower() in there]
    return replace(learned, **{"drop": () if "states" in anew else dropped, **anew})


def _goals(options: Progress, model: DistanceModel, data: Trajectories) -> np.ndarray:
    if not options.goal:
        return model.usual_ends(data)
    if None in map(as_number, options.goal):
        return state_of(model, "--goal", options.goal)[None]
    size = int(np.prod(model.state_shape))
    if len(options.goal) % size:
        raise InputError(f"A goal has {size} numbers, but {len(options.goal)} were given; give as many, or a multiple.")
    return numbers_of("--goal", options.goal).reshape(-1, *model.state_shape)


def _origin(data: Trajectories, goals: int) -> str:
    """Where the goals are from, in words, if none were given."""
    if data.any_succeeded:
        return f"where {goals} episodes end that succeeded, as the log says"
    failed = "" if data.succeeded is None else ", though none succeeded as the log says; give another with --goal"
    return f"where most episodes end, {goals} of {len(data)}{failed}"


def _draw(folder: Path, episodes: Sequence[Along], names: Sequence[str]) -> None:
    from ..reports import draw_episode

    with counting_progress("drawing episodes") as show:
        for k, one in enumerate(episodes):
            end = "not finished" if one.finished_at is None else f"finished at row {one.finished_at}"
            title = f"Episode {names[k]}: {end}, {one.lost:.3g} {one.unit or 'actions'} lost"
            draw_episode(folder / f"episode-{k:04d}.png", one, title)
            show(k + 1, len(episodes))


def _show(console: Console, episodes: Sequence[Along], order: Sequence[int], names: Sequence[str], worst: int) -> None:
    unit = episodes[0].unit or "actions"
    failed = [k for k in order if not episodes[k].finished]
    title = f"Episodes that went worst ({len(episodes) - len(failed)} of {len(episodes)} finished; times in {unit})"
    table = Table(title=title, title_justify="left")
    for name in ("episode", "took", "lost", "left at the end", "finished", "longest stretch wasted (rows)"):
        table.add_column(name, justify="right")
    for k in order[::-1][:worst]:
        one = episodes[k]
        longest = max(one.stretches, key=lambda stretch: stretch.lost, default=None)
        table.add_row(
            escape(names[k]),
            f"{one.times[-1] - one.times[0]:.2f}",
            f"{one.lost:.2f}",
            f"{one.remaining[-1]:.2f}",
            "no" if one.finished_at is None else f"row {one.finished_at}",
            "" if longest is None else f"{longest.start} to {longest.stop - 1}: {longest.lost:.2f}",
        )
    console.print(table)
    if failed:
        named = ", ".join(names[k] for k in sorted(failed)[:_MOST_NAMED])
        more = ", ..." if len(failed) > _MOST_NAMED else ""
        console.print(f"likely failures ({len(failed)}): {named}{more}", highlight=False, markup=False, soft_wrap=True)


def _warn_of_models(console: Console, models: Sequence[DistanceModel]) -> None:
    """An answer is as good as its model: repeat what held-out episodes said against it."""
    doubts = [model.health for model in models if model.health is not None and not model.health.fine]
    if doubts:
        some = "" if len(doubts) == len(models) else f" of {len(doubts)} of {len(models)} seeds"
        said = "\n  ".join(doubts[0].verdict)
        console.print(
            f"held-out episodes speak against this model{some}, so that its times are to be doubted:\n  {said}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
