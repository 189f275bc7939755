"""The front door: which reader a source gets, tasks by name, and what is said when nothing can be read."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minaction.errors import InputError
from minaction.tasks import get_task, read
from minaction.tasks._cache import cache_path
from minaction.trajectories import Trajectories

STATES = np.random.default_rng(1).normal(size=(6, 2)).astype(np.float32)


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def refusal(source: str | Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def ours(tmp_path) -> Path:
    path = tmp_path / "data.safetensors"
    Trajectories.from_flat(STATES, [0, 4, 6], actions=np.ones((6, 1))).save(path)
    return path


@pytest.mark.parametrize("memory_map", [False, True])
def test_our_own_file_is_read_without_actions_unless_asked(ours, memory_map):
    data = read(ours, memory_map=memory_map)
    assert data.is_mapped is memory_map
    assert data.actions is None
    np.testing.assert_array_equal(data.states, STATES)
    kept = read(str(ours), keep_actions=True, memory_map=memory_map)
    np.testing.assert_array_equal(kept.actions, np.ones((6, 1)))
    assert kept.fingerprint == data.fingerprint


def test_the_home_folder_may_be_abbreviated(ours, monkeypatch):
    monkeypatch.setenv("HOME", str(ours.parent))
    assert read("~/data.safetensors").num_states == 6


def test_files_without_a_known_ending_are_recognised_by_their_beginning(tmp_path):
    with open(tmp_path / "archive", "wb") as file:
        np.savez(file, states=STATES)
    with open(tmp_path / "array.dat", "wb") as file:
        np.save(file, STATES)
    for name in ("archive", "array.dat"):
        np.testing.assert_array_equal(read(tmp_path / name).states, STATES)
    (tmp_path / "notes.txt").write_text("hello")
    assert "unknown format" in refusal(tmp_path / "notes.txt")


@pytest.mark.parametrize("name", ["log.json", "log.jsonl", "log.bag", "log.mcap"])
def test_an_unknown_format_is_told_what_to_become_and_what_is_known(tmp_path, name):
    (tmp_path / name).write_bytes(b"something")
    message = refusal(tmp_path / name)
    for known in ("convert it to .csv, .parquet or .npz", ".mp4", "Minari, LeRobot and ALOHA", "videos or pictures"):
        assert known in message


def test_an_archive_of_something_else_is_not_taken_for_arrays(tmp_path):
    for name, said in (("log.xlsx", "save the sheet as .csv"), ("weights.pt", "archive without NumPy arrays")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("xl/workbook.xml", "<xml/>")
        assert said in refusal(tmp_path / name)


def test_a_task_is_made_as_the_task_makes_it_and_then_cached():
    made = get_task("cliffwalking").trajectories(3)
    data = read("cliffwalking", seed=3)
    assert data.fingerprint == made.fingerprint
    assert data.fingerprint != read("cliffwalking", seed=4).fingerprint
    path = cache_path("cliffwalking", 3, 100)
    assert path.is_file()
    before = path.stat().st_mtime_ns
    assert read("cliffwalking", seed=3).fingerprint == made.fingerprint
    assert path.stat().st_mtime_ns == before
    mapped = read("cliffwalking", seed=3, memory_map=True)
    assert mapped.is_mapped
    assert mapped.fingerprint == made.fingerprint


def test_a_folder_called_like_a_task_does_not_hide_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cliffwalking").mkdir()
    assert read("cliffwalking").state_shape == (2,)
    assert "is a folder" in refusal(Path("cliffwalking"))
    assert "is a folder" in refusal("./cliffwalking")


def test_a_name_that_is_neither_file_nor_task_says_so_with_near_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = refusal("clifwalking")
    assert "no file 'clifwalking'" in message
    assert "no task named 'clifwalking'" in message
    assert "did you mean 'cliffwalking'" in message


def test_a_missing_file_says_so_with_a_near_one(tmp_path, ours, monkeypatch):
    message = refusal(tmp_path / "dataa.safetensors")
    assert "no file" in message
    assert repr(str(ours)) in message
    assert "task" not in message
    assert "no file" in refusal(tmp_path / "nowhere" / "x.npz")
    monkeypatch.chdir(tmp_path)
    assert "no file 'log.csv'" in refusal("log.csv")


@pytest.mark.parametrize("suffix", ["", ".npz", ".npy", ".hdf5", ".csv", ".parquet", ".safetensors"])
def test_a_folder_is_refused_by_name(tmp_path, suffix):
    path = tmp_path / f"folder{suffix}"
    path.mkdir()
    for source in (path, str(path)):
        message = refusal(source)
        assert "is a folder" in message
        assert str(path) in message


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".hdf5", ".csv", ".parquet", ".safetensors"])
def test_an_empty_file_and_one_of_another_kind_are_refused_by_name(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    for content in (b"", b"\x00" * 64, os.urandom(256)):
        path.write_bytes(content)
        assert str(path) in refusal(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
@pytest.mark.parametrize("suffix", ["", ".npz", ".npy", ".hdf5", ".csv", ".parquet", ".safetensors"])
def test_a_file_that_may_not_be_read_is_refused_by_name(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"PK")
    path.chmod(0)
    assert str(path) in refusal(path)


def test_an_odd_name_is_refused_quietly():
    for source in ("", "a" * 5000, "a\0b", "~nobody-of-that-name/x.npz"):
        assert refusal(source)
