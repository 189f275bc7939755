"""`.npz` and `.npy`: OGBench's layout, plain ones, and broken files that must end in one sentence."""

from __future__ import annotations

import os
import pickle
import struct
import tracemalloc
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ogbench.utils import load_dataset

from minaction.errors import InputError
from minaction.tasks import read
from minaction.trajectories import as_trajectories

GENERATOR = np.random.default_rng(3)
LENGTHS = [5, 2, 1, 4]
OFFSETS = [0, 5, 7, 8, 12]
STATES = GENERATOR.normal(size=(12, 3)).astype(np.float32)
ACTIONS = GENERATOR.normal(size=(12, 2)).astype(np.float32)
TERMINALS = np.isin(np.arange(12), [4, 6, 7, 11])


def save(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


# -------------------------------------------------------------------- OGBench


@pytest.mark.parametrize("name", ["pointmaze-medium-navigate-v0.npz", "pointmaze-medium-navigate-v0-val.npz"])
@pytest.mark.parametrize("compressed", [False, True])
def test_ogbench_files_end_episodes_at_the_last_state(tmp_path, name, compressed):
    path = tmp_path / name
    writer = np.savez_compressed if compressed else np.savez
    writer(path, observations=STATES, actions=ACTIONS, terminals=TERMINALS, qpos=np.zeros((12, 9)))
    data = read(path)
    assert data.offsets.tolist() == OFFSETS
    np.testing.assert_array_equal(data.states, STATES)
    assert data.actions is None
    kept = read(path, keep_actions=True)
    np.testing.assert_array_equal(kept.actions, ACTIONS)


@pytest.mark.parametrize("compact", [False, True])
def test_what_ogbenchs_loader_returns_gives_the_same_episodes(tmp_path, compact):
    save(tmp_path / "x.npz", observations=STATES, actions=ACTIONS, terminals=TERMINALS)
    loaded = load_dataset(str(tmp_path / "x.npz"), compact_dataset=compact)
    assert ("next_observations" in loaded) is not compact
    data = read(save(tmp_path / "loaded.npz", **loaded), keep_actions=True)
    whole = read(tmp_path / "x.npz", keep_actions=True)
    episodes = [k for k, length in enumerate(LENGTHS) if compact or length > 1]  # no transition, nothing there
    assert data.num_episodes == len(episodes)
    for mine, original in enumerate(episodes):
        np.testing.assert_array_equal(data.episode(mine), whole.episode(original))
        first, last = data.offsets[mine], data.offsets[mine + 1] - 1
        start = OFFSETS[original]
        assert data.actions is not None
        np.testing.assert_array_equal(data.actions[first:last], ACTIONS[start : start + last - first])


def test_single_transitions_are_episodes_of_two_states(tmp_path):
    path = save(tmp_path / "x.npz", observations=[[0.0], [5.0]], next_observations=[[1.0], [6.0]], terminals=[1, 1])
    data = read(path)
    assert data.offsets.tolist() == [0, 2, 4]
    assert data.states.ravel().tolist() == [0, 1, 5, 6]


def test_shuffled_transitions_are_refused_with_the_row(tmp_path):
    path = save(
        tmp_path / "x.npz",
        observations=[[0.0], [1.0], [7.0], [8.0]],
        next_observations=[[1.0], [2.0], [8.0], [9.0]],
        terminals=[0, 0, 0, 1],
    )
    assert "next state of row 1 is not the state of the row after it" in refusal(path)


def test_rounding_between_the_two_arrays_is_forgiven(tmp_path):
    following = np.concatenate([STATES[1:], STATES[:1]]) + np.float32(1e-6)
    path = save(tmp_path / "x.npz", observations=STATES, next_observations=following, terminals=np.arange(12) == 11)
    data = read(path)
    np.testing.assert_array_equal(data.states[:-1], STATES)
    np.testing.assert_array_equal(data.states[-1], following[-1])


def test_rows_after_the_last_end_are_an_episode_too(tmp_path):
    path = save(tmp_path / "x.npz", observations=STATES, terminals=np.arange(12) == 4)
    assert read(path).offsets.tolist() == [0, 5, 12]


# -------------------------------------------------------------------- plain files


@pytest.mark.parametrize("name", ["states", "observations"])
@pytest.mark.parametrize(
    "ends",
    [
        {"offsets": OFFSETS},
        {"episode": np.repeat([7, 3, 9, 1], LENGTHS)},
        {"episode_ids": np.repeat(["a", "b", "c", "d"], LENGTHS)},
        {"terminals": TERMINALS},
        {"terminals": TERMINALS & (np.arange(12) < 6), "timeouts": TERMINALS & (np.arange(12) >= 6)},
        {"terminals": TERMINALS.astype(np.float32)[:, None]},
        {"dones": TERMINALS.astype(np.uint8)},
        {"done": TERMINALS},
        {"terminal": TERMINALS},
        {"terminated": TERMINALS & (np.arange(12) < 6), "truncated": TERMINALS & (np.arange(12) >= 6)},
        {"is_last": TERMINALS.astype(np.int64)},
        {"episode_ends": OFFSETS[1:]},
        {"episode_ends": TERMINALS},
        {"episode_starts": OFFSETS[:-1]},
        {"episode_starts": np.roll(TERMINALS, 1)},
        {"episode_starts": np.roll(TERMINALS, 1).astype(np.float32)},  # as in a buffer of Stable-Baselines3
        {"is_first": np.roll(TERMINALS, 1) & (np.arange(12) > 0)},  # the file may begin amid an episode
        {"episode_lengths": LENGTHS},
        {"episode_index": np.repeat([0, 1, 2, 3], LENGTHS)},
        {"episode_id": np.repeat([0, 1, 2, 3], LENGTHS)},
    ],
)
def test_every_way_to_say_where_episodes_end(tmp_path, name, ends):
    times = np.arange(12) * 0.5
    data = read(save(tmp_path / "x.npz", times=times, **{name: STATES}, **ends))
    assert data.offsets.tolist() == OFFSETS
    np.testing.assert_array_equal(data.states, STATES)
    np.testing.assert_array_equal(data.times, times)


@pytest.mark.parametrize("name", ["time", "timestamps", "timestamp", "stamps"])
def test_every_name_of_the_times(tmp_path, name):
    data = read(save(tmp_path / "x.npz", states=STATES, offsets=OFFSETS, **{name: np.arange(12) * 0.5}))
    np.testing.assert_array_equal(data.times, np.arange(12) * 0.5)


@pytest.mark.parametrize("mark", [TERMINALS, ~TERMINALS, TERMINALS.astype(np.float64)[:, None]])
def test_what_may_mark_ends_under_another_name_is_not_passed_over(tmp_path, mark):
    arrays = {"states": STATES, "cut": mark}
    message = refusal(save(tmp_path / "x.npz", **arrays))
    assert "'cut' is 0 or 1 in each of the 12 rows; call it 'terminals'" in message
    with pytest.raises(InputError, match="'cut' is 0 or 1"):
        as_trajectories(arrays)
    with pytest.warns(UserWarning, match="'cut' is not used"):
        assert read(save(tmp_path / "y.npz", **arrays, offsets=[0, 12])).num_episodes == 1


def test_arrays_of_unknown_names_are_named_in_a_warning(tmp_path):
    parts = np.repeat([0, 1, 2, 3], LENGTHS)
    for objects in ({}, {"about": np.array([{}])}):  # what cannot be unpacked is not looked at
        path = save(tmp_path / "x.npz", states=STATES, trajectory=parts, on=np.ones(12), **objects)
        with pytest.warns(UserWarning, match="all 12 rows are taken for one, and 'trajectory', 'on'.* are not used"):
            assert read(path).num_episodes == 1
    with pytest.warns(UserWarning, match="'trajectory' is not used, as no such name is known"):
        read(save(tmp_path / "x.npz", states=STATES, offsets=OFFSETS, trajectory=parts, rewards=np.ones(12)))


def test_what_known_data_sets_hold_besides_is_not_warned_of(tmp_path):
    others = {"rewards": np.ones(12), "masks": ~TERMINALS, "qpos": STATES, "prev_qvel": STATES, "infos/goal": STATES}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(save(tmp_path / "x.npz", observations=STATES, actions=ACTIONS, terminals=TERMINALS, **others))


def test_states_alone_are_one_episode_and_three_axes_are_many(tmp_path):
    assert read(save(tmp_path / "a.npz", states=STATES)).offsets.tolist() == [0, 12]
    stacked, actions = STATES.reshape(3, 4, 3), ACTIONS.reshape(3, 4, 2)
    data = read(save(tmp_path / "b.npz", states=stacked, actions=actions), keep_actions=True)
    assert data.offsets.tolist() == [0, 4, 8, 12]
    np.testing.assert_array_equal(data.states, STATES)
    np.testing.assert_array_equal(data.actions, ACTIONS)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "u1", ">f4", "?"])
