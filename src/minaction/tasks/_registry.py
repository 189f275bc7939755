"""Every task by its name. A family of tasks is one module with a dictionary `TASKS`."""

from __future__ import annotations

from ..errors import unknown_name
from ._base import Task


def all_tasks() -> dict[str, Task]:
    """Every task by name, family by family in reading order."""
    from ._ant_mazes import TASKS as ANT_MAZES
    from ._gridworlds import TASKS as GRIDWORLDS
    from ._mazes import TASKS as MAZES

    return {**GRIDWORLDS, **MAZES, **ANT_MAZES}


def get_task(name: str) -> Task:
    """The task of that name; a name that does not exist is refused, with the nearest ones that do."""
    tasks = all_tasks()
    if name not in tasks:
        raise unknown_name("task", name, tasks)
    return tasks[name]
