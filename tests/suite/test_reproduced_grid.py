"""The grid behind RESULTS.md: complete, and nothing twice."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from minaction.suite._grids import GRID_WORLDS, MAZES, METHODS

SCRIPT = Path(__file__).parents[2] / "reproductions" / "grid.py"
specification = importlib.util.spec_from_file_location("reproduced_grid", SCRIPT)
assert specification is not None
assert specification.loader is not None
grid = importlib.util.module_from_spec(specification)
specification.loader.exec_module(grid)


def test_every_task_and_method_is_there_once_with_three_seeds_or_more() -> None:
    kinds = grid.runs()
    assert kinds.keys() == {(task, method) for task in (*GRID_WORLDS, *MAZES) for method in METHODS}
    for (task, method), runs in kinds.items():
        assert [run.seeds for run in runs] == [(seed,) for seed in range(len(runs))]
        assert len(runs) >= 3
        assert {(run.data, run.method) for run in runs} == {(task, method)}
        assert len({run.steps for run in runs}) == 1


def test_a_run_belongs_to_one_part() -> None:
    assert sorted(kind for part in grid.PARTS for kind in grid.runs([part])) == sorted(grid.runs())