def test_npy_of_every_number_type(tmp_path, dtype):
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    np.save(tmp_path / "x.npy", values)
    assert read(tmp_path / "x.npy").states.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_npy_with_columns_first_and_with_three_axes(tmp_path):
    np.save(tmp_path / "x.npy", np.asfortranarray(STATES))
    np.testing.assert_array_equal(read(tmp_path / "x.npy").states, STATES)
    np.save(tmp_path / "y.npy", STATES.reshape(2, 6, 3))
    assert read(tmp_path / "y.npy").offsets.tolist() == [0, 6, 12]


@pytest.mark.parametrize("shape", [(12, 3), (2, 6, 3), (36,)])
def test_npy_mapped_into_memory(tmp_path, shape):
    np.save(tmp_path / "x.npy", STATES.reshape(shape))
    data, whole = read(tmp_path / "x.npy", memory_map=True), read(tmp_path / "x.npy")
    assert data.is_mapped
    assert not whole.is_mapped
    np.testing.assert_array_equal(data.states, whole.states)
    assert data.fingerprint == whole.fingerprint


def test_npy_that_cannot_be_mapped_as_it_is(tmp_path):
    np.save(tmp_path / "wide.npy", STATES.astype(np.int64))
    assert "int64" in refusal(tmp_path / "wide.npy", memory_map=True)
    np.save(tmp_path / "foreign.npy", STATES.astype(">f4"))
    assert ">f4" in refusal(tmp_path / "foreign.npy", memory_map=True)
    np.save(tmp_path / "large.npy", STATES.astype(np.float64) * 1e300)
    assert "too large for float32" in refusal(tmp_path / "large.npy", memory_map=True)
    np.save(tmp_path / "turned.npy", np.asfortranarray(STATES))
    assert "column order" in refusal(tmp_path / "turned.npy", memory_map=True)
    states = STATES.copy()
    states[7, 1] = np.nan
    np.save(tmp_path / "nan.npy", states)
    assert "state 7 holds NaN" in refusal(tmp_path / "nan.npy", memory_map=True)
    assert "cannot be memory-mapped" in refusal(save(tmp_path / "x.npz", states=STATES), memory_map=True)


