"""Which groups one program trains side by side: on a GPU more lanes cost little, and are compiled once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..tasks import get_task
from ._cells import Group

Bundle = tuple[Group, ...]
"""Groups that are trained in one program, a lane for every cell."""

_LANES_OF_A_GPU = 20


def sensible_lanes(devices: str) -> int:
    """How many lanes pay: a GPU is hardly busy with the seeds of one group, a CPU is with a single one."""
    return 1 if devices == "cpu" else _LANES_OF_A_GPU


def bundled(groups: Sequence[Group], lanes: int, step_of: Callable[[Group], int]) -> list[Bundle]:
    """The groups in bundles of at most `lanes` cells, in the order in which the bundles' first groups come.

    A group is never split, so that one with more cells than that is a bundle of its own. Only groups that stand at the
    same step can be trained side by side; `step_of` says where one does.
    """
    steps = {group.name: step_of(group) for group in groups}
    bundles: list[list[Group]] = []
    for group in groups:
        for bundle in bundles:
            room = lanes - sum(len(member.cells) for member in bundle)
            alike = steps[group.name] == steps[bundle[0].name]
            if len(group.cells) <= room and alike and go_together(group, bundle[0]):
                bundle.append(group)
                break
        else:
            bundles.append([group])
    return [tuple(bundle) for bundle in bundles]


def go_together(first: Group, second: Group) -> bool:
    """Whether one program can train both: only what it is trained on may differ, and that only in its values.

    Where every seed has data of its own it differs in structure too: small worlds are encoded state by state.
    """
    tasks = [get_task(group.task) for group in (first, second)]
    return (
        first.config.goes_with(second.config)
        and first.config.episodes == second.config.episodes
        and tasks[0].state_size == tasks[1].state_size
        and not any(task.fresh_data_per_seed for task in tasks)
    )
