"""`minaction suite`: a grid of runs into one folder, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .._cores import keeping_to, share_of_cores
from .._progress import counting_progress
from ..errors import InputError, unknown_name
from ..suite import (
    GRIDS,
    Backend,
    Cost,
    Grid,
    Local,
    RayCluster,
    Speeds,
    SuiteFolder,
    Tally,
    batches,
    chosen,
    cost,
    own_grid,
    run_suite,
)
from ..training import RunConfig
from ._options import Reproduce, Suite
from ._show import make_console
from ._suite_display import displayed


def suite(options: Suite) -> int:
    """Run the command; the exit code is 1 if a run failed."""
    console = make_console()
    check_numbers(options)
    grid = chosen(_grid(options), [name for item in options.only for name in item.split(",") if name])
    folder = SuiteFolder(options.out or Path("runs") / grid.name)
    if options.dry_run:
        say_cost(console, folder, grid.runs, options)
        console.print("Nothing was trained.", highlight=False)
        return 0
    tally = train_all(folder, grid, options)
    console.print(f"{tally.done} of {tally.total} runs are in {folder.path}", highlight=False, markup=False)
    return say_failures(console, tally)


def train_all(folder: SuiteFolder, grid: Grid, options: Suite | Reproduce) -> Tally:
    """Train the runs of a grid on the chosen backend and show progress."""
    try:
        with displayed(len(grid.runs)) as show:
            return run_suite(folder, grid.name, grid.runs, _backend(options, grid.runs), show)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the same command continues from the last checkpoint of every run") from None


def say_failures(console: Console, tally: Tally) -> int:
    """Print how many runs failed and where to look, if any did; returns the exit code."""
    if tally.failed:
        console.print(f"{tally.failed} failed; why is in the failure.json of each", highlight=False)
    return 1 if tally.failed else 0


def check_numbers(options: Suite | Reproduce) -> None:
    """Refuse numbers below 1, and options of the other backend."""
    for name in ("seeds", "steps", "jobs", "replicas"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise InputError(f"--{name} must be at least 1.")
    if options.backend == "ray" and options.jobs is not None:
        raise InputError("--jobs is for --backend local; Ray distributes the work by the cluster's resources.")
    if options.backend == "ray" and options.replicas is not None:
        raise InputError("--replicas is for --backend local; on Ray every task and method is a separate program.")
    if options.backend == "local" and options.address is not None:
        raise InputError("--address is for --backend ray.")


def _grid(options: Suite) -> Grid:
    if options.grid in GRIDS:
        return GRIDS[options.grid](options.seeds, options.steps)
    if Path(options.grid).suffix != ".toml":
        raise unknown_name("suite", options.grid, [*GRIDS, "FILE.toml"])
    return own_grid(Path(options.grid), options.seeds, options.steps)


def _backend(options: Suite | Reproduce, runs: Sequence[RunConfig]) -> Backend:
    if options.backend == "ray":
        return RayCluster(options.address, options.device)
    # From all runs, not those that are left: the last bits depend on the number of cores per worker.
    kinds = len({(run.data, run.method) for run in runs})
    return Local.default(kinds, options.jobs, options.replicas)


def say_cost(console: Console, folder: SuiteFolder, runs: Sequence[RunConfig], options: Suite | Reproduce) -> None:
    """Show what is left to train and how long it will take."""
    folder.check(runs)
    backend = _backend(options, runs)
    jobs = backend.jobs if isinstance(backend, Local) else 1
    left, speeds = batches(folder, folder.left(runs), replicas=1), Speeds(folder, runs)
    # With as many cores as one of several workers has.
    with keeping_to(share_of_cores(0, jobs)), counting_progress("measuring speeds") as progress:
        found = []
        for count, batch in enumerate(left):
            progress(count, len(left))
            found.append(cost(speeds, batch))
    console.print(
        f"{sum(map(folder.finished, runs))} of {len(runs)} runs are finished in {folder.path}.",
        highlight=False,
        markup=False,
    )
    if not found:
        return
    console.print(_table(found))
    seconds = sum(one.seconds or 0.0 for one in found) / jobs
    workers = "one worker" if jobs == 1 else f"{jobs} workers"
    console.print(f"About {_duration(seconds)} with {workers} on a machine like this.", highlight=False)


def _table(found: Sequence[Cost]) -> Table:
    table = Table("task", "method", "seeds", "steps", "time", "known from", title="What would be trained")
    for one in found:
        first = one.batch.configs[0]
        time = "cannot run here" if one.seconds is None else _duration(one.seconds)
        seeds = ", ".join(str(config.seeds[0]) for config in one.batch.configs)
        table.add_row(first.data, first.method, seeds, f"{first.steps:,}", time, one.source)
    return table


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=max(1, round(seconds))))