# -------------------------------------------------------------------- images

FRAMES = GENERATOR.integers(0, 256, (12, 5, 4, 3), np.uint8)


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize(
    ("shape", "offsets", "state_shape"),
    [
        ((12, 60), [0, 12], (60,)),
        ((3, 4, 60), [0, 4, 8, 12], (60,)),
        ((12, 5, 4, 3), [0, 12], (5, 4, 3)),
        ((3, 4, 5, 4, 3), [0, 4, 8, 12], (5, 4, 3)),
    ],
)
def test_an_array_of_states_alone_is_understood_by_its_axes(tmp_path, shape, offsets, state_shape, memory_map):
    np.save(tmp_path / "x.npy", FRAMES.reshape(shape))
    data = read(tmp_path / "x.npy", memory_map=memory_map)
    assert data.is_mapped is memory_map
    assert data.offsets.tolist() == offsets
    assert data.state_shape == state_shape
    assert data.states.dtype == np.uint8
    np.testing.assert_array_equal(data.states, FRAMES.reshape(12, *state_shape))
    if not memory_map:
        save(tmp_path / "x.npz", states=FRAMES.reshape(shape))
        assert read(tmp_path / "x.npz").fingerprint == data.fingerprint


@pytest.mark.parametrize("shape", [(12, 5, 12), (12, 5, 4, 3), (12, 5, 2, 2, 3)])
@pytest.mark.parametrize(
    "ends", [{"offsets": OFFSETS}, {"terminals": TERMINALS}, {"episode": np.repeat([0, 1, 2, 3], LENGTHS)}]
)
def test_with_ends_given_every_row_is_a_state(tmp_path, shape, ends):
    data = read(
        save(tmp_path / "x.npz", observations=FRAMES.reshape(shape), actions=ACTIONS, **ends), keep_actions=True
    )
    assert data.offsets.tolist() == OFFSETS
    assert data.states.dtype == np.uint8
    np.testing.assert_array_equal(data.states, FRAMES.reshape(shape))
    np.testing.assert_array_equal(data.actions, ACTIONS)


