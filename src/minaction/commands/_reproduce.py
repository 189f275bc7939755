"""`minaction reproduce`: one table or figure of the paper, from training to the picture."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from .._progress import counting_progress
from ..cli import Reproduce
from ..errors import InputError
from ..reports._curves import charts_by_ablation, charts_by_task
from ..reports._fields import task_truths
from ..reports._gallery import write_figures
from ..reports._records import Record, Records, read_records
from ..reports._run import draw_landscape
from ..reports._webpage import report_tables, write_page
from ..suite._grids import Grid, existing
from ..suite._recipes import RECIPES, Recipe, recipe
from ..suite._runner import run_suite
from ..suite._store import Store
from ..tasks import get_task
from ._plan import plan_cell
from ._show import make_console
from ._suite import backend, check_numbers, say_cost


def reproduce(options: Reproduce) -> int:
    """Carry the command out; 1 if a cell failed."""
    console = make_console()
    if options.list or options.name is None:
        console.print(_catalogue())
        return 0
    chosen = recipe(options.name)
    check_numbers(options)
    if options.episodes < 1:
        raise InputError("--episodes must be at least 1.")
    grid, absent = existing(chosen.cells(options.seeds, options.steps))
    for task in absent:
        console.print(f"{task} is left out: this version has no such task.", highlight=False)
    store = Store(options.runs / chosen.grid)
    console.print(f"{options.name}: {chosen.shows}", highlight=False)
    say_cost(console, store, grid.cells, options)
    if options.dry_run:
        return 0
    tally = run_suite(store, grid.name, grid.cells, backend(options, grid.cells))
    for path in _made(chosen, store, grid, options):
        console.print(f"wrote {path}", highlight=False)
    if tally.failed:
        console.print(f"{tally.failed} cells failed; why is in {store.path / 'failures'}", highlight=False)
    return 1 if tally.failed else 0


def _catalogue() -> Table:
    table = Table("name", "shows", "trainings", title="The paper's tables and figures", title_justify="left")
    for name, one in RECIPES.items():
        table.add_row(name, one.shows, str(len(one.cells(None, None).cells)))
    table.caption = "A training that several of them need is done once."
    return table


def _made(chosen: Recipe, store: Store, grid: Grid, options: Reproduce) -> list[Path]:
    """What the recipe makes of its finished cells, in a folder of its own."""
    folder = options.out / str(options.name)
    done = [cell for cell in grid.cells if store.has(cell)]
    if not done:
        return []
    if chosen.then == "planning":
        for cell in done:
            plan_cell(store.folder(cell), cell.task, cell.seed, options.episodes)
    wanted = {store.folder(cell).resolve() for cell in done}
    found = Records(tuple(one for one in read_records([store.path]).records if one.folder.resolve() in wanted))
    if chosen.then == "landscape":
        return [_draw_landscape(folder / "landscape.png", found.records[0])]
    return _picture_book(folder, found)


def _draw_landscape(path: Path, record: Record) -> Path:
    layout = get_task(record.task).layout()
    assert layout is not None
    assert record.model is not None
    draw_landscape(path, record.model, layout, task_truths(record), name=record.task)
    return path


def _picture_book(folder: Path, found: Records) -> list[Path]:
    """Figures, tables and the page."""
    charts, ablations = charts_by_task(found.main), charts_by_ablation(found.ablations)
    written = write_figures(folder, charts, ablations)
    for table in report_tables(charts, ablations):
        written += table.write(folder)
    with counting_progress("computing the fields of the explorer") as progress:
        write_page(folder / "report.html", found, progress=progress)
    return [*written, folder / "report.html"]
