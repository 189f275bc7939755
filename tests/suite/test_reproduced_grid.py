"""The grid behind RESULTS.md: complete, and nothing twice."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from minaction.suite._cells import grouped
from minaction.suite._grids import GRID_WORLDS, MAZES, METHODS

SCRIPT = Path(__file__).parents[2] / "reproductions" / "grid.py"
specification = importlib.util.spec_from_file_location("reproduced_grid", SCRIPT)
assert specification is not None
assert specification.loader is not None
grid = importlib.util.module_from_spec(specification)
specification.loader.exec_module(grid)


def test_every_task_and_method_is_there_once_with_three_seeds_or_more() -> None:
    groups = grouped(grid.cells())
    assert {(group.task, group.method.label) for group in groups} == {
        (task, method) for task in (*GRID_WORLDS, *MAZES) for method in METHODS
    }
    for group in groups:
        assert [cell.seed for cell in group.cells] == list(range(len(group.cells)))
        assert len(group.cells) >= 3
        assert len({cell.steps for cell in group.cells}) == 1


def test_a_cell_belongs_to_one_part() -> None:
    names = [group.name for part in grid.PARTS for group in grouped(grid.cells([part]))]
    assert sorted(names) == sorted(group.name for group in grouped(grid.cells()))