def test_actions_beside_stacked_images(tmp_path):
    path = save(tmp_path / "x.npz", states=FRAMES.reshape(3, 4, 5, 4, 3), actions=ACTIONS.reshape(3, 4, 2))
    np.testing.assert_array_equal(read(path, keep_actions=True).actions, ACTIONS)
    path = save(tmp_path / "y.npz", states=FRAMES.reshape(3, 4, 5, 4, 3), actions=ACTIONS[:, 0].reshape(3, 4))
    np.testing.assert_array_equal(read(path, keep_actions=True).actions, ACTIONS[:, :1])


def test_next_images_add_the_last_ones(tmp_path):
    ends = np.isin(np.arange(11), [4, 10])
    path = save(tmp_path / "x.npz", observations=FRAMES[:-1], next_observations=FRAMES[1:], terminals=ends)
    data = read(path)
    assert data.states.dtype == np.uint8
    np.testing.assert_array_equal(data.episode(0), FRAMES[:6])
    np.testing.assert_array_equal(data.episode(1), FRAMES[5:])


def test_a_mapped_image_that_is_not_finite_is_named(tmp_path):
    frames = FRAMES.astype(np.float32).reshape(3, 4, 5, 4, 3)
    frames[1, 2, 3, 3, 2] = np.nan
    np.save(tmp_path / "x.npy", frames)
    assert "state 6 holds NaN" in refusal(tmp_path / "x.npy", memory_map=True)


