"""`minaction plan`: let a planner follow a run's distance to goals in its maze, and count how often it gets there."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from ..cli import Plan
from ..errors import InputError
from ..files import write_json
from ..model import DistanceModel
from ..planning import Episodes, PlanningResult, RandomShooting, euclidean, evaluate_planning, step_truth, untrained
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
    distances = _distances(options.distance, run, task, episodes)
    results = {}
    for seed, distance in distances.items():
        with counting_progress(f"planning, {options.distance} distance of seed {seed}") as progress:
            results[seed] = evaluate_planning(distance, maze, episodes, settings, seed=options.seed, progress=progress)
    console = make_console()
    console.print(_table(results, f"Goals reached in {run.config.data}, {options.distance} distance"))
    stem = run.path / f"planning-{options.distance}"
    write_json(stem.with_suffix(".json"), {str(seed): result.as_dict() for seed, result in results.items()})
    seed, distance = next(iter(distances.items()))
    title = f"{run.config.data}: paths over the {options.distance} distance"
    draw_paths(stem.with_suffix(".png"), results[seed], distance, task.layout(), title)
    console.print(f"wrote {stem.with_suffix('.json')} and {stem.with_suffix('.png')}", highlight=False)
    return 0


def _simulated_task(name: str) -> OgbenchBallTask:
    task = all_tasks().get(name)
    if not isinstance(task, OgbenchBallTask):
        usable = ", ".join(name for name, task in all_tasks().items() if isinstance(task, OgbenchBallTask))
        raise InputError(f"There is no simulator to plan in for {name}; plan with a run on one of: {usable}.")
    return task


def _distances(
    kind: str, run: RunDirectory, task: OgbenchBallTask, episodes: Episodes
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
    models = {seed: DistanceModel.load(run.model_path(seed)) for seed in run.config.seeds}
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
