"""Files made to exhaust memory, to name other files, to block, or to bring the process down."""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import minaction as ma
from minaction.errors import InputError

h5py = pytest.importorskip("h5py")

GIB = 1 << 30


def refused_in_little_memory(read: Callable[[], object]) -> str:
    """What reading is refused with, having taken no more than a quarter of a GiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with pytest.raises(InputError) as caught:
        read()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < GIB // 4
    return str(caught.value)


def test_an_array_of_no_bytes_and_a_billion_episodes(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 0, 2)})
    assert "no states" in refused_in_little_memory(lambda: ma.read(str(path)))


def test_an_archive_that_unpacks_a_hundredfold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, states=np.zeros((40 << 20, 1)))  # 320 MiB in 320 KiB
    assert "MINACTION_MAX_GIB" in refused_in_little_memory(lambda: ma.read(str(path)))
    monkeypatch.setenv("MINACTION_MAX_GIB", "0.1")
    assert "at most 0.1 GiB" in refused_in_little_memory(lambda: ma.read(str(path)))
    monkeypatch.setenv("MINACTION_MAX_GIB", "much")
    assert "'much'" in refused_in_little_memory(lambda: ma.read(str(path)))


@pytest.mark.parametrize("column", ["reward", "episode", "x"])
def test_parquet_with_one_long_text_many_times(tmp_path: Path, column: str) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 200_000
    text = pyarrow.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["x" * 10_000]).cast("large_string")
    columns = {"episode": np.zeros(rows, np.int64), "x": np.arange(rows) % 7, column: text}
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table(columns), path, store_schema=False)  # 2 GB of text in some KB
    del text, columns
    if column == "x":
        assert "not a number" in refused_in_little_memory(lambda: ma.read(str(path)))
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert ma.read(str(path)).num_states == rows
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < GIB // 4


def test_a_choice_among_forty_thousand_takes_a_row_for_each_step_alone() -> None:
    from minaction.trajectories.readers._minari import _one_hot

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert _one_hot(np.array([3, 39_999]), 40_000, "here").sum(axis=1).tolist() == [1, 1]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before < GIB // 4
    assert "choice among" in refused_in_little_memory(lambda: _one_hot(np.zeros(10**6, int), 10**6, "here"))


@pytest.mark.parametrize("link", ["external", "soft", "group"])
def test_no_link_leads_to_another_file(tmp_path: Path, link: str) -> None:
    with h5py.File(tmp_path / "other.hdf5", "w") as other:
        other["secret"] = np.arange(20.0).reshape(10, 2)
    path = tmp_path / "x.hdf5"
    with h5py.File(path, "w") as file:
        file["terminals"] = np.arange(10) == 9
        file["away"] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "/")
        if link == "external":
            file["observations"] = h5py.ExternalLink(str(tmp_path / "other.hdf5"), "secret")
        elif link == "soft":
            file["observations"] = h5py.SoftLink("/away/secret")
        else:
            file["observations"] = h5py.SoftLink("away/secret")
    with pytest.raises(InputError, match="is a link"):
        ma.read(str(path))


def test_no_link_in_a_minari_data_set_leads_to_another_file(tmp_path: Path) -> None:
    from minaction.trajectories.readers._minari import _refuse_too_large

    with h5py.File(tmp_path / "other.hdf5", "w") as other:
        other["observations"] = np.arange(20.0).reshape(10, 2)
    for target in (h5py.ExternalLink("other.hdf5", "/"), h5py.SoftLink("/away")):
        with h5py.File(tmp_path / "main_data.hdf5", "w") as file:
            file.create_group("a")["episode_0"] = target
        with pytest.raises(InputError, match="is a link"):
            _refuse_too_large(tmp_path)


@pytest.fixture
def minari_table(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The file of the one episode, of three steps, in a Minari data set of a format with a file for each."""
    pytest.importorskip("pyarrow")
    minari_storage = pytest.importorskip("minari.dataset.minari_storage")
    spaces = pytest.importorskip("gymnasium.spaces")
    collector = pytest.importorskip("minari.data_collector")
    numbers = spaces.Box(-10, 10, (2,), np.float64)
    rows = np.arange(8.0).reshape(4, 2)
    parts = {"rewards": np.zeros(3), "terminations": np.zeros(3, bool), "truncations": np.zeros(3, bool)}
    (tmp_path / "set").mkdir()
    storage = minari_storage.MinariStorage.new(
        tmp_path / "set", observation_space=numbers, action_space=numbers, data_format=request.param
    )
    storage.update_episodes([collector.EpisodeBuffer(id=0, observations=rows, actions=rows[1:], **parts)])
    storage.update_metadata({"dataset_id": "x/x-v0", "minari_version": "0.5.0"})
    assert ma.read(str(tmp_path / "set")).num_states == 4
    return tmp_path / "set" / "0" / f"part-0.{request.param}"