# -------------------------------------------------------------------- broken files


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"positions": STATES}, "no array 'states' or 'observations' (it holds 'positions')"),
        ({"observations": STATES, "actions": ACTIONS}, "no array 'terminals' or 'timeouts'"),
        ({"states": STATES, "actions": ACTIONS}, "or 'offsets' ([0, 12] if all is one episode)"),
        ({"states": STATES, "episode_ends": [4, 6, 7, 11]}, "'episode_ends' are 4, 6, 7, 11 for 12 states; they must"),
        ({"states": STATES, "episode_ends": [5, 5, 12]}, "rise to 12, each the row after the last of an episode"),
        ({"states": STATES, "episode_ends": np.arange(-4, 8)}, "'episode_ends' are -4, -3, -2, ..., 7 for 12 states"),
        ({"states": STATES, "episode_starts": [1, 5]}, "rise from 0, each the first row of an episode"),
        ({"states": STATES, "episode_starts": [0, 12]}, "rise from 0, each the first row of an episode"),
        ({"states": STATES, "episode_starts": np.zeros(12)}, "marks the start of an episode"),
        ({"states": STATES, "episode_lengths": [5, 2]}, "add up to 7, but there are 12 states"),
        ({"states": STATES, "episode_lengths": [5.0, 7.0]}, "float64, not whole numbers"),
        ({"observations": STATES, "terminals": np.zeros(12)}, "marks the end of an episode"),
        (
            {"observations": STATES, "terminals": TERMINALS, "timeouts": TERMINALS[:5]},
            "shape (5,) for 12 states",
        ),
        ({"observations": STATES, "terminals": np.arange(12)}, "row 2 of 'terminals' is 2"),
        ({"observations": STATES, "terminals": np.full(12, np.nan)}, "neither 0 nor 1"),
        ({"observations": STATES, "terminals": np.array(["no"] * 12)}, "not true or false"),
        ({"observations": np.array([["a"]] * 12), "terminals": TERMINALS}, "not numbers"),
        ({"observations": STATES * 1j, "terminals": TERMINALS}, "complex64"),
        ({"observations": STATES.reshape(4, 3, 3), "terminals": TERMINALS}, "equally long episodes"),
        ({"observations": STATES.reshape(4, 3, 3), "offsets": OFFSETS}, "equally long episodes"),
        ({"observations": STATES.reshape(4, 3, 3), "episode": [1] * 12}, "equally long episodes"),
        ({"observations": STATES.reshape(4, 3, 3), "terminals": TERMINALS[:5]}, "shape (5,) for 4 states"),
        ({"observations": STATES.reshape(12, 3, 1, 1), "actions": ACTIONS}, "no array 'terminals' or 'timeouts'"),
        ({"states": STATES.reshape(1, 1, 1, 1, 12, 3)}, "6 axes"),
        (
            {"observations": STATES, "terminals": TERMINALS, "next_observations": STATES[:5]},
            "they must agree",
        ),
        ({"states": np.where(np.arange(12)[:, None] == 9, np.nan, STATES)}, "state 9 holds NaN"),
        ({"states": STATES, "offsets": [0, 5, 5, 12]}, "episode 1 is empty"),
        ({"states": STATES, "offsets": [0, 5, 13]}, "from 0 to the number of states (12)"),
        ({"states": STATES, "offsets": [0, 5.5, 12]}, "whole numbers"),
        (
            {"states": STATES, "offsets": [0, 5, 13], "next_states": STATES},
            "from 0 to the number of states (12)",
        ),
        ({"states": STATES, "episode": [0, 1] * 6}, "episode 0 goes on at row 2"),
        ({"states": STATES, "episode": [0] * 11}, "11 values in 'episode'"),
        ({"states": STATES, "episode": [np.nan] * 12}, "row 0 has no episode"),
        ({"states": STATES, "times": np.zeros(12)}, "times must increase"),
        ({"states": STATES, "times": np.array(["noon"] * 12)}, "not numbers"),
        ({"states": np.zeros((0, 3))}, "no states"),
        ({"states": np.zeros((3, 0, 3))}, "no states"),
        ({"states": np.zeros((12, 0))}, "no states"),
        ({"states": STATES[:1]}, "single state"),
        ({"states": np.float32(1)}, "a single number"),
    ],
)
def test_wrong_contents_end_in_one_sentence(tmp_path, arrays, expected):
    assert expected in refusal(save(tmp_path / "x.npz", **arrays))


