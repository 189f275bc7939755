"""`minaction data`: list, make, describe, draw and convert data sets."""

from __future__ import annotations

import os

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .._progress import counting_progress
from ..errors import InputError, printable
from ..tasks import TASKS, get_task, read
from ..tasks._cache import cache_path
from ..trajectories import Trajectories
from ..trajectories._writers import convert
from ._models import refuse_models
from ._options import Data
from ._show import make_console
from ._table import check_unit, table_words


def data(options: Data) -> int:
    """Run the command."""
    if options.action == "list":
        return _list()
    if not options.source:
        raise InputError(f"`minaction data {options.action}` needs a task or a file.")
    refuse_models([options.source])
    if options.action in ("convert", "draw") and not options.target:
        raise InputError(f"`minaction data {options.action}` needs the file to write, after the one to read.")
    if options.target and os.path.realpath(options.source) == os.path.realpath(options.target):
        raise InputError(f"{options.target} would take the place of what it is made of; give another name.")
    if options.action in ("info", "make") and options.target:
        raise InputError(f"`minaction data {options.action}` takes one name, not {options.target!r} too; leave it out.")
    if options.action == "make":
        return _make(options)
    console = make_console()
    if options.action == "draw":
        return _draw(console, options)
    with console.status(f"reading {escape(options.source)}"):
        asked = {"keep_actions": options.keep_actions, "seed": options.seed, "episodes": options.episodes}
        found = read(options.source, **asked, **table_words(options))
        check_unit(options, found, options.source)
    if options.action == "convert":
        with console.status(f"writing {escape(str(options.target))}"):
            convert(found, options.target)
        console.print(f"wrote {options.target}: {found!r}", highlight=False, markup=False)
        return 0
    _describe(console, options.source, found)
    return 0


def _list() -> int:
    table = Table(title="Data sets: minaction data make NAME", title_justify="left")
    for column in ("name", "in the cache", "what it is"):
        table.add_column(column, no_wrap=column == "name")
    for name in TASKS.usable():
        task = get_task(name)
        cached = cache_path(name, 0, task.default_episodes).exists()
        table.add_row(name, "yes" if cached else "", task.summary)
    make_console().print(table)
    return 0


def _make(options: Data) -> int:
    console = make_console()
    get_task(options.source)  # refuses a name that does not exist before anything starts
    with counting_progress(f"making {options.source}") as progress:
        found = read(options.source, keep_actions=True, seed=options.seed, episodes=options.episodes, progress=progress)
    _describe(console, options.source, found)
    return 0


def _draw(console: Console, options: Data) -> int:
    from ..reports import draw_states, draw_visits

    maze = getattr(get_task(options.source), "maze", None) if options.source in TASKS else None
    with counting_progress(f"making {options.source}") as progress:
        words = table_words(options)
        found = read(options.source, seed=options.seed, episodes=options.episodes, progress=progress, **words)
    check_unit(options, found, options.source)
    if maze is None:
        draw_states(options.target, found, options.source)
    else:
        draw_visits(options.target, maze, found, options.source)
    console.print(f"wrote {options.target}", highlight=False, markup=False)
    return 0


def _describe(console: Console, name: str, found: Trajectories) -> None:
    table = Table(title=escape(printable(name)), title_justify="left", show_header=False)
    facts = get_task(name).facts(found) if name in TASKS else {}
    for key, value in (found.describe() | facts).items():
        shown = ", ".join(f"{number:.4g}" for number in value) if isinstance(value, list) else str(value)
        table.add_row(key, escape(printable(shown)))
    console.print(table)
