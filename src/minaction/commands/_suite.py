"""`minaction suite`: a grid of trainings into a store, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .._cores import keeping_to, share_of_cores
from .._progress import counting_progress
from ..cli import Reproduce, Suite
from ..errors import InputError, unknown_name
from ..suite._bundles import sensible_lanes
from ..suite._cells import Cell, grouped
from ..suite._estimate import Estimate, estimates
from ..suite._grids import GRIDS, Grid, chosen, existing
from ..suite._local import Local, default_devices, sensible_bundles, sensible_jobs
from ..suite._own_grid import own_grid
from ..suite._ray import RayCluster
from ..suite._runner import run_suite
from ..suite._store import Store
from ..suite._work import Backend
from ._show import make_console


def suite(options: Suite) -> int:
    """Carry the command out; 1 if a cell failed."""
    console = make_console()
    check_numbers(options)
    grid, absent = existing(chosen(_grid(options), [name for item in options.only for name in item.split(",") if name]))
    for task in absent:
        console.print(f"{task} is left out: this version has no such task.", highlight=False)
    store = Store(options.out or Path("runs") / grid.name)
    if options.dry_run:
        say_cost(console, store, grid.cells, options)
        console.print("Nothing was trained.", highlight=False)
        return 0
    tally = run_suite(store, grid.name, grid.cells, backend(options, grid.cells))
    console.print(f"{tally.done} of {tally.total} cells are in {store.path}", highlight=False)
    if tally.failed:
        console.print(f"{tally.failed} failed; why is in {store.path / 'failures'}", highlight=False)
    return 1 if tally.failed else 0


def check_numbers(options: Suite | Reproduce) -> None:
    """Refuse numbers that mean nothing, and options of the other backend."""
    for name in ("seeds", "steps", "jobs", "lanes"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise InputError(f"--{name} must be at least 1.")
    if options.backend == "ray" and options.jobs is not None:
        raise InputError("--jobs is for --backend local; Ray shares the work out by what the cluster has.")
    if options.backend == "ray" and options.lanes is not None:
        raise InputError("--lanes is for --backend local; on Ray every task and method is a program of its own.")
    if options.backend == "local" and options.address is not None:
        raise InputError("--address is for --backend ray.")


def _grid(options: Suite) -> Grid:
    if options.grid in GRIDS:
        return GRIDS[options.grid](options.seeds, options.steps)
    if Path(options.grid).suffix != ".toml":
        raise unknown_name("suite", options.grid, [*GRIDS, "FILE.toml"])
    return own_grid(Path(options.grid), options.seeds, options.steps)


def backend(options: Suite | Reproduce, cells: Sequence[Cell]) -> Backend:
    """Where a person wants the cells trained."""
    if options.backend == "ray":
        return RayCluster(options.address, options.device)
    devices = default_devices()
    return Local(_jobs(options, cells), options.lanes or sensible_lanes(devices), sensible_bundles(devices))


def _jobs(options: Suite | Reproduce, cells: Sequence[Cell]) -> int:
    """How many workers train the cells on this machine, however many of them are left: bits depend on their cores."""
    return options.jobs or sensible_jobs(default_devices(), len(grouped(cells)))


def say_cost(console: Console, store: Store, cells: Sequence[Cell], options: Suite | Reproduce) -> None:
    """Show what is still to be trained and how long that will take."""
    store.check(cells)
    left = store.left(cells)
    jobs = 1 if options.backend == "ray" else _jobs(options, cells)
    # With the cores that a worker has, one of several.
    with keeping_to(share_of_cores(0, jobs)), counting_progress("measuring speeds") as progress:
        found = estimates(store, left, cells, progress)
    console.print(f"{sum(map(store.has, cells))} of {len(cells)} cells are finished in {store.path}.", highlight=False)
    if not found:
        return
    console.print(_table(found))
    seconds = sum(estimate.seconds or 0.0 for estimate in found) / jobs
    workers = "one worker" if jobs == 1 else f"{jobs} workers"
    console.print(f"About {_duration(seconds)} with {workers} on a machine like this.", highlight=False)


def _table(found: Sequence[Estimate]) -> Table:
    table = Table("task", "method", "seeds", "steps", "time", "known from", title="What would be trained")
    for estimate in found:
        group = estimate.group
        time = "cannot run here" if estimate.seconds is None else _duration(estimate.seconds)
        seeds = ", ".join(str(cell.seed) for cell in group.cells)
        table.add_row(group.task, group.method.label, seeds, f"{group.steps:,}", time, estimate.source)
    return table


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=max(1, round(seconds))))
