"""`minaction plan`: let a planner follow a run's distance to goals in its maze, and count how often it gets there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

from ..cli import Plan
from ..errors import InputError
from ..files import read_json, write_json
from ..model import DistanceModel
from ..planning import Episodes, PlanningResult, RandomShooting, euclidean, evaluate_planning, step_truth, untrained
from ..planning.evaluate import ALL_TASKS
from ..planning.picture import draw_paths
from ..planning.random_shooting import ScoreFunction, score_function
from ..progress import counting_progress
from ..tasks import all_tasks
from ..tasks.mazes import OgbenchBallTask
from ..training.run import RunDirectory
from .show import make_console

DISTANCES = ("learned", "truth", "euclidean", "untrained")


def plan(options: Plan) -> int:
    """Plan with the model of every seed; the table, the numbers and a picture are left in the run's folder."""
    run = RunDirectory.open(options.run)
    task = _simulated_task(run.config.data)
    maze = task.recipe.maze
    named = {name: getattr(options, name) for name in ("candidates", "horizon", "repeat", "interval")}
    settings = RandomShooting.for_maze(maze, **{name: value for name, value in named.items() if value is not None})
    episodes = (
        Episodes.towards(maze, options.goal, options.episodes, options.seed)
        if options.goal
        else Episodes.draw(maze, options.tasks, options.episodes, options.seed)
    )
    models = {seed: run.model_path(seed) for seed in run.config.seeds}
    distances = _distances(options.distance, models, task, episodes)
    results = _follow(options.distance, distances, maze, episodes, settings, options.seed)
    console = make_console()
    console.print(_table(results, f"Goals reached in {run.config.data}, {options.distance} distance"))
    stem = run.path / f"planning-{options.distance}"
    _write_numbers(stem.with_suffix(".json"), results)
    seed, distance = next(iter(distances.items()))
    title = f"{run.config.data}: paths over the {options.distance} distance"
    draw_paths(stem.with_suffix(".png"), results[seed], distance, task.layout(), title)
    console.print(f"wrote {stem.with_suffix('.json')} and {stem.with_suffix('.png')}", highlight=False)
    return 0


def plan_cell(folder: Path, task_name: str, model_seed: int, episodes: int) -> None:
    """Plan with a suite's model for all five pairs, and leave the numbers beside it; done once."""
    path, task = folder / "planning-learned.json", _simulated_task(task_name)
    if path.exists() and read_json(path)[str(model_seed)]["tasks"][0]["episodes"] == episodes:
        return
    maze = task.recipe.maze
    drawn = Episodes.draw(maze, ALL_TASKS, episodes, seed=0)
    distances = _distances("learned", {model_seed: folder / "model.safetensors"}, task, drawn)
    label = f"{folder.parent.name} on {task_name}"
    _write_numbers(path, _follow(label, distances, maze, drawn, RandomShooting.for_maze(maze), seed=0))


def _follow(
    label: str,
    distances: dict[int, DistanceModel | ScoreFunction],
    maze: str,
    episodes: Episodes,
    settings: RandomShooting,
    seed: int,
) -> dict[int, PlanningResult]:
    results = {}
    for model_seed, distance in distances.items():
        with counting_progress(f"planning: {label}, seed {model_seed}") as progress:
            results[model_seed] = evaluate_planning(distance, maze, episodes, settings, seed=seed, progress=progress)
    return results


def _write_numbers(path: Path, results: dict[int, PlanningResult]) -> None:
    write_json(path, {str(seed): result.as_dict() for seed, result in results.items()})


def _simulated_task(name: str) -> OgbenchBallTask:
    task = all_tasks().get(name)
    if not isinstance(task, OgbenchBallTask):
        usable = ", ".join(name for name, task in all_tasks().items() if isinstance(task, OgbenchBallTask))
        raise InputError(f"There is no simulator to plan in for {name}; plan with a run on one of: {usable}.")
    return task


def _distances(
    kind: str, model_paths: dict[int, Path], task: OgbenchBallTask, episodes: Episodes
) -> dict[int, DistanceModel | ScoreFunction]:
    """What to follow, by seed of the run; the controls do not depend on it and come once."""
    if kind not in DISTANCES:
        raise InputError(f"There is no distance {kind!r} to follow; known are: {', '.join(DISTANCES)}.")
    if kind == "truth":
        return {0: step_truth(task.maze, episodes.goals)}
    if kind == "euclidean":
        return {0: euclidean}
    if kind == "untrained":
        return {0: untrained(task.maze)}
    models = {seed: DistanceModel.load(path) for seed, path in model_paths.items()}
    for model in models.values():
        score_function(model, state_size=2)  # refuses a model of other observations before anything starts
    return dict(models)


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
