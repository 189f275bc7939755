"""The batched ants against OGBench's own environment."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ogbench")

from minaction.errors import InputError
from minaction.mazes._ant import Ants, ExactAnt, flat_ground, maze_model, reset_noise, reset_states, uprightness
from minaction.mazes._ball import make_ogbench_maze
from minaction.mazes._layouts import ANT_LAYOUTS
from minaction.mazes._teleport import LAYOUT, WHITE_HOLES


def put(environment: Any, state: np.ndarray) -> None:
    reset: Any = importlib.import_module("mujoco").mj_resetData
    reset(environment.model, environment.data)
    environment.set_state(state[:15], state[15:])


def starts(count: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    centres = ANT_LAYOUTS["medium"].centres
    return reset_states(centres[random.integers(len(centres), size=count)], reset_noise(random, count))


def test_layouts_are_ogbenchs() -> None:
    for name, layout in ANT_LAYOUTS.items():
        environment = make_ogbench_maze(name, "ant")
        np.testing.assert_array_equal(layout.walls, environment.maze_map == 1)
        for cell in layout.free_cells[::7]:
            np.testing.assert_array_equal(layout.centre(cell), environment.ij_to_xy(tuple(cell)))
    assert [len(layout.free_cells) for layout in ANT_LAYOUTS.values()] == [26, 46, 86, 45]


@pytest.mark.parametrize("threads", [1, 2])
def test_many_ants_move_as_each_does_alone_in_ogbench_to_the_bit(threads: int) -> None:
    environment, states = make_ogbench_maze("medium", "ant"), starts(3)
    actions = np.random.default_rng(1).uniform(-1, 1, size=(30, 3, 8))
    ants = Ants(maze_model("medium"), 3, threads)
    ants.place(states)
    together = np.stack([ants.step(action) for action in actions])
    for k in range(3):
        put(environment, states[k])
        alone = np.stack([environment.step(action[k])[0] for action in actions])
        np.testing.assert_array_equal(together[:, k], alone)


def test_reset_noise_is_ogbenchs() -> None:
    noise = reset_noise(np.random.default_rng(0), 4000)
    assert np.abs(noise[:, :15]).max() <= 0.1
    np.testing.assert_allclose(noise[:, :15].std(axis=0), 0.1 / 3**0.5, rtol=0.05)
    np.testing.assert_allclose(noise[:, 15:].std(axis=0), 0.1, rtol=0.06)
    environment = make_ogbench_maze("medium", "ant")
    posture = reset_states(np.zeros((1, 2)), np.zeros((1, 29)))[0]
    np.testing.assert_array_equal(posture, np.concatenate([environment.init_qpos, environment.init_qvel]))


def test_placing_some_leaves_the_others_alone() -> None:
    states = starts(3)
    ants = Ants(maze_model("medium"), 3)
    ants.place(states)
    before = ants.step(np.full((3, 8), 0.3))
    ants.place(states[:1], np.array([1]))
    np.testing.assert_array_equal(ants.states[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(ants.states[1], states[0])
    ants.move(np.array([2]), np.array([[4.0, 4.0]]))
    np.testing.assert_array_equal(ants.states[2, :2], [4.0, 4.0])
    np.testing.assert_array_equal(ants.states[2, 2:], before[2, 2:])


def test_uprightness_tells_an_ant_on_its_back() -> None:
    states = reset_states(np.zeros((4, 2)), np.zeros((4, 29)))
    states[1, 3:7] = [0, 1, 0, 0]  # half a turn about x
    states[2, 3:7] = [2, 2, 0, 0]  # a quarter, and not of length one
    states[3, 3:7] = [0, 0, 0, 1]  # half a turn about the vertical
    np.testing.assert_allclose(uprightness(states), [1, -1, 0, 1], atol=1e-12)


def test_the_exact_ant_is_a_function_of_state_and_action() -> None:
    exact, states = ExactAnt("medium"), starts(4)
    actions = np.random.default_rng(2).uniform(-1.5, 1.5, size=(4, 8))
    after = exact.step(states, actions)
    exact.step(after, -actions)
    np.testing.assert_array_equal(exact.step(states, actions), after)
    np.testing.assert_array_equal(exact.step(states[2:3], actions[2:3])[0], after[2])
    environment = make_ogbench_maze("medium", "ant")
    put(environment, states[1])
    np.testing.assert_array_equal(environment.step(np.clip(actions[1], -1, 1))[0], after[1])


def test_the_exact_ant_hops_in_the_teleport_maze() -> None:
    exact = ExactAnt("teleport")
    states = reset_states(LAYOUT.centre(np.array([(4, 6), (5, 1)])), np.zeros((2, 29)))
    after = exact.step(states, np.zeros((2, 8)))
    np.testing.assert_array_equal(after[:, :2], LAYOUT.centre(WHITE_HOLES[[0, 2]]))


def test_an_unknown_maze_is_refused() -> None:
    with pytest.raises(InputError, match="teleport"):
        ExactAnt("teleprt")


def test_flat_ground_has_no_walls() -> None:
    names = [flat_ground().geom(k).name for k in range(flat_ground().ngeom)]
    assert "floor" in names
    assert not any(name.startswith("block") for name in names)
