"""`Source`: where data meets truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.exact import observed_distance
from minaction.tasks import Source, get_task, read
from minaction.trajectories import Trajectories


def save_walks(path: Path, times: bool = False) -> Trajectories:
    """Random walks on ten places, saved to a file."""
    random = np.random.default_rng(0)
    walks = [np.clip(np.cumsum(random.choice([-1, 1], 40)) + 5, 0, 9).astype(np.float32) for _ in range(20)]
    clocks = [np.cumsum(random.uniform(0.5, 2.0, 40)) for _ in walks] if times else None
    data = Trajectories.from_episodes(walks, clocks)
    data.save(path)
    return data


def test_fresh_data_for_every_seed_where_it_is_cheap() -> None:
    source = Source("cliffwalking", (0, 1), episodes=5)
    assert source.fresh
    assert source.data(0).num_episodes == source.data(1).num_episodes == 5
    assert source.data(0).fingerprint != source.data(1).fingerprint
    assert source.data(1).fingerprint == get_task("cliffwalking").trajectories(1, 5).fingerprint
    assert source.data(0) is source.data(0)


def test_the_worlds_truth_is_the_same_for_every_seed_and_the_observed_one_is_not() -> None:
    source = Source("cliffwalking", (0, 1), episodes=5)
    (true, observed), (same, other) = source.truths(0), source.truths(1)
    assert true is same
    assert (true.name, observed.name) == ("true", "observed")
    assert observed.distances.shape != other.distances.shape or (observed.distances != other.distances).any()


def test_episodes_reach_the_observed_truth() -> None:
    few, many = (Source("cliffwalking", episodes=count).truths(0)[1] for count in (2, 100))
    assert np.isfinite(few.distances).sum() < np.isfinite(many.distances).sum()


@pytest.mark.parametrize("times", [False, True])
def test_a_persons_file_is_judged_by_what_was_observed(tmp_path: Path, times: bool) -> None:
    path = tmp_path / "log.safetensors"
    data = save_walks(path, times)
    source = Source(str(path), (0, 1))
    assert source.task is None
    assert source.layout is None
    assert not source.fresh
    assert source.data(0) is source.data(1)
    (truth,) = source.truths(1)
    assert (truth.name, truth.unit) == ("observed", "time" if times else "steps")
    states, distances = observed_distance(data)
    np.testing.assert_array_equal(truth.sources, states)
    np.testing.assert_array_equal(truth.distances, distances)


def test_no_truth_is_known_where_states_do_not_repeat(tmp_path: Path) -> None:
    Trajectories.from_flat(np.random.default_rng(0).normal(size=(200, 2))).save(tmp_path / "x.safetensors")
    assert Source(str(tmp_path / "x.safetensors")).truths(0) == []


def test_images_that_repeat_have_an_observed_truth(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), np.uint8)
    data = Trajectories.from_episodes([frames[[0, 1, 2, 3, 0, 1, 2, 3]], frames[[3, 0, 1, 2]]])
    data.save(tmp_path / "x.safetensors")
    (truth,) = Source(str(tmp_path / "x.safetensors")).truths(0)
    assert truth.sources.shape == (4, 8, 8, 3)
    assert truth.sources.dtype == np.uint8
    assert truth.distances[0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["one-way-ring", "one-way-line"])
def test_durations_are_judged_in_time(name: str) -> None:
    assert {truth.unit for truth in Source(name).truths(0)} == {"time"}


def test_the_first_episodes_of_a_file_can_be_read(tmp_path: Path) -> None:
    save_walks(tmp_path / "log.safetensors")
    assert read(tmp_path / "log.safetensors", episodes=3).num_episodes == 3
    with pytest.raises(InputError, match="first 21 of 20"):
        Source(str(tmp_path / "log.safetensors"), episodes=21).data(0)


def test_nothing_is_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> Trajectories:
        raise AssertionError

    monkeypatch.setattr("minaction.tasks._source.read", refuse)
    source = Source("ogbench-pointmaze-medium-stitch")
    assert [truth.unit for truth in source.truths(0)] == ["steps", "cells", "steps"]
    assert source.layout is not None


def test_a_name_that_is_neither_task_nor_file_is_refused() -> None:
    with pytest.raises(InputError, match=r"no file 'cliffwalkin', and there is no task .*did you mean 'cliffwalking'"):
        Source("cliffwalkin").data(0)
