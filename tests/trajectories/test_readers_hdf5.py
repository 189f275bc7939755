"""D4RL-style HDF5, written with h5py itself, and broken files of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from minaction.errors import InputError
from minaction.tasks import read

GENERATOR = np.random.default_rng(5)
STATES = GENERATOR.normal(size=(10, 4)).astype(np.float32)
ACTIONS = GENERATOR.normal(size=(10, 2)).astype(np.float32)
TERMINALS = np.arange(10) == 3
TIMEOUTS = np.isin(np.arange(10), [6, 9])
D4RL: dict[str, Any] = {
    "observations": STATES,
    "actions": ACTIONS,
    "terminals": TERMINALS,
    "timeouts": TIMEOUTS,
}


def write(path: Path, **changes: Any) -> Path:
    """A file with D4RL's arrays and its nested extras; None leaves an array out."""
    with h5py.File(path, "w") as file:
        for name, value in {**D4RL, "rewards": np.zeros(10, np.float32), **changes}.items():
            if value is not None:
                file.create_dataset(name, data=value)
        file.create_dataset("infos/qpos", data=np.zeros((10, 3)))
        file.create_dataset("metadata/algorithm", data="SAC")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("suffix", [".hdf5", ".h5"])
def test_episodes_end_at_terminals_and_timeouts(tmp_path, suffix):
    path = write(tmp_path / f"hopper-medium-v2{suffix}")
    data = read(path)
    assert data.offsets.tolist() == [0, 4, 7, 10]
    np.testing.assert_array_equal(data.states, STATES)
    assert data.actions is None
    np.testing.assert_array_equal(read(path, keep_actions=True).actions, ACTIONS)


@pytest.mark.parametrize("left_out", ["terminals", "timeouts"])
def test_one_of_the_two_marks_is_enough(tmp_path, left_out):
    data = read(write(tmp_path / "x.hdf5", **{left_out: None}))
    assert data.offsets.tolist() == ([0, 7, 10] if left_out == "terminals" else [0, 4, 10])


def test_next_observations_add_the_last_state_of_each_episode(tmp_path):
    last = GENERATOR.normal(size=(3, 4)).astype(np.float32)
    following = np.concatenate([STATES[1:4], last[:1], STATES[5:7], last[1:2], STATES[8:], last[2:]])
    data = read(write(tmp_path / "x.hdf5", next_observations=following), keep_actions=True)
    assert data.offsets.tolist() == [0, 5, 9, 13]
    np.testing.assert_array_equal(data.episode(1), np.concatenate([STATES[4:7], last[1:2]]))
    np.testing.assert_array_equal(data.actions[9:12], ACTIONS[7:])  # type: ignore[index]


def test_compressed_and_double_precision_files_are_read(tmp_path):
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file.create_dataset("observations", data=STATES.astype(np.float64), compression="gzip", chunks=(2, 2))
        file.create_dataset("terminals", data=TIMEOUTS.astype(np.uint8)[:, None])
    data = read(tmp_path / "x.hdf5")
    assert data.states.dtype == np.float64
    assert data.offsets.tolist() == [0, 7, 10]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"observations": None}, "no array 'states' or 'observations' (it holds 'actions'"),
        ({"terminals": None, "timeouts": None}, "no data set 'terminals' or 'timeouts'"),
        ({"terminals": np.zeros(10), "timeouts": np.zeros(10)}, "marks the end of an episode"),
        ({"terminals": np.zeros(4)}, "shape (4,) for 10 states"),
        ({"observations": np.full((10, 2), b"abc")}, "not numbers"),
        ({"observations": ["text"] * 10}, "not numbers"),
        ({"observations": STATES * 1j}, "not numbers"),
        ({"observations": np.where(np.arange(10)[:, None] == 6, np.nan, STATES)}, "state 6 holds NaN"),
        ({"observations": STATES[:0], "terminals": [], "timeouts": []}, "holds no states"),
        ({"observations": h5py.Empty("f")}, "not numbers"),
        ({"timeouts": np.ones(10)}, "single state"),
    ],
)
def test_wrong_contents_end_in_one_sentence(tmp_path, changes, expected):
    assert expected in refusal(write(tmp_path / "x.hdf5", **changes))


def test_object_references_and_groups_are_refused(tmp_path):
    path = tmp_path / "x.hdf5"
    with h5py.File(path, "w") as file:
        target = file.create_dataset("target", data=STATES)
        references = file.create_dataset("observations", (10,), dtype=h5py.ref_dtype)
        references[:] = [target.ref] * 10
        file.create_dataset("terminals", data=TIMEOUTS)
    assert "'observations' holds object references" in refusal(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("observations/position", data=STATES)
        file.create_dataset("terminals", data=TIMEOUTS)
    assert "is a group" in refusal(path)


def test_numbers_that_lie_in_another_file_are_not_fetched(tmp_path):
    write(tmp_path / "other.hdf5")
    raw = tmp_path / "secret.raw"
    raw.write_bytes(STATES.tobytes())
    linked, external, virtual = (tmp_path / f"{name}.hdf5" for name in ("linked", "external", "virtual"))
    with h5py.File(linked, "w") as file:
        file["observations"] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "observations")
        file["terminals"] = TIMEOUTS
    with h5py.File(external, "w") as file:
        file.create_dataset("observations", STATES.shape, "f4", external=[(str(raw), 0, STATES.nbytes)])
        file["terminals"] = TIMEOUTS
    with h5py.File(virtual, "w") as file:
        layout = h5py.VirtualLayout(STATES.shape, "f4")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.hdf5"), "observations", STATES.shape)
        file.create_virtual_dataset("observations", layout)
        file["terminals"] = TIMEOUTS
    assert "link to another file" in refusal(linked)
    assert "lie in other files" in refusal(external)
    assert "lie in other files" in refusal(virtual)