def test_wrong_actions_are_refused_when_they_are_asked_for(tmp_path):
    path = save(tmp_path / "x.npz", states=STATES, actions=ACTIONS[:5], offsets=[0, 12])
    read(path)
    assert "5 actions for 12 states" in refusal(path, keep_actions=True)
    path = save(tmp_path / "y.npz", states=STATES, next_states=STATES, actions=ACTIONS[:5], dones=np.ones(12))
    assert "5 actions for 12 transitions" in refusal(path, keep_actions=True)


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_every_truncation_ends_in_one_sentence(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    if suffix == ".npy":
        np.save(path, STATES)
    else:
        np.savez_compressed(path, observations=STATES, actions=ACTIONS, terminals=TERMINALS)
    whole = path.read_bytes()
    for length in [0, 3, 20, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        refusal(path)
        if suffix == ".npy":
            refusal(path, memory_map=True)


def test_a_damaged_archive_ends_in_one_sentence(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, observations=STATES, terminals=TERMINALS)
    whole = path.read_bytes()
    messages: list[str] = []
    for place in range(60, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read(path)  # a bit that does not matter
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 10
    assert all(str(path) in message for message in messages)


class _Trap:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
def test_nothing_is_ever_unpickled(tmp_path, suffix):
    marker, path = tmp_path / "sprung", tmp_path / f"x{suffix}"
    trapped = np.empty(2, dtype=object)
    trapped[:] = [_Trap(marker), _Trap(marker)]
    if suffix == ".npy":
        np.save(path, trapped, allow_pickle=True)
    else:
        np.savez(path, states=trapped, terminals=np.ones(2))
    assert "Python objects" in refusal(path)
    path.write_bytes(pickle.dumps(_Trap(marker)))  # np.load would take this for a pickle
    refusal(path)
    refusal(path, keep_actions=True)
    assert not marker.exists()


def write_bomb(path: Path, gibibytes: int) -> None:
    """A real archive of zeros: one flushed piece of the deflate stream, repeated as it is."""
    zeros = bytes(1 << 24)
    count = gibibytes << 6
    header = npy_header(f"({count * len(zeros) // 4}, 1)")
    squeeze = zlib.compressobj(9, wbits=-15)
    beginning = squeeze.compress(header) + squeeze.flush(zlib.Z_FULL_FLUSH)
    piece = squeeze.compress(zeros) + squeeze.flush(zlib.Z_FULL_FLUSH)
    stream = beginning + piece * count + squeeze.flush(zlib.Z_FINISH)
    checksum = zlib.crc32(header)
    for _ in range(count):
        checksum = zlib.crc32(zeros, checksum)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("observations.npy", stream)
    content = bytearray(path.read_bytes())
    for start in (8, content.rindex(b"PK\x01\x02") + 10):  # in front of the member, and in the directory
        struct.pack_into("<H", content, start, zipfile.ZIP_DEFLATED)
        sizes = (checksum, len(stream), len(header) + count * len(zeros))
        struct.pack_into("<III", content, start + 6, *sizes)
    path.write_bytes(content)


def test_a_zip_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "bomb.npz"
    write_bomb(path, 2)
    assert path.stat().st_size < 4 << 20
    with zipfile.ZipFile(path) as archive, archive.open("observations.npy") as member:
        assert np.lib.format.read_magic(member) == (1, 0)  # it does unpack
        assert len(member.read(1 << 20)) == 1 << 20
    tracemalloc.start()
    try:
        message = refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
    assert "would unpack" in message


def npy_header(shape: str) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize("shape", ["(1000000000000, 4)", "(4, 5)", "(4, 3)", "(-4, 4)", "(4.0, 4)", "(10**99, 1)"])
def test_a_header_that_lies_about_the_size_is_refused(tmp_path, shape):
    (tmp_path / "x.npy").write_bytes(npy_header(shape) + bytes(64))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("states.npy", npy_header(shape) + bytes(64))
    refusal(tmp_path / "x.npz")
    refusal(tmp_path / "x.npy")
    refusal(tmp_path / "x.npy", memory_map=True)


def test_a_directory_that_lies_about_the_size_is_refused(tmp_path):
    path = save(tmp_path / "x.npz", states=STATES)
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = struct.pack("<I", (1 << 32) - 2)
    path.write_bytes(content)
    refusal(path)


def test_a_data_set_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.npy"
    path.write_bytes(npy_header(f"({1 << 40}, 1)"))
    os.truncate(path, path.stat().st_size + (4 << 40))  # a hole in the file: takes no space
    assert "GiB of memory" in refusal(path)


def test_an_encrypted_or_empty_archive_ends_in_one_sentence(tmp_path):
    path = save(tmp_path / "x.npz", states=STATES)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    refusal(path)
    with zipfile.ZipFile(tmp_path / "empty.npz", "w"):
        pass
    assert "an archive without NumPy arrays" in refusal(tmp_path / "empty.npz")
