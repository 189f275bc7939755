"""Tasks seen by a camera: frames that show their states, and the truths of the worlds."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction.mazes._camera import BALL, FLOOR, OTHER, WALL, Camera
from minaction.mazes._layouts import OGBENCH_LAYOUTS
from minaction.tasks._pixels import TASKS, MazePixels, PixelTask
from minaction.testing import check_task

MEDIUM = OGBENCH_LAYOUTS["medium"]


def test_a_frame_shows_walls_floor_and_the_ball_where_it_is() -> None:
    camera = Camera(MEDIUM)
    assert camera.shape == (64, 64, 3)
    centres = MEDIUM.centres
    frames = camera.frames(centres, np.roll(centres, 1, axis=0))
    for frame, (row, column), (other_row, other_column) in zip(
        frames, MEDIUM.free_cells, np.roll(MEDIUM.free_cells, 1, axis=0), strict=True
    ):
        assert tuple(frame[8 * row + 4, 8 * column + 4]) == BALL
        assert tuple(frame[8 * other_row + 4, 8 * other_column + 4]) == OTHER
        assert tuple(frame[2, 2]) == WALL
    assert tuple(camera.background[12, 12]) == FLOOR


def test_the_ball_is_seen_to_a_fraction_of_a_pixel() -> None:
    """The centroid of what differs from the background is the ball's place, wherever it lies between pixels."""
    camera = Camera(MEDIUM)
    places = MEDIUM.centres[0] + np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))
    darker = (camera.background.astype(float) - camera.frames(places)).sum(axis=3)
    at = np.stack(
        [(darker.sum(axis=axis) * (np.arange(64) + 0.5)).sum(axis=1) / darker.sum(axis=(1, 2)) for axis in (1, 2)],
        axis=1,
    )
    step = 8 / MEDIUM.cell_size
    expected = (places - MEDIUM.corner_centre) * step + 4
    np.testing.assert_allclose(at, expected, atol=0.05)


def test_a_map_that_is_not_square_is_centred() -> None:
    giant = OGBENCH_LAYOUTS["giant"]
    frame = Camera(giant).frames(giant.centres[:1])[0]
    rows, columns = giant.walls.shape
    margin = (64 - 4 * rows) // 2
    row, column = giant.free_cells[0]
    assert columns == 16
    assert tuple(frame[margin + 4 * row + 2, 4 * column + 2]) == BALL


@pytest.mark.parametrize("name", ["cliffwalking-pixels", "noisy-gridworld-pixels"])
def test_grid_worlds_keep_the_contract(name: str) -> None:
    check_task(name, episodes=2)


def test_frames_and_states_tell_the_same_story() -> None:
    seen, known = ma.get_task("cliffwalking-pixels"), ma.get_task("cliffwalking")
    frames, states = seen.trajectories(3, 4), known.trajectories(3, 4)
    assert frames.states.dtype == np.uint8
    np.testing.assert_array_equal(frames.offsets, states.offsets)
    np.testing.assert_array_equal(frames.distinct.index, states.distinct.index)
    (truth,), (expected,) = seen.truths(), known.truths()
    np.testing.assert_array_equal(truth.distances, expected.distances)
    assert len(np.unique(truth.sources.reshape(len(truth.sources), -1), axis=0)) == len(expected.sources)


def test_noise_is_fresh_in_every_frame_and_the_same_for_a_seed() -> None:
    task = ma.get_task("noisy-gridworld-pixels")
    first, again = task.trajectories(0, 2), task.trajectories(0, 2)
    np.testing.assert_array_equal(first.states, again.states)
    corner = first.states[:, 0, 0].astype(float)
    assert 10 < corner.std() < 30
    still = ma.get_task("noisy-gridworld-clean-pixels").trajectories(0, 2)
    assert (still.states[:, 0, 0] == still.states[0, 0, 0]).mean() > 0.9


def test_the_other_ball_moves_by_itself() -> None:
    task = TASKS["ogbench-pointmaze-medium-navigate-distractor"]
    assert isinstance(task, MazePixels)
    positions = np.repeat(MEDIUM.centres[:1], 1200, axis=0)
    positions[600:] = MEDIUM.centres[-1]
    frames = task.frames(positions, 0)
    plain = Camera(MEDIUM).frames(positions)
    assert (frames != plain).any(axis=(1, 2, 3)).mean() > 0.4
    np.testing.assert_array_equal(frames, task.frames(positions, 0))
    truth = task.truths()[0]
    assert (truth.sources != truth.targets).any()


def test_every_pixel_task_knows_its_shape_without_data() -> None:
    for task in TASKS.values():
        assert isinstance(task, PixelTask)
        assert task.frames(task.base.truths()[0].sources[:2], 0).shape[1:] == task.state_shape