def test_a_broken_link_ends_in_one_sentence(tmp_path):
    with h5py.File(tmp_path / "x.hdf5", "w") as file:
        file["observations"] = h5py.SoftLink("/nowhere")
        file["terminals"] = TIMEOUTS
    refusal(tmp_path / "x.hdf5")


def test_a_data_set_of_nothing_but_promises_is_refused(tmp_path):
    path = tmp_path / "bomb.hdf5"
    with h5py.File(path, "w") as file:
        file.create_dataset("observations", (1 << 34, 4), "f4", chunks=(1 << 10, 4), compression="gzip")
        file["terminals"] = TIMEOUTS
    assert path.stat().st_size < 1 << 16
    assert "would unpack" in refusal(path)


def test_every_truncation_ends_in_one_sentence(tmp_path):
    path = write(tmp_path / "x.hdf5")
    whole = path.read_bytes()
    for length in [0, 4, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert "cannot be read as HDF5" in refusal(path)


# -------------------------------------------------------------------- demonstrations of robots


def write_robomimic(path: Path, lengths: tuple[int, ...] = (5, 7, 4), **more: Any) -> list[np.ndarray]:
    """As robomimic writes it: `demo_10` comes after `demo_9`; images are no part of the state."""
    states = []
    with h5py.File(path, "w") as file:
        for k, length in enumerate(lengths, start=8):
            demo = file.create_group(f"data/demo_{k}")
            hand, grip = GENERATOR.normal(size=(length, 3)), GENERATOR.normal(size=length)
            demo["obs/robot0_hand_pos"], demo["obs/grip"] = hand, grip
            demo["obs/agentview_image"] = np.zeros((length, 8, 8, 3), np.uint8)
            demo["actions"], demo["states"] = GENERATOR.normal(size=(length, 2)), np.zeros((length, 30))
            demo["dones"] = np.arange(length) == length - 1
            states.append(np.column_stack([grip, hand]))
        file["mask/train"] = np.array([b"demo_8"])
        for name, value in more.items():
            file[name.replace("__", "/")] = value
    return states


def test_every_demonstration_of_robomimic_is_an_episode(tmp_path):
    states = write_robomimic(tmp_path / "low_dim.hdf5")
    data = read(tmp_path / "low_dim.hdf5")
    assert data.lengths.tolist() == [5, 7, 4]
    assert data.columns == ("grip", "robot0_hand_pos[0]", "robot0_hand_pos[1]", "robot0_hand_pos[2]")
    np.testing.assert_array_equal(data.states, np.concatenate(states))
    assert data.actions is None
    kept = read(tmp_path / "low_dim.hdf5", keep_actions=True)
    assert kept.actions is not None
    assert kept.actions.shape == (16, 2)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"data__demo_11__actions": ACTIONS}, "no group 'data/demo_11/obs'"),
        ({"data__demo_11__obs__grip": np.zeros(4)}, "'demo_11' differ from those before it in 'robot0_hand_pos[0]'"),
        ({"data__demo_11__obs__image": np.zeros((4, 8, 8, 3))}, "'demo_11' are images alone ('image')"),
        ({"data__demo_11__obs__grip": np.zeros(4), "data__demo_11__obs__x": np.zeros(3)}, "different lengths"),
        ({"data__demo_11": h5py.ExternalLink("other.hdf5", "/")}, "'data/demo_11' is a link to another file"),
        ({"data__demo_11__obs": h5py.SoftLink("/data/demo_8/obs")}, "'data/demo_11/obs' is a link"),
        ({"data__demo_11__obs__grip": h5py.ExternalLink("other.hdf5", "/x")}, "is a link to another file"),
        ({"data__demo_11__obs__grip__deep": np.zeros(4)}, "'data/demo_11/obs/grip' is a group"),
    ],
)
def test_demonstrations_that_differ_end_in_one_sentence(tmp_path, more, said):
    write_robomimic(tmp_path / "x.hdf5", **more)
    assert said in refusal(tmp_path / "x.hdf5")


def write_aloha(path: Path, length: int, joints: int = 14) -> np.ndarray:
    qpos = GENERATOR.normal(size=(length, joints)).astype(np.float32)
    with h5py.File(path, "w") as file:
        file["observations/qpos"], file["observations/qvel"], file["action"] = qpos, qpos, qpos + 1
        file["observations/images/top"] = np.zeros((length, 8, 8, 3), np.uint8)
    return qpos


def test_a_file_of_aloha_is_an_episode_and_a_folder_of_them_many(tmp_path):
    episodes = [write_aloha(tmp_path / f"episode_{k}.hdf5", k + 3) for k in (2, 9, 10)]
    data = read(tmp_path / "episode_9.hdf5", keep_actions=True)
    np.testing.assert_array_equal(data.states, episodes[1])
    np.testing.assert_array_equal(data.actions, episodes[1] + 1)
    assert data.columns[:2] == ("qpos[0]", "qpos[1]")
    whole = read(tmp_path)
    assert whole.lengths.tolist() == [5, 12, 13]
    np.testing.assert_array_equal(whole.states, np.concatenate(episodes))
    write_aloha(tmp_path / "episode_11.hdf5", 4, joints=7)
    assert "differ from those before it in 'qpos[10]'" in refusal(tmp_path)
    (tmp_path / "episode_11.hdf5").write_bytes(b"broken")
    with pytest.raises(InputError, match=r"episode_11\.hdf5 cannot be read as HDF5"):
        read(tmp_path)
    write(tmp_path / "episode_11.hdf5")
    assert "episode_11.hdf5: it has no 'observations/qpos'" in refusal(tmp_path)
