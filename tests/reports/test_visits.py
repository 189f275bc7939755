"""Pictures of visited positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from minaction.commands._data import data as data_command
from minaction.commands._options import Data
from minaction.errors import InputError
from minaction.mazes._layouts import ANT_LAYOUTS, POINT_MAZE_LAYOUTS, MazeLayout
from minaction.reports import draw_visits
from minaction.reports._visits import visit_counts
from minaction.trajectories import Trajectories


@pytest.mark.parametrize("layouts", [ANT_LAYOUTS, POINT_MAZE_LAYOUTS], ids=["ogbench", "gymnasium-robotics"])
def test_visits_are_counted_where_they_were(layouts: dict[str, MazeLayout]) -> None:
    layout = layouts["medium"]
    cells = layout.free_cells[[0, 3, 3, 7]]
    data = Trajectories.from_flat(np.concatenate([layout.centre(cells), np.ones((4, 3))], axis=1))
    counts = visit_counts(layout, data)
    per_cell = counts.reshape(8, 12, 8, 12).sum(axis=(1, 3))
    expected = np.zeros((8, 8))
    np.add.at(expected, tuple(cells.T), 1)
    np.testing.assert_array_equal(per_cell, expected)


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib.image")
    layout = ANT_LAYOUTS["teleport"]
    draw_visits(tmp_path / "visits.png", layout, Trajectories.from_flat(layout.centres), "visits")
    picture = matplotlib.imread(tmp_path / "visits.png")
    assert picture.shape[0] > 200
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 10


def test_a_picture_needs_a_file_to_go_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs the file"):
        data_command(Data("draw", "ogbench-antmaze-medium-stitch"))
    assert not list(tmp_path.iterdir())
