"""`minaction report`: runs and suites as one page, with figures and tables for papers if asked for."""

from __future__ import annotations

from .._progress import counting_progress
from ..errors import InputError
from ..reports import charts_by_ablation, charts_by_task, read_trials, report_tables, write_figures, write_page
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
