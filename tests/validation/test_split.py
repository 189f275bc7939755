"""Episodes held out: a fair share, from everywhere, and none of what is needed for learning."""

from __future__ import annotations

import numpy as np
import pytest

import minaction as ma
from minaction.validation import split, split_all


def _numbered(episodes: int) -> ma.Trajectories:
    """Episode k has the states k, k + 0.1, ... and k % 3 more than two of them."""
    arrays = [k + 0.1 * np.arange(2 + k % 3) for k in range(episodes)]
    return ma.Trajectories.from_episodes(arrays, times=[2.0 * np.arange(len(array)) for array in arrays])


def test_every_episode_is_on_one_side_with_its_times() -> None:
    data = _numbered(40)
    training, held_out = split(data, 0.1)
    assert held_out is not None
    assert (training.num_episodes, held_out.num_episodes) == (36, 4)
    for part in (training, held_out):
        for k in range(part.num_episodes):
            number = int(part.episode(k)[0, 0])
            np.testing.assert_array_equal(part.episode(k), data.episode(number))
    assert sorted([*training.states.ravel(), *held_out.states.ravel()]) == sorted(data.states.ravel())
    assert held_out.times is not None
    assert held_out.times[:2].tolist() == [0.0, 2.0]
    first = held_out.states[held_out.offsets[:-1], 0]
    assert first[0] < 10 < 30 < first[-1]  # from the beginning and from the end


@pytest.mark.parametrize(("episodes", "share"), [(19, 0.1), (100, 0.0), (20, 0.01)])
def test_nothing_is_held_out_where_it_cannot_be_spared(episodes: int, share: float) -> None:
    data = _numbered(episodes)
    assert split(data, share) == (data, None)


def test_an_episode_is_left_to_train_on() -> None:
    training, held_out = split(_numbered(20), 0.98)
    assert held_out is not None
    assert (training.num_episodes, held_out.num_episodes) == (1, 19)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(ma.InputError, match="from 0 to below 1"):
        split(_numbered(30), share)


def test_data_that_seeds_share_stays_shared() -> None:
    data = _numbered(30)
    training, held_out = split_all([data, data], 0.2)
    assert training[0] is training[1]
    assert held_out[0] is held_out[1]
