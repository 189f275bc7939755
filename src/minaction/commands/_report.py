"""`minaction report`: runs and suites as one page, with figures and tables for papers if asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._progress import counting_progress
from ..errors import InputError
from ..reports import (
    charts_by_ablation,
    charts_by_task,
    is_own,
    read_trials,
    report_tables,
    write_figures,
    write_own_page,
    write_page,
)
from ..tasks import Source
from ..training import Run
from ..training._run import is_run
from ._options import Report
from ._show import make_console


def report(options: Report) -> int:
    """Run the command."""
    console = make_console()

    def say(text: str) -> None:
        console.print(text, highlight=False, markup=False, soft_wrap=True)

    if not options.runs:
        raise InputError("There is nothing to report; give folders that `minaction train` or `minaction suite` made.")
    if options.output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"The page is written to a file that ends in .html, not {options.output}.")
    if (own := _own_run(options.runs)) is not None:
        write_own_page(options.output, *own)
        say(f"report  {options.output} ({options.output.stat().st_size / 1e6:.1f} MB)")
        return 0
    found = read_trials(options.runs)
    for note in found.notes:
        say(f"note    {note}")
    with counting_progress("computing the fields of the explorer") as progress:
        write_page(options.output, found, progress=progress)
    size = options.output.stat().st_size
    say(f"report  {options.output} ({size / 1e6:.1f} MB)")
    charts, ablations = charts_by_task(found.main), charts_by_ablation(found.ablations)
    if options.figures is not None:
        for path in write_figures(options.figures, charts, ablations):
            say(f"figure  {path}")
    if options.tables is not None:
        for table in report_tables(charts, ablations):
            for path in table.write(options.tables):
                say(f"table   {path}")
    return 0


def _own_run(runs: Sequence[Path]) -> tuple[Run, Source] | None:
    """The run, and its data, where there is but one and it is finished, on a recording of a person's own."""
    if len(runs) != 1 or not is_run(runs[0]):
        return None
    run = Run.open(runs[0])
    config = run.config
    source = Source(config.data, config.seeds, config.episodes, config.table, config.policy)
    return (run, source) if run.finished and is_own(source) else None
