"""A user's own grid, from a TOML file::

tasks = ["cliffwalking", "keydoor-gridworld", "log.csv"]     # a file of your own is a task too
steps = 20000                                    # the objective's default if left out
seeds = 3                                        # 5 if left out
episodes = 50

[methods.maddist]                                # an objective with its default settings

[methods.wide]                                   # a method of your own
objective = "maddist"
settings = { quasimetric = "wide-norm", learning_rate = 3e-4, "encoder.fourier" = 64 }

[tables."log.csv"]                               # what its columns are, in the words of `minaction train`
episode = "run_id"
time = "stamp"
states = ["x", "y"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from .._files import check_regular
from ..errors import InputError, unknown_name
from ..objectives import make_objective
from ..tasks import TASKS, get_task
from ..training._fit import held_out_by_default
from ..trajectories import TableOptions
from ._grids import SEEDS, Grid, Method, trial

_KEYS = ("tasks", "methods", "tables", "steps", "seeds", "episodes")
_METHOD_KEYS = ("objective", "settings")


def own_grid(path: Path, seeds: int | None = None, steps: int | None = None) -> Grid:
    """The grid that the file describes; `seeds` and `steps` override those in the file."""
    described = _read(path)
    try:
        _only_keys(described, _KEYS)
        tables = _tables(described.get("tables", {}))
        tasks = _tasks(described.get("tasks"), path.parent)
        for name in tables:
            if name not in tasks:
                raise unknown_name("task", name, tasks)
        methods = _methods(described.get("methods"))
        own_steps, own_seeds, episodes = (_whole(described, key) for key in ("steps", "seeds", "episodes"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    runs = [
        replace(
            trial(data, method, seed, steps or own_steps or make_objective(method.objective).default_steps, episodes),
            table=tables.get(task),
            held_out=held_out_by_default(data),
        )
        for task, data in tasks.items()
        for method in methods
        for seed in range(seeds or own_seeds or SEEDS)
    ]
    return Grid(path.stem, tuple(runs))


def _read(path: Path) -> dict[str, Any]:
    check_regular(path)
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no file {path}; give paper, ablations or a .toml file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    except (ValueError, RecursionError) as error:  # with the line in the message, or not text, or brackets without end
        raise InputError(f"{path} is not TOML: {error}.") from error


def _only_keys(table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise unknown_name("key", key, known)


def _tasks(names: Any, folder: Path) -> dict[str, str]:
    """By what they are called in the file: tasks, and files beside it or beside the person."""
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError('tasks should be a list of names such as ["cliffwalking"].')
    found = {}
    for name in names:
        beside = folder / name
        if name in TASKS:
            found[name] = name
        elif Path(name).exists() or beside.exists():
            found[name] = name if Path(name).exists() else str(beside)
        else:
            get_task(name)  # refuses it, and names the nearest
    return found


def _tables(tables: Any) -> dict[str, TableOptions]:
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError('tables should be tables such as [tables."log.csv"].')
    for table in tables.values():
        _only_keys(table, tuple(field.name for field in fields(TableOptions)))
    return {name: TableOptions(**table) for name, table in tables.items()}


def _methods(tables: Any) -> list[Method]:
    if not isinstance(tables, dict) or not tables:
        raise InputError("there should be a table [methods.NAME] for at least one method.")
    methods = []
    for label, table in tables.items():
        if not re.fullmatch(r"[\w.+-]+", label) or label.startswith("."):
            raise InputError(f"the method's name {label!r} should consist of letters, digits, '-', '_', '+' and '.'.")
        if not isinstance(table, dict):
            raise InputError(f"methods.{label} should be a table, not {table!r}.")
        _only_keys(table, _METHOD_KEYS)
        objective, settings = table.get("objective", label), table.get("settings", {})
        if not isinstance(objective, str) or not isinstance(settings, dict):
            raise InputError(
                f"methods.{label}: objective should be a name, settings a table such as {{ polyak = 0.1 }}."
            )
        make_objective(objective, settings)  # raises if it cannot be built
        methods.append(Method(label, objective, settings))
    return methods


def _whole(table: Mapping[str, Any], key: str) -> int | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise InputError(f"{key} should be a whole number of at least 1, not {value!r}.")
    return value
