"""`Trajectories`: what it refuses, what it holds, and that nobody can change it afterwards."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from minaction._files import write_tensors
from minaction.errors import InputError
from minaction.trajectories import Trajectories, states_repeat


def example(**changes: object) -> Trajectories:
    parts: dict = {
        "states": np.arange(18, dtype=np.float32).reshape(9, 2),
        "offsets": [0, 4, 6, 9],
        "times": [0, 1, 2.5, 3, 0, 2, 1, 2, 3],
        "actions": np.arange(9.0),
    }
    return Trajectories.from_flat(**{**parts, **changes})


def refusal(**changes: object) -> str:
    with pytest.raises(InputError) as caught:
        example(**changes)
    return str(caught.value)


# -------------------------------------------------------------------- refusals


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 5, 8])
def test_not_a_number_is_refused_with_its_row(bad, row):
    states = np.ones((9, 2))
    states[row, 1] = bad
    assert f"State {row} holds NaN, infinity" in refusal(states=states)


def test_a_number_too_large_for_single_precision_is_refused():
    states = np.ones((9, 2))
    states[3, 0] = 1e300
    assert "State 3 holds NaN, infinity or a number too large for float32" in refusal(states=states)


def test_what_is_wrong_in_a_row_names_the_episode_and_the_row_in_it():
    states, times, actions = np.ones((9, 2)), np.arange(9.0), np.zeros(9)
    states[5, 1], times[8], actions[4] = np.nan, 7.0, np.inf
    assert "State 5 holds NaN" in (said := refusal(states=states))
    assert "in row 1 of episode 1 ([1.0, nan])" in said
    assert "episode" not in refusal(states=states, offsets=None, times=None)
    assert "state 8 is at 7 after 7 in row 2 of episode 2" in refusal(times=times)
    assert "Action 4 is NaN or infinite in row 0 of episode 1" in refusal(actions=actions)


def test_numbers_held_as_objects_are_numbers():
    """As the values of a data frame are where columns differ in type."""
    walk = np.array([[0.5, 1], [1.5, True], [2.5, 0]], dtype=object)
    data = Trajectories.from_episodes([walk, walk[:2]], actions=[walk, walk[:2]])
    assert data.states.dtype == np.float64
    assert data.states.tolist() == [[0.5, 1], [1.5, 1], [2.5, 0], [0.5, 1], [1.5, 1]]
    assert Trajectories.from_episodes(list(np.stack([walk, walk]))).lengths.tolist() == [3, 3]
    with pytest.raises(InputError, match=r"\(3, 2\) is the states of one episode"):
        Trajectories.from_episodes(walk)  # type: ignore[arg-type]
    for cell in ("left", None, [1, 2]):
        other = walk.copy()
        other[1, 1] = cell
        with pytest.raises(InputError, match="not numbers"):
            Trajectories.from_episodes([other])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"offsets": range(10)}, "Every episode has a single state"),
        ({"states": np.zeros((0, 2))}, "no states"),
        ({"states": np.zeros((9, 0))}, "no states"),
        ({"states": np.zeros((3, 3, 2))}, "from 0 to the number of states (3)"),
        ({"states": np.float32(3)}, "a single number"),
        ({"states": [[1, 2], [3]]}, "different lengths or are not numbers"),
        ({"states": np.array([[1, None]] * 9)}, "different lengths or are not numbers"),
        ({"states": np.array([["a", "b"]] * 9)}, "not numbers"),
        ({"states": np.ones((9, 2)) * 1j}, "not numbers"),
        ({"offsets": [0, 4, 6, 8]}, "from 0 to the number of states (9)"),
        ({"offsets": [1, 4, 6, 9]}, "from 0 to the number of states (9)"),
        ({"offsets": [0]}, "from 0 to the number of states (9)"),
        ({"offsets": [[0, 9]]}, "from 0 to the number of states (9)"),
        ({"offsets": [0, 4, 4, 9]}, "Episode 1 is empty"),
        ({"offsets": [0, 6, 4, 9]}, "Episode 1 is empty"),
        ({"offsets": [0, 4.5, 9]}, "whole numbers"),
        ({"offsets": [0, np.nan, 9]}, "whole numbers"),
        ({"times": np.arange(8)}, "8 times for 9 states"),
        ({"times": [0, 1, 1, 3, 0, 1, 0, 1, 2]}, "state 2 is at 1 after 1"),
        ({"times": [0, 1, 2, 3, 0, 1, 2, 1, 3]}, "state 7 is at 1 after 2"),
        ({"times": [0, 1, 2, np.nan, 0, 1, 0, 1, 2]}, "Time 3 is NaN"),
        ({"times": ["a"] * 9}, "not numbers"),
        ({"actions": np.zeros((8, 1))}, "8 actions for 9 states"),
        ({"actions": np.zeros((9, 1, 1))}, "(N, A), not float32 (9, 1, 1)"),
        ({"actions": [None] * 9}, "not numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(changes, expected):
    message = refusal(**changes)
    assert expected in message
    assert "\n" not in message


def test_time_may_fall_back_between_episodes_only():
    assert example(times=[5, 6, 7, 8, 0, 1, 0, 1, 2]).times is not None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([],), "no episodes"),
        (([np.zeros((3, 2)), np.zeros((3, 3))],), "Episode 1 has states of 3 numbers and episode 0 of 2"),
        (
            ([np.zeros((3, 4, 4)), np.zeros((3, 4, 5))],),
            "Episode 1 has states of shape 4 x 5 and episode 0 of shape 4 x 4",
        ),
        ((np.zeros((500, 2)),), r"shape \(500, 2\) is the states of one episode, .*give \[array\]"),
        ((np.zeros(5),), r"shape \(5,\) is the states of one episode"),
        (([np.zeros((3, 2)), [[1, 2], [3]]],), "episode 1"),
        (([np.zeros((3, 2)), np.zeros((0, 2))],), "Episode 1 is empty"),
        (([np.zeros((3, 2))], [[0, 1]]), "Episode 0 has 3 states but 2 times"),
        (([np.zeros((3, 2))] * 2, [[0, 1, 2]]), "Episode 1 has 3 states but no times"),
        (([np.zeros((3, 2))], [[0, 1, 2]] * 2), "times for 2 episodes"),
        (([np.zeros((3, 2))], None, [np.zeros((2, 1))]), "Episode 0 has 3 states but 2 actions"),
        (([np.zeros((3, 2))] * 2, None, [np.zeros((3, 1)), np.zeros((3, 2))]), "different sizes"),
        (([np.zeros((3, 2))], None, [["left"] * 3]), "not numbers"),
    ],
)
def test_bad_episodes_are_refused(arguments, expected):
    with pytest.raises(InputError, match=expected):
        Trajectories.from_episodes(*arguments)


def test_the_bare_constructor_takes_only_types_that_are_kept():
    for dtype in (np.int64, np.float16, np.complex64):
        with pytest.raises(InputError, match=np.dtype(dtype).name):
            Trajectories(np.zeros((3, 2), dtype), np.array([0, 3]))
    assert Trajectories(np.zeros((3, 2)), np.array([0, 3])).states.dtype == np.float64


# -------------------------------------------------------------------- what it holds

episode_lists = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        hnp.arrays(
            np.float32,
            st.tuples(st.integers(1, 6), st.just(width)),
            elements=st.floats(-100, 100, width=32),
        ),
        min_size=1,
        max_size=6,
    ).filter(lambda episodes: any(len(episode) > 1 for episode in episodes))
)


@given(episode_lists)
def test_episodes_come_back_as_they_were_given(episodes):
    data = Trajectories.from_episodes(episodes)
    assert data.num_episodes == len(episodes)
    assert data.num_states == sum(len(episode) for episode in episodes)
    assert data.lengths.tolist() == [len(episode) for episode in episodes]
    assert data.state_shape == episodes[0].shape[1:]
    for k, episode in enumerate(episodes):
        np.testing.assert_array_equal(data.episode(k), episode)
    again = Trajectories.from_flat(data.states, data.offsets)
    assert again.fingerprint == data.fingerprint


@given(episode_lists)
def test_distinct_states_agree_with_a_dictionary_and_with_unique(episodes):
    data = Trajectories.from_episodes(episodes)
    known: dict[tuple[float, ...], int] = {}
    index = [known.setdefault(tuple(row), len(known)) for row in data.states.tolist()]
    distinct = data.distinct
    assert len(distinct) == len(known) == len(np.unique(data.states, axis=0))
    assert distinct.index.tolist() == index
    np.testing.assert_array_equal(distinct.states, np.array(list(known), dtype=np.float32))
    np.testing.assert_array_equal(distinct.states[distinct.index], data.states)


def test_positive_and_negative_zero_are_the_same_state():
    data = Trajectories.from_flat(np.array([[0.0], [-0.0], [1.0]]))
    assert len(data.distinct) == 2


def test_states_repeat_if_other_episodes_meet_them_too():
    own, same = ([np.tile([[start], [start + 0.5]], (10, 1)) for start in starts] for starts in (range(6), [0] * 6))
    repeat = {
        name: states_repeat(np.concatenate(episodes), 20 * np.arange(len(episodes) + 1))
        for name, episodes in {"own": own, "same": same, "few": own[:4]}.items()
    }
    assert repeat == {"own": False, "same": True, "few": True}, "of few episodes nobody can tell"


def test_numbers_that_differ_in_the_last_bit_are_distinct():
    one = np.float32(1)
    data = Trajectories.from_flat(np.array([one, np.nextafter(one, np.float32(2)), one]))
    assert data.distinct.index.tolist() == [0, 1, 0]


def test_one_number_per_state_and_whole_numbers_are_accepted():
    data = Trajectories.from_flat([1, 2, 3])
    assert data.states.shape == (3, 1)
    assert data.states.dtype == np.float64
    assert data.offsets.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        *((name, name) for name in ("float32", "float64", "uint8", "int8", "uint16", "int16", "bool")),
        *((name, "float64") for name in ("int32", "uint32", "int64", "uint64")),
        *(("float16", "float32"), (">f4", "float32"), (">u2", "uint16")),
    ],
)
def test_types_are_kept_unless_a_device_would_cut_them(given, kept):
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(given)
    for data in (Trajectories.from_flat(values), Trajectories.from_episodes([values])):
        assert data.states.dtype == np.dtype(kept)
        assert data.states.tolist() == [[0, 1], [1, 0], [1, 1]]


def test_an_array_of_episodes_of_equal_length_is_taken():
    data = Trajectories.from_episodes(np.arange(24.0).reshape(3, 4, 2))  # type: ignore[arg-type]
    assert data.offsets.tolist() == [0, 4, 8, 12]
    assert data.state_shape == (2,)


# -------------------------------------------------------------------- images


def images(seed: int = 0, count: int = 12, repeats: int = 3) -> np.ndarray:
    """Frames of which only `repeats` are different."""
    random = np.random.default_rng(seed)
    return random.integers(0, 256, (repeats, 16, 12, 3), np.uint8)[random.integers(repeats, size=count)]


def test_images_keep_their_shape_and_type():
    frames = images()
    data = Trajectories.from_episodes([frames[:5], frames[5:]])
    assert data.state_shape == (16, 12, 3)
    assert data.states.dtype == np.uint8
    np.testing.assert_array_equal(data.episode(1), frames[5:])
    assert repr(data) == "Trajectories(2 episodes, 12 states of shape 16 x 12 x 3, uint8)"


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "bool"])
def test_distinct_images_agree_with_a_dictionary(dtype):
    frames = (images(1, 40, 7) > 127).astype(dtype) if dtype == "bool" else images(1, 40, 7).astype(dtype)
    known: dict[bytes, int] = {}
    index = [known.setdefault(frame.tobytes(), len(known)) for frame in frames]
    distinct = Trajectories.from_flat(frames).distinct
    assert distinct.index.tolist() == index
    assert len(distinct) == len(known) == 7
    np.testing.assert_array_equal(distinct.states[distinct.index], frames)


def test_images_of_positive_and_negative_zero_are_the_same_state():
    frames = np.zeros((3, 20, 20), np.float32)
    frames[1] = -0.0
    frames[2, 3, 4] = 1e-20
    distinct = Trajectories.from_flat(frames).distinct
    assert distinct.index.tolist() == [0, 0, 1]
    assert not np.signbit(distinct.states).any()


def test_few_distinct_images_are_known_as_such():
    data = Trajectories.from_flat(images(2, 60, 5))
    assert data.has_at_most(5)
    assert not data.has_at_most(4)


def test_the_fingerprint_knows_shape_and_type():
    frames = images()
    variants = [frames, frames.astype(np.float32), frames.reshape(12, 12, 16, 3), frames.reshape(12, -1), frames ^ 1]
    assert len({Trajectories.from_flat(states).fingerprint for states in variants}) == len(variants)


def test_images_are_described_by_their_shape_type_and_range():
    frames = images()
    frames[0, 0, 0, 0], frames[1, 1, 1, 1] = 0, 255
    summary = Trajectories.from_flat(frames).describe()
    assert summary["state"] == "shape 16 x 12 x 3, uint8"
    assert (summary["smallest"], summary["largest"]) == (0, 255)
    assert summary["distinct states"] == len(np.unique(frames, axis=0))


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float64", "bool"])
def test_a_file_gives_back_images_of_every_type(tmp_path, memory_map, dtype):
    data = Trajectories.from_flat(images().astype(dtype), [0, 5, 12])
    data.save(tmp_path / "x.safetensors")
    size = (tmp_path / "x.safetensors").stat().st_size
    assert size < data.states.nbytes + 1000
    loaded = Trajectories.load(tmp_path / "x.safetensors", memory_map=memory_map)
    assert loaded.is_mapped is memory_map
    assert loaded.states.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(loaded.states, data.states)
    assert loaded.fingerprint == data.fingerprint
    np.testing.assert_array_equal(loaded.distinct.states, data.distinct.states)
    np.testing.assert_array_equal(loaded.distinct.index, data.distinct.index)
    assert loaded.describe()["state"] == data.describe()["state"]


def test_the_first_episodes_are_cut_with_all_that_belongs_to_them():
    data = example().first(2)
    assert data.offsets.tolist() == [0, 4, 6]
    assert data.times is not None
    assert data.times.tolist() == [0, 1, 2.5, 3, 0, 2]
    assert data.actions is not None
    assert data.actions.ravel().tolist() == [0, 1, 2, 3, 4, 5]
    for count in (0, 4, -1):
        with pytest.raises(InputError, match=f"first {count} of 3"):
            example().first(count)


def test_the_description_counts_right():
    summary = example().describe()
    assert summary["states"] == 9
    assert summary["episodes"] == 3
    assert summary["transitions"] == 6
    assert (summary["shortest episode"], summary["longest episode"]) == (2, 4)
    assert (summary["smallest"], summary["largest"]) == ([0, 1], [16, 17])
    assert summary["distinct states"] == 9
    assert repr(example()) == "Trajectories(3 episodes, 9 states of 2 numbers, times, actions)"


# -------------------------------------------------------------------- fingerprint


def test_the_fingerprint_changes_with_everything_that_training_sees():
    states = np.arange(18, dtype=np.float32).reshape(9, 2)
    moved = states.copy()
    moved[7, 1] = np.nextafter(moved[7, 1], np.float32(99))
    variants = [
        example(),
        example(states=moved),
        example(states=states.reshape(9, 2)[:, ::-1]),
        example(offsets=[0, 4, 7, 9], times=[0, 1, 2, 3, 0, 2, 3, 0, 1]),
        example(offsets=[0, 5, 6, 9], times=None),
        example(times=None),
        example(times=[0, 1, 2.5, 3, 0, 2, 1, 2, 4]),
        Trajectories.from_flat(states.reshape(3, 6), times=None),
        Trajectories.from_flat(states.reshape(6, 3), times=None),
    ]
    assert len({data.fingerprint for data in variants}) == len(variants)


def test_the_fingerprint_does_not_depend_on_how_the_data_came(tmp_path):
    data = example()
    data.save(tmp_path / "x.safetensors")
    assert example().fingerprint == data.fingerprint
    assert example(actions=None).fingerprint == data.fingerprint
    assert Trajectories.load(tmp_path / "x.safetensors").fingerprint == data.fingerprint
    assert Trajectories.load(tmp_path / "x.safetensors", memory_map=True).fingerprint == data.fingerprint


# -------------------------------------------------------------------- immutability


def test_nothing_can_be_changed():
    data = example()
    for name in ("states", "offsets", "times", "actions"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[0] = 7
        with pytest.raises(FrozenInstanceError):
            setattr(data, name, None)
    with pytest.raises(ValueError, match="read-only"):
        data.episode(0)[0] = 7


def test_what_the_caller_keeps_stays_his_own():
    states, times, actions = np.ones((4, 2), np.float32), np.arange(4.0), np.ones((4, 1), np.float32)
    offsets = np.array([0, 4])
    data = Trajectories.from_flat(states, offsets, times, actions)
    view = Trajectories.from_flat(states[:3])
    for array in (states, offsets, times, actions):
        array[:] = -5
    assert data.states.min() == data.actions.min() == view.states.min() == 1  # type: ignore[union-attr]
    assert data.offsets.tolist() == [0, 4]
    assert data.times.tolist() == [0, 1, 2, 3]  # type: ignore[union-attr]


def test_the_callers_arrays_are_never_frozen(tmp_path):
    states, offsets = np.ones((4, 2), np.float32), np.array([0, 4])
    times, actions = np.arange(4.0), np.ones((4, 1), np.float32)
    np.save(tmp_path / "x.npy", states)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="c")
    built = [
        Trajectories(states, offsets, times, actions),
        Trajectories.from_flat(states, offsets, times, actions),
        Trajectories.from_episodes([states], [times], [actions]),
        Trajectories(mapped, offsets),
    ]
    for array in (states, offsets, times, actions, mapped):
        assert array.flags.writeable
    states[:], times[:], actions[:] = -5, -5, -5
    for data in built:
        assert not data.states.flags.writeable
        assert data.states.min() == 1
    assert built[3].is_mapped


def test_what_nobody_can_write_to_is_not_copied():
    states = np.ones((4, 2), np.float32)
    states.flags.writeable = False
    assert np.shares_memory(Trajectories.from_flat(states).states, states)


# -------------------------------------------------------------------- files


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize("changes", [{}, {"times": None}, {"actions": None}, {"times": None, "actions": None}])
def test_a_file_gives_back_what_was_saved(tmp_path, memory_map, changes):
    data = example(**changes)
    path = tmp_path / "folder" / "x.safetensors"
    data.save(path, {"made by": "a test"})
    loaded = Trajectories.load(path, memory_map=memory_map)
    assert loaded.is_mapped is memory_map
    for name in ("states", "offsets", "times", "actions"):
        saved, found = getattr(data, name), getattr(loaded, name)
        if saved is None:
            assert found is None
        else:
            np.testing.assert_array_equal(found, saved)
            assert found.dtype == saved.dtype
            assert not found.flags.writeable
    np.testing.assert_array_equal(loaded.distinct.index, data.distinct.index)


def test_a_mapped_data_set_stays_mapped_when_it_is_cut_and_can_be_saved_over_itself(tmp_path):
    path = tmp_path / "x.safetensors"
    data = example()
    data.save(path)
    mapped = Trajectories.load(path, memory_map=True)
    assert mapped.first(2).is_mapped
    assert Trajectories.from_flat(mapped.states, mapped.offsets).is_mapped
    mapped.save(path)
    assert Trajectories.load(path).fingerprint == example().fingerprint


def broken_files(folder: Path) -> dict[str, tuple[Path, str]]:
    states, offsets = np.ones((4, 2), np.float32), np.array([0, 4])
    unusable = states.copy()
    unusable[2] = np.nan
    contents = {
        "no-states": ({"offsets": offsets}, "has no states"),
        "no-offsets": ({"states": states}, "has no offsets"),
        "wide": ({"states": states.astype(np.int64), "offsets": offsets}, "not int64"),
        "fraction": ({"states": states, "offsets": np.array([0, 1.5, 4])}, "whole numbers"),
        "ends-early": ({"states": states, "offsets": np.array([0, 3])}, "from 0 to the number of states"),
        "times": ({"states": states, "offsets": offsets, "times": np.zeros(4)}, "must increase"),
        "empty": ({"states": states[:0], "offsets": offsets}, "no states"),
    }
    for name, (tensors, _) in contents.items():
        write_tensors(folder / f"{name}.safetensors", "trajectories", tensors, {})
    return {name: (folder / f"{name}.safetensors", expected) for name, (_, expected) in contents.items()}


@pytest.mark.parametrize("memory_map", [False, True])
def test_a_file_with_wrong_contents_is_refused_by_name(tmp_path, memory_map):
    for name, (path, expected) in broken_files(tmp_path).items():
        with pytest.raises(InputError, match=expected) as caught:
            Trajectories.load(path, memory_map=memory_map)
        assert str(path) in str(caught.value), name
