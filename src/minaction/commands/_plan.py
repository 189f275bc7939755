"""`minaction plan`: plan with a run's distance to goals in its maze, and count how often they are reached."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
from rich.table import Table

from .._files import read_json, write_json
from .._model import DistanceModel
from .._progress import counting_progress
from ..errors import InputError
from ..planning import ALL_TASKS, CONTROLS, Arena, Episodes, PlannerDistance, PlanningResult, arena_of
from ..reports import draw_paths
from ..reports._trials import Planning
from ..training import Run
from ._options import Plan
from ._show import make_console


def plan(options: Plan) -> int:
    """Plan with the model of every seed; numbers and a picture are written to the run's folder."""
    run = Run.open(options.run)
    arena = arena_of(run.config.data)
    given = {name: getattr(options, name) for name in ("candidates", "horizon", "repeat", "interval")}
    named = {name: value for name, value in given.items() if value is not None}
    arena.settings(named)  # refuses what cannot be, before anything starts
    episodes = (
        Episodes.towards(arena.maze, options.goal, options.episodes, options.seed)
        if options.goal
        else Episodes.draw(arena.maze, options.tasks, options.episodes, options.seed)
    )
    if options.distance == "learned":
        distances = _models(arena, {seed: run.model_path(seed) for seed in run.config.seeds})
    elif options.distance in CONTROLS:  # they do not depend on the run's models and come once
        distances = {0: arena.control(options.distance, episodes)}
    else:
        known = ", ".join(("learned", *CONTROLS))
        raise InputError(f"There is no distance {options.distance!r} to plan with; choose from {known}.")
    results = _follow(options.distance, arena, distances, episodes, named, options.seed)
    console = make_console()
    console.print(_table(results, f"Goals reached in {run.config.data}, {options.distance} distance"))
    stem = run.path / f"planning-{options.distance}"
    _write_numbers(stem.with_suffix(".json"), results)
    seed, distance = next(iter(distances.items()))
    title = f"{run.config.data}: paths over the {options.distance} distance"
    layout = arena.task.layout()
    assert layout is not None, "a maze can be drawn"
    draw_paths(stem.with_suffix(".png"), results[seed], distance, layout, title)
    console.print(f"wrote {stem.with_suffix('.json')} and {stem.with_suffix('.png')}", highlight=False)
    return 0


def plan_with(run: Run, episodes: int) -> None:
    """Plan with a suite's model for all five pairs and store the numbers beside it, unless that was done before."""
    task, seed = run.config.data, run.config.seeds[0]
    path, arena = run.path / "planning-learned.json", arena_of(task)
    with suppress(InputError):  # there is none yet, or it is damaged
        before: dict[str, Planning] = read_json(path, dict[str, Planning])
        if str(seed) in before and [pair.episodes for pair in before[str(seed)].tasks] == [episodes] * len(ALL_TASKS):
            return
    drawn = Episodes.draw(arena.maze, ALL_TASKS, episodes, seed=0)
    distances = _models(arena, {seed: run.model_path(seed)})
    _write_numbers(path, _follow(f"{run.config.method} on {task}", arena, distances, drawn, {}, seed=0))


def _models(arena: Arena, paths: Mapping[int, Path]) -> dict[int, PlannerDistance]:
    models = {seed: DistanceModel.load(path) for seed, path in paths.items()}
    for model in models.values():
        arena.check(model)
    return dict(models)


def _follow(
    label: str,
    arena: Arena,
    distances: Mapping[int, PlannerDistance],
    episodes: Episodes,
    named: Mapping[str, int],
    seed: int,
) -> dict[int, PlanningResult]:
    results = {}
    for model_seed, distance in distances.items():
        with counting_progress(f"planning: {label}, seed {model_seed}") as progress:
            results[model_seed] = arena.follow(distance, episodes, named, seed, progress)
    return results


def _write_numbers(path: Path, results: Mapping[int, PlanningResult]) -> None:
    write_json(path, {str(seed): result.as_dict() for seed, result in results.items()})


def _table(results: dict[int, PlanningResult], title: str) -> Table:
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.caption = "95%: Wilson's interval. Steps and their median ratio to the least possible: of goals reached."
    for name in ("seed", "pair", "episodes", "success", "95%", "steps", "of least"):
        table.add_column(name, justify="right")
    for seed, result in results.items():
        for one in (*result.tasks, result.total):
            together = one is result.total
            low, high = one.interval
            numbers = [f"{value:.{digits}f}" for value, digits in ((one.mean_steps, 0), (one.path_ratio, 2))]
            table.add_row(
                str(seed),
                "all" if together else str(one.task or "own"),
                str(one.episodes),
                f"{one.success_rate:.3f}",
                f"{low:.3f} to {high:.3f}",
                *("–" if np.isnan(float(text)) else text for text in numbers),
                end_section=together,
            )
    return table
