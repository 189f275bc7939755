"""Converting: ours, and OGBench's layout as OGBench's own loader sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ogbench.utils import load_dataset, make_env_and_datasets

from minaction.errors import InputError
from minaction.tasks import read
from minaction.trajectories import Trajectories
from minaction.trajectories._writers import convert

GENERATOR = np.random.default_rng(2)
LENGTHS = [4, 1, 6, 2]


def example(times: bool = False, actions: bool = True) -> Trajectories:
    return Trajectories.from_episodes(
        [GENERATOR.normal(size=(length, 2)).astype(np.float32) for length in LENGTHS],
        [np.cumsum(GENERATOR.uniform(0.1, 1, size=length)) for length in LENGTHS] if times else None,
        [GENERATOR.uniform(-1, 1, size=(length, 2)) for length in LENGTHS] if actions else None,
    )


def equal(one: Trajectories, other: Trajectories) -> bool:
    names = ("states", "offsets", "times", "actions")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("times", [False, True])
@pytest.mark.parametrize("actions", [False, True])
def test_what_is_written_reads_back_the_same(tmp_path, suffix, times, actions):
    data = example(times, actions)
    path = tmp_path / f"x{suffix}"
    convert(data, path)
    assert equal(read(path, keep_actions=True), data)
    assert equal(read(path), Trajectories(data.states, data.offsets, data.times))


def expected_transitions(data: Trajectories) -> dict[str, np.ndarray]:
    """What OGBench's loader should make of it, by walking through every step."""
    rows: dict[str, list] = {"observations": [], "next_observations": [], "actions": [], "terminals": []}
    for k in range(data.num_episodes):
        for i in range(data.offsets[k], data.offsets[k + 1] - 1):
            rows["observations"].append(data.states[i])
            rows["next_observations"].append(data.states[i + 1])
            rows["actions"].append(data.actions[i])  # type: ignore[index]
            rows["terminals"].append(float(i + 2 == data.offsets[k + 1]))
    return {name: np.array(values, dtype=np.float32) for name, values in rows.items()}


def test_ogbenchs_loader_sees_every_transition(tmp_path):
    data = example()
    path = tmp_path / "x.npz"
    convert(data, path)
    loaded = load_dataset(str(path))
    expected = expected_transitions(data)
    assert loaded.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(loaded[name], values)
    compact = load_dataset(str(path), compact_dataset=True)
    np.testing.assert_array_equal(compact["observations"], data.states)
    np.testing.assert_array_equal(np.flatnonzero(compact["valids"] == 0), data.offsets[1:] - 1)


def test_ogbench_opens_both_files_as_a_data_set_of_its_own(tmp_path):
    train, validation = example(), example()
    convert(train, tmp_path / "mine.npz")
    convert(validation, tmp_path / "mine-val.npz")  # where OGBench looks for it
    loaded: Any = make_env_and_datasets("pointmaze-medium-navigate-v0", dataset_path=str(tmp_path / "mine.npz"))
    _, first, second = loaded
    np.testing.assert_array_equal(first["observations"], expected_transitions(train)["observations"])
    np.testing.assert_array_equal(second["observations"], expected_transitions(validation)["observations"])


def test_the_arrays_have_ogbenchs_types(tmp_path):
    convert(example(), tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as arrays:
        types = {name: arrays[name].dtype.name for name in arrays}
    assert types == {"observations": "float32", "actions": "float32", "terminals": "bool"}


def test_without_actions_the_array_has_no_columns_and_the_loader_still_opens_it(tmp_path):
    convert(example(actions=False), tmp_path / "x.npz")
    loaded = load_dataset(str(tmp_path / "x.npz"))
    assert loaded["actions"].shape == (len(loaded["observations"]), 0)


def test_a_mapped_data_set_is_converted(tmp_path):
    data = example()
    convert(data, tmp_path / "x.safetensors")
    mapped = read(tmp_path / "x.safetensors", keep_actions=True, memory_map=True)
    convert(mapped, tmp_path / "y.npz")
    assert equal(read(tmp_path / "y.npz", keep_actions=True), data)


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("dtype", ["uint8", "float64", "bool"])
def test_images_of_every_type_read_back_the_same(tmp_path, suffix, dtype):
    frames = GENERATOR.integers(0, 256, (13, 6, 5, 3)).astype(dtype)
    data = Trajectories.from_flat(frames, [0, 4, 5, 11, 13])
    convert(data, tmp_path / f"x{suffix}")
    found = read(tmp_path / f"x{suffix}")
    assert found.states.dtype == np.dtype(dtype)
    assert found.fingerprint == data.fingerprint


@pytest.mark.parametrize("name", ["x.csv", "x", "x.hdf5"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(InputError, match=r"must be \.safetensors or \.npz"):
        convert(example(), tmp_path / name)


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, suffix):
    folder: Path = tmp_path / f"x{suffix}"
    folder.mkdir()
    with pytest.raises(InputError, match="is a folder"):
        convert(example(), folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="Cannot write"):
        convert(example(), tmp_path / "file" / f"x{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", folder.name]
