"""The deterministic teleport maze as a Gymnasium environment."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

pytest.importorskip("ogbench")

from minaction.environments import ANT_TELEPORT
from minaction.mazes._ant import ExactAnt
from minaction.mazes._teleport import LAYOUT


def test_gymnasiums_checker_passes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value is -?infinity.*")
        check_env(gymnasium.make(ANT_TELEPORT).unwrapped, skip_render_check=True)


@pytest.mark.parametrize(("hole", "white"), [((4, 6), (1, 7)), ((5, 1), (6, 10))])
def test_a_black_hole_leads_to_its_white_hole_within_the_step(hole: tuple[int, int], white: tuple[int, int]) -> None:
    environment = gymnasium.make(ANT_TELEPORT)
    beside = LAYOUT.centre(np.array(hole)) + np.array([0.4, -0.3])
    for seed in range(3):
        first, info = environment.reset(seed=seed, options={"position": beside})
        np.testing.assert_array_equal(first[:2], beside)
        assert info["hopped"] is False
        observed, reward, ended, cut, info = environment.step(np.zeros(8, dtype=np.float32))
        np.testing.assert_array_equal(observed[:2], LAYOUT.centre(np.array(white)))
        assert (reward, ended, cut, info["hopped"]) == (0.0, False, False, True)
        after = environment.step(np.zeros(8, dtype=np.float32))[0]
        assert np.linalg.norm(after[:2] - observed[:2]) < 0.5  # it really is there now


def test_away_from_the_holes_it_is_the_exact_ant() -> None:
    environment, exact = gymnasium.make(ANT_TELEPORT), ExactAnt("teleport")
    state, _ = environment.reset(seed=1, options={"position": LAYOUT.centre(np.array([2, 4]))})
    action = np.random.default_rng(0).uniform(-1, 1, 8)
    np.testing.assert_array_equal(environment.step(action)[0], exact.step(state[None], action[None])[0])


def test_starts_are_spread_over_the_cells_and_come_from_the_seed_alone() -> None:
    environment = gymnasium.make(ANT_TELEPORT)
    np.random.seed(3)  # noqa: NPY002 (it is what must not matter)
    starts = np.array([environment.reset(seed=seed)[0] for seed in range(60)])
    np.random.seed(4)  # noqa: NPY002
    np.testing.assert_array_equal(environment.reset(seed=7)[0], starts[7])
    cells = LAYOUT.cell_index[tuple(LAYOUT.cell_of(starts[:, :2]).T)]
    assert cells.min() >= 0
    assert len(np.unique(cells)) > 20


def test_episodes_are_cut_after_a_thousand_steps() -> None:
    assert gymnasium.spec(ANT_TELEPORT).max_episode_steps == 1000
