"""`minaction reproduce`: one table or figure of the paper, from training to the picture."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from .._progress import counting_progress
from ..errors import InputError
from ..reports import (
    Trial,
    Trials,
    charts_by_ablation,
    charts_by_task,
    draw_landscape,
    read_trials,
    report_tables,
    write_figures,
    write_page,
)
from ..suite import Grid, SuiteFolder
from ..tasks import Source
from ..training import Run
from ._options import Reproduce
from ._plan import plan_with
from ._recipes import RECIPES, Recipe, recipe
from ._show import make_console
from ._suite import check_numbers, say_cost, say_failures, train_all


def reproduce(options: Reproduce) -> int:
    """Run the command; the exit code is 1 if a run failed."""
    console = make_console()
    if options.list or options.name is None:
        console.print(_catalogue())
        return 0
    chosen = recipe(options.name)
    check_numbers(options)
    if options.episodes < 1:
        raise InputError("--episodes must be at least 1.")
    grid = chosen.runs(options.seeds, options.steps)
    folder = SuiteFolder(options.runs / chosen.grid)
    console.print(f"{options.name}: {chosen.shows}", highlight=False)
    say_cost(console, folder, grid.runs, options)
    if options.dry_run:
        return 0
    tally = train_all(folder, grid, options)
    for path in _made(chosen, folder, grid, options):
        console.print(f"wrote {path}", highlight=False)
    return say_failures(console, tally)


def _catalogue() -> Table:
    table = Table("name", "shows", "runs", title="The paper's tables and figures", title_justify="left")
    for name, one in RECIPES.items():
        table.add_row(name, one.shows, str(len(one.runs(None, None).runs)))
    table.caption = "A run that several of them need is trained once."
    return table


def _made(chosen: Recipe, folder: SuiteFolder, grid: Grid, options: Reproduce) -> list[Path]:
    """Draw what the recipe shows of its finished runs, into its own folder."""
    out = options.out / str(options.name)
    done = [folder.run_path(config) for config in grid.runs if folder.finished(config)]
    if not done:
        return []
    if chosen.then == "planning":
        for path in done:
            plan_with(Run.open(path), options.episodes)
    found = read_trials(done)
    if chosen.then == "landscape":
        return [_draw_landscape(out / "landscape.png", found.trials[0])]
    return _write_all(out, found)


def _draw_landscape(path: Path, trial: Trial) -> Path:
    source = Source(trial.task, (trial.seed,), trial.episodes)
    assert source.layout is not None
    assert trial.model is not None
    draw_landscape(path, trial.model, source.layout, source.truths(trial.seed), name=trial.task)
    return path


def _write_all(folder: Path, found: Trials) -> list[Path]:
    """Figures, tables and the page."""
    charts, ablations = charts_by_task(found.main), charts_by_ablation(found.ablations)
    written = write_figures(folder, charts, ablations)
    for table in report_tables(charts, ablations):
        written += table.write(folder)
    with counting_progress("computing the fields of the explorer") as progress:
        write_page(folder / "report.html", found, progress=progress)
    return [*written, folder / "report.html"]
