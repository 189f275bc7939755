"""Files are whole or absent, and what cannot be read is refused in one sentence."""

from __future__ import annotations

import json
import os
import stat
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from minaction._files import (
    FORMAT,
    atomic_write,
    map_tensors,
    read_json,
    read_tensors,
    write_json,
    write_tensors,
)
from minaction.errors import InputError

TENSORS = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "doubles": np.array([1.5, -2.5]),
    "counts": np.array([[1], [2]], dtype=np.int64),
    "small": np.array([3, 4], dtype=np.int32),
    "key": np.array([1, 2], dtype=np.uint32),
    "flags": np.array([True, False, True]),
    "scalar": np.array(7.0, dtype=np.float32),
    "nothing": np.zeros((0, 4), dtype=np.float32),
}
READERS = [read_tensors, map_tensors]


class Interrupted(Exception):
    pass


# -------------------------------------------------------------------- atomic


def test_a_write_that_succeeds_replaces_the_file(tmp_path):
    path = tmp_path / "new" / "folder" / "x.bin"
    for content in (b"first", b"second"):
        with atomic_write(path) as file:
            file.write(content)
        assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == ["x.bin"]


@pytest.mark.parametrize("error", [Interrupted, KeyboardInterrupt])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, error):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")

    def write_and_fail() -> None:
        with atomic_write(path) as file:
            file.write(b"half of the new")
            file.flush()
            assert path.read_bytes() == b"old"
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.bin"]


def test_what_the_system_refuses_becomes_a_sentence(tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "taken", tmp_path / "file" / "x.bin"):
        with pytest.raises(InputError, match="Cannot write") as caught, atomic_write(path) as file:
            file.write(b"x")
        assert str(path) in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "taken"]


def test_files_are_readable_for_those_whom_the_umask_allows(tmp_path):
    umask = os.umask(0o027)
    try:
        write_json(tmp_path / "x.json", 1)
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == 0o640


# -------------------------------------------------------------------- JSON


def test_json_comes_back(tmp_path):
    value = {"a": [1, 2.5, None], "b": {"c": "d"}}
    write_json(tmp_path / "x.json", value)
    assert read_json(tmp_path / "x.json") == value


def test_unreadable_json_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('{"half": ')
    with pytest.raises(InputError, match="not as this version of minaction writes it"):
        read_json(tmp_path / "x.json")
    with pytest.raises(InputError, match="not as this version of minaction writes it"):
        read_json(tmp_path)


def test_json_of_another_type_is_refused(tmp_path):
    write_json(tmp_path / "x.json", {"a": "text"})
    with pytest.raises(InputError, match=r"not as this version of minaction writes it \(Expected `int`"):
        read_json(tmp_path / "x.json", dict[str, int])


# -------------------------------------------------------------------- tensors


@pytest.mark.parametrize("reader", READERS)
def test_tensors_and_header_come_back(tmp_path, reader):
    path = tmp_path / "x.safetensors"
    write_tensors(path, "thing", TENSORS, {"note": {"deep": [1, 2]}})
    tensors, header = reader(path, "thing")
    assert tensors.keys() == TENSORS.keys()
    for name, expected in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], expected)
        assert tensors[name].dtype == expected.dtype
        assert tensors[name].shape == expected.shape
    assert header["kind"] == "thing"
    assert header["format"] == FORMAT
    assert header["note"] == {"deep": [1, 2]}


def test_the_file_is_one_that_safetensors_itself_reads(tmp_path):
    path = tmp_path / "x.safetensors"
    write_tensors(path, "thing", TENSORS, {})
    for name, tensor in load_file(path).items():
        np.testing.assert_array_equal(tensor, TENSORS[name])


def test_columns_first_and_sliced_arrays_are_written_as_they_read(tmp_path):
    square = np.arange(16, dtype=np.float32).reshape(4, 4)
    write_tensors(tmp_path / "x", "thing", {"turned": square.T, "sliced": square[::2, 1:]}, {})
    tensors, _ = read_tensors(tmp_path / "x", "thing")
    np.testing.assert_array_equal(tensors["turned"], square.T)
    np.testing.assert_array_equal(tensors["sliced"], square[::2, 1:])


def test_arrays_of_several_blocks_are_written_whole(tmp_path):
    large = np.random.default_rng(0).normal(size=(9_000_000, 2)).astype(np.float32)  # over the block of 64 MiB
    write_tensors(tmp_path / "x", "thing", {"large": large}, {})
    np.testing.assert_array_equal(map_tensors(tmp_path / "x", "thing")[0]["large"], large)


def test_mapped_tensors_cannot_be_written_to(tmp_path):
    write_tensors(tmp_path / "x", "thing", TENSORS, {})
    weights = map_tensors(tmp_path / "x", "thing")[0]["weights"]
    assert isinstance(weights, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        weights[0] = 1


@pytest.mark.parametrize("reader", READERS)
def test_another_kind_and_a_newer_format_are_refused(tmp_path, reader):
    path = tmp_path / "x.safetensors"
    write_tensors(path, "thing", TENSORS, {})
    with pytest.raises(InputError, match="holds a thing, not a model"):
        reader(path, "model")
    write_tensors(path, "thing", TENSORS, {"format": FORMAT + 1, "version": "99.0"})
    with pytest.raises(InputError, match=r"newer version of minaction \(99.0\)"):
        reader(path, "thing")


@pytest.mark.parametrize("reader", READERS)
def test_every_truncation_is_refused(tmp_path, reader):
    path = tmp_path / "x.safetensors"
    write_tensors(path, "thing", TENSORS, {})
    whole = path.read_bytes()
    for length in [0, 4, 8, 50, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="truncated") as caught:
            reader(path, "thing")
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_of_ours_is_refused(tmp_path, reader):
    with pytest.raises(InputError, match="There is no file"):
        reader(tmp_path / "missing", "thing")
    with pytest.raises(InputError, match="is a folder"):
        reader(tmp_path, "thing")
    path = tmp_path / "x.safetensors"
    descriptions = [
        None,
        {"other": "x"},
        *({"minaction": text} for text in ("{", "[1]", "3", "{}", '{"format": 1}')),
    ]
    for metadata in descriptions:
        save_file({"a": np.zeros(2)}, path, metadata=metadata)
        with pytest.raises(InputError, match="not a thing file of minaction"):
            reader(path, "thing")
    path.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")
    with pytest.raises(InputError, match="not a thing file of minaction"):
        reader(path, "thing")


def test_a_type_we_do_not_write_cannot_be_mapped(tmp_path):
    path = tmp_path / "x.safetensors"
    description = json.dumps({"kind": "thing", "format": FORMAT, "version": "0"})
    save_file({"a": np.zeros(2, dtype=np.float16)}, path, metadata={"minaction": description})
    with pytest.raises(InputError, match="not a thing file of minaction"):
        map_tensors(path, "thing")


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "old.txt").write_text("old")
    for target in (tmp_path / "old.txt", tmp_path / "data" / "new.txt"):
        link = tmp_path / f"link-{target.name}"
        link.symlink_to(target)
        with atomic_write(link, "w") as file:
            file.write("written")
        assert link.is_symlink()
        assert target.read_text() == "written"


def test_pipes_and_devices_are_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/null")):
        with pytest.raises(InputError, match="is a pipe or a device"), atomic_write(path) as file:
            file.write(b"written")
    assert pipe.is_fifo()
    assert not Path("/dev/null").is_file()