def stretch(path: Path, rows: int) -> None:
    """Exchange the table of an episode for one of so many equal rows, which takes little room in a file."""
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    pairs, zeros = pa.FixedSizeListArray.from_arrays(np.zeros(2 * rows), 2), np.zeros(rows)
    marks = pa.array(np.zeros(rows, bool))
    table = pa.table({"observations": pairs, "actions": pairs, "rewards": zeros, "terminations": marks})
    table = table.append_column("truncations", marks)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, compression="zstd")
    else:
        feather.write_feather(table, str(path), compression="zstd", chunksize=rows)


@pytest.mark.parametrize("minari_table", ["arrow", "parquet"], indirect=True)
def test_tables_of_minari_are_bounded_and_read_whole(minari_table: Path) -> None:
    stretch(minari_table, 10_000_000)  # half a GB
    folder = str(minari_table.parents[1])
    assert "MINACTION_MAX_GIB" in refused_in_little_memory(lambda: ma.read(folder))
    stretch(minari_table, 140_000)
    with pytest.raises(InputError, match="counts 3 steps, but Minari reads"):
        ma.read(folder)
    minari_table.unlink()
    os.mkfifo(minari_table)
    with pytest.raises(InputError, match="pipe or a device"):
        ma.read(folder)


def test_a_pipe_in_a_lerobot_data_set_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    folder = shutil.copytree(Path(__file__).parents[1] / "trajectories" / "lerobot" / "v3.0", tmp_path / "arm")
    table = folder / "data" / "chunk-000" / "file-000.parquet"
    table.unlink()
    os.mkfifo(table)
    with pytest.raises(InputError, match="pipe or a device"):
        ma.read(str(folder))


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.hdf5", "x.parquet", "x.safetensors", "x"])
def test_a_pipe_is_refused_at_once(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(InputError, match="pipe or a device"):
        ma.read(str(path))
    if name == "x.safetensors":
        with pytest.raises(InputError, match="pipe or a device"):
            ma.load(path)


def test_a_device_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "x.csv").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="pipe or a device"):
        ma.read(str(tmp_path / "x.csv"))
    (tmp_path / "config.json").symlink_to("/dev/zero")
    from minaction.training import Run

    with pytest.raises(InputError):
        Run.open(tmp_path)


def rewrite(path: Path, change: Callable[[dict, dict], object]) -> None:
    """Change what a file of ours says of its arrays, and our own header; without a checksum, as if it were right."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    entries = json.loads(raw[8 : 8 + length])
    ours = json.loads(entries.pop("__metadata__")["minaction"])
    change(entries, ours)
    header = json.dumps({**entries, "__metadata__": {"minaction": json.dumps(ours)}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + raw[8 + length :])


@pytest.mark.parametrize(
    "change",
    [
        {"state_shape": "two"},
        {"state_shape": [10**9]},
        {"state_shape": [-2]},
        {"state_dtype": "object"},
        {"state_dtype": "two"},
        {"step_time": 0},
        {"encoder": {"name": "ensemble", "base": {"name": "mlp"}, "size": 10**6}},
        {"encoder": {"name": "mlp", "latent": 10**12}},
        {"encoder": {"name": "mlp", "hidden": [8] * 100_000}},
        {"provenance": 3},
        {"quasimetric": {"name": "simple", "members": 10**6}},
    ],
)
def test_a_header_that_asks_for_too_much_is_refused(tmp_path: Path, change: dict) -> None:
    data = ma.Trajectories.from_flat(np.arange(20.0).reshape(10, 2))
    path = tmp_path / "model.safetensors"
    ma.Trainer(ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8)), data, steps=1).models()[0].save(path)
    rewrite(path, lambda entries, header: header.update(change))
    with pytest.raises(InputError, match="model"):
        ma.load(path)


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize("dtype", ["F8_E4M3", "F8_E5M2"])
def test_an_array_of_a_type_that_numpy_lacks_is_refused(tmp_path: Path, dtype: str, memory_map: bool) -> None:
    path = tmp_path / "x.safetensors"
    ma.Trajectories.from_flat(np.zeros((10, 2), np.uint8)).save(path)
    rewrite(path, lambda entries, header: entries["states"].update(dtype=dtype))
    with pytest.raises(InputError, match="write it again"):
        ma.read(str(path), memory_map=memory_map)
