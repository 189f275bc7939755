"""Minari data sets, written with Minari itself, by folder and by id."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import minari
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from minari.data_collector import EpisodeBuffer

from minaction.errors import InputError
from minaction.tasks import read

GENERATOR = np.random.default_rng(8)
LENGTHS = [5, 2, 4]
BOX = spaces.Box(-10, 10, (3,), np.float32)
ACTION = spaces.Box(-1, 1, (2,), np.float32)


@pytest.fixture
def minari_home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    return tmp_path / "minari"


def create(name: str, observations: list[Any], space: spaces.Space, actions: list[Any] | None = None, **options: Any):
    buffers: list[Any] = []
    for k, length in enumerate(LENGTHS):
        taken = GENERATOR.uniform(-1, 1, size=(length - 1, 2)).astype(np.float32) if actions is None else actions[k]
        zeros = np.zeros(length - 1)
        parts: dict[str, Any] = {
            "observations": observations[k],
            "actions": taken,
            "rewards": zeros,
            "terminations": np.arange(length - 1) == length - 2,
            "truncations": zeros,
        }
        buffers.append(EpisodeBuffer(id=k, **parts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Minari wants an author, a permalink and more
        minari.create_dataset_from_buffers(
            name,
            buffers,
            observation_space=space,
            action_space=options.pop("action_space", ACTION),
            **options,
        )
    return [buffer.actions for buffer in buffers]


def box_episodes() -> list[np.ndarray]:
    return [GENERATOR.normal(size=(length, 3)).astype(np.float32) for length in LENGTHS]


def refusal(source: str | Path) -> str:
    with pytest.raises(InputError) as caught:
        read(source)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("data_format", ["hdf5", "arrow", "parquet"])
def test_folder_and_id_give_the_episodes(minari_home, data_format):
    episodes = box_episodes()
    actions = create("robots/walk-v0", episodes, BOX, data_format=data_format)
    folder = minari_home / "robots" / "walk-v0"
    for source in (folder, str(folder), folder / "data", "robots/walk-v0", "minari:robots/walk-v0"):
        data = read(source)
        assert data.lengths.tolist() == LENGTHS
        assert data.actions is None
        for k, episode in enumerate(episodes):
            np.testing.assert_array_equal(data.episode(k), episode)
    kept = read(folder, keep_actions=True)
    assert kept.actions is not None
    for k, taken in enumerate(actions):
        np.testing.assert_array_equal(kept.actions[kept.offsets[k] : kept.offsets[k + 1] - 1], taken)
        assert not kept.actions[kept.offsets[k + 1] - 1].any()
    if data_format == "hdf5":
        np.testing.assert_array_equal(read(folder / "data" / "main_data.hdf5").states, read(folder).states)


def test_what_minaris_collector_recorded_is_read(minari_home):
    environment = minari.DataCollector(gymnasium.make("CartPole-v1", max_episode_steps=12), record_infos=True)
    seen: list[list[np.ndarray]] = []
    for seed in range(3):
        observation, _ = environment.reset(seed=seed)
        seen.append([observation])
        done = False
        while not done:
            observation, _, terminated, truncated, _ = environment.step(int(GENERATOR.integers(2)))
            seen[-1].append(observation)
            done = terminated or truncated
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        environment.create_dataset("cartpole/random-v3")
    data = read("cartpole/random-v3", keep_actions=True)
    assert data.num_episodes == 3
    for k, episode in enumerate(seen):
        np.testing.assert_array_equal(data.episode(k), np.array(episode, dtype=np.float32))
    assert data.actions is not None
    assert data.actions.shape == (data.num_states, 2)  # one of two, as Gymnasium flattens it


def test_goals_are_no_part_of_the_state(minari_home):
    goal = spaces.Box(-10, 10, (2,), np.float32)
    space = spaces.Dict({"observation": BOX, "achieved_goal": goal, "desired_goal": goal})
    episodes = box_episodes()
    observations = [
        {"observation": episode, "achieved_goal": episode[:, :2], "desired_goal": np.ones((len(episode), 2))}
        for episode in episodes
    ]
    create("maze-v1", observations, space)
    np.testing.assert_array_equal(read("minari:maze-v1").states, np.concatenate(episodes))


def test_composed_observations_are_laid_out_as_gymnasium_flattens_them(minari_home):
    space = spaces.Dict(
        {
            "turn": spaces.Discrete(3, start=1),
            "pose": spaces.Tuple((spaces.Box(-9, 9, (2, 2), np.float64), spaces.MultiBinary(2))),
            "gear": spaces.MultiDiscrete([2, 3]),
        }
    )
    space.seed(0)
    samples = [[space.sample() for _ in range(length)] for length in LENGTHS]
    observations = [
        {
            "turn": np.array([row["turn"] for row in rows]),
            "pose": tuple(np.array([row["pose"][k] for row in rows]) for k in range(2)),
            "gear": np.array([row["gear"] for row in rows]),
        }
        for rows in samples
    ]
    create("mixed-v0", observations, space)
    expected = [spaces.flatten(space, row) for rows in samples for row in rows]
    np.testing.assert_allclose(read("minari:mixed-v0").states, np.array(expected), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_images_keep_their_shape_and_type(minari_home, dtype):
    space = spaces.Box(0, 255, (6, 5, 3), dtype)
    episodes = [GENERATOR.integers(0, 256, (length, 6, 5, 3)).astype(dtype) for length in LENGTHS]
    create("camera-v0", episodes, space)
    data = read("minari:camera-v0", keep_actions=True)
    assert data.state_shape == (6, 5, 3)
    assert data.states.dtype == dtype
    np.testing.assert_array_equal(data.states, np.concatenate(episodes))


def test_text_is_refused(minari_home):
    space = spaces.Text(5)
    create("words-v0", [["hello"] * length for length in LENGTHS], space)
    assert "not numbers" in refusal("minari:words-v0")


def test_not_a_number_names_the_folder(minari_home):
    episodes = box_episodes()
    episodes[1][1, 0] = np.nan
    create("walk-v0", episodes, BOX)
    message = refusal(minari_home / "walk-v0")
    assert "state 6 holds NaN" in message
    assert str(minari_home / "walk-v0") in message


def test_the_environment_that_a_file_names_is_never_built(minari_home, tmp_path):
    create("walk-v0", box_episodes(), BOX)
    path = minari_home / "walk-v0" / "data" / "metadata.json"
    metadata = json.loads(path.read_text())
    del metadata["observation_space"]
    marker = tmp_path / "sprung"
    spec = EnvSpec("Trap-v0", entry_point="os:mkdir", kwargs={"path": str(marker)})
    path.write_text(json.dumps({**metadata, "env_spec": spec.to_json()}))
    assert "lacks the spaces" in refusal("minari:walk-v0")
    assert not marker.exists()


def test_damaged_data_sets_end_in_one_sentence(minari_home):
    create("walk-v0", box_episodes(), BOX)
    folder = minari_home / "walk-v0" / "data"
    main, metadata = folder / "main_data.hdf5", folder / "metadata.json"
    whole, described = main.read_bytes(), metadata.read_text()
    main.write_bytes(whole[: len(whole) // 2])
    assert str(folder) in refusal("minari:walk-v0")
    main.unlink()
    assert str(folder) in refusal("minari:walk-v0")
    main.write_bytes(whole)
    with h5py.File(main, "a") as file:
        del file["episode_1"]
    assert str(folder) in refusal("minari:walk-v0")
    main.write_bytes(whole)
    with h5py.File(main, "a") as file:
        del file["episode_1/observations"]
        file["episode_1"].create_dataset("observations", (0, 3), "f4")  # type: ignore[union-attr]
    assert "episode 1 is empty" in refusal("minari:walk-v0")
    with h5py.File(main, "a") as file:
        del file["episode_1/observations"]
        file["episode_1"].create_dataset("observations", (1 << 34, 3), "f4", chunks=(64, 3))  # type: ignore[union-attr]
    assert "would unpack" in refusal("minari:walk-v0")
    main.write_bytes(whole)
    for text in ("{", "[]", "{}", described.replace("hdf5", "telepathy")):
        metadata.write_text(text)
        assert str(folder) in refusal("minari:walk-v0")


def test_an_id_that_cannot_be_had_ends_in_one_sentence(minari_home, monkeypatch):
    monkeypatch.setenv("MINARI_REMOTE", "telepathy://nowhere")  # fails at once wherever the test runs
    message = refusal("minari:no/such-v0")
    assert "no/such-v0 is not on this machine and could not be downloaded" in message
    assert "give 'minari:no/such-v0'" in refusal("no/such-v0")
    for malformed in ("minari:", "minari:../../etc-v0", "minari:walk", "minari:/etc/x-v0"):
        assert "is no Minari id" in refusal(malformed)


def test_a_data_set_cannot_be_mapped(minari_home):
    create("walk-v0", box_episodes(), BOX)
    for source in (minari_home / "walk-v0", "walk-v0", "minari:walk-v0"):
        with pytest.raises(InputError, match="cannot be memory-mapped"):
            read(source, memory_map=True)
