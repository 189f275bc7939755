"""The tabulated ball against MuJoCo, and its file in the cache."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.look_ahead import TableReport, measure_table

from minaction._files import read_tensors, write_tensors
from minaction.errors import InputError
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.planning import ExactBall, TabulatedBall
from minaction.planning._simulators import table_path


def assert_right_and_fast(report: TableReport) -> None:
    print(report)
    assert report.contacts > 0.2 * report.steps
    assert report.median < 1e-5
    assert report.median_in_contact < 1e-4
    assert report.percentile_99 < 2e-3
    assert report.worst < 0.05
    assert report.speedup >= 20


@pytest.mark.usefixtures("shared_tables")
def test_the_table_is_right_and_fast() -> None:
    assert_right_and_fast(measure_table("medium", steps=2_000, copies=20_000, environment_steps=500))


@pytest.mark.slow
@pytest.mark.parametrize("maze", list(OGBENCH_LAYOUTS))
def test_the_table_is_right_and_fast_over_twenty_thousand_steps(maze: str) -> None:
    assert_right_and_fast(measure_table(maze))


@pytest.mark.usefixtures("shared_tables")
def test_a_long_look_ahead_stays_in_the_maze_and_with_mujoco() -> None:
    exact, table, random = ExactBall("medium"), TabulatedBall("medium"), np.random.default_rng(0)
    truly = exact.layout.random_positions(50, random)
    ahead, actions = np.array(truly, np.float32), np.zeros((50, 2))
    for step in range(60):
        if step % 10 == 0:
            actions = random.choice([-1.0, 0.0, 1.0], size=(50, 2))
        truly = exact.step(truly, actions)
        ahead = np.asarray(table.step(ahead, actions.astype(np.float32)))  # type: ignore[arg-type]
        assert exact.layout.clearance(ahead.astype(np.float64)).min() > 0.6
    assert np.median(np.abs(ahead - truly).max(axis=1)) < 0.01


@pytest.mark.usefixtures("shared_tables")
def test_a_changed_table_is_made_anew() -> None:
    path = table_path("medium")
    tensors, header = read_tensors(path, "ball-table")
    write_tensors(path, "ball-table", {"pushes": tensors["pushes"] + 1}, {"made": header["made"]})
    assert np.array_equal(TabulatedBall("medium").pushes, tensors["pushes"].reshape(-1, 2))
    assert np.array_equal(read_tensors(path, "ball-table")[0]["pushes"], tensors["pushes"])


@pytest.mark.parametrize("simulator", [ExactBall, TabulatedBall])
def test_an_unknown_maze_is_refused(simulator: type) -> None:
    with pytest.raises(InputError, match="no maze of OGBench named 'larg': did you mean 'large'"):
        simulator("larg")
