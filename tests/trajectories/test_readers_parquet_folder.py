"""A log in several Parquet files, read into memory or passed through it in parts; both give the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import minaction as ma
from minaction.trajectories.readers import _parquet

LENGTHS = (3, 40, 7, 1, 25, 12)
ROWS = sum(LENGTHS)


def table(names: bool) -> pa.Table:
    ids = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    random = np.random.default_rng(0)
    columns = {
        "run": [f"run-{k}" for k in ids] if names else ids,
        "stamp": np.concatenate([np.cumsum(random.uniform(0.1, 0.2, count)) for count in LENGTHS]),
        "x": random.normal(size=ROWS).astype(np.float32),
        "y": random.normal(size=ROWS).astype(np.float32),
        "action_0": random.normal(size=ROWS),
    }
    return pa.table(columns)


def write(folder: Path, rows: pa.Table, *, files: int = 3) -> Path:
    """In files that end amid episodes; file 10 comes after file 9."""
    folder.mkdir()
    for k, part in enumerate(np.array_split(np.arange(rows.num_rows), files)):
        parquet.write_table(rows.slice(part[0], len(part)), folder / f"part-{k + 8}.parquet", row_group_size=5)
    return folder


@pytest.fixture(autouse=True)
def small_parts(monkeypatch, tmp_path):
    monkeypatch.setattr(_parquet, "_ROWS_AT_ONCE", 4)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("keep_actions", [False, True])
def test_mapped_and_in_memory_are_the_same(tmp_path, names, keep_actions):
    folder = write(tmp_path / "log", table(names))
    words = {"episode": "run", "time": "stamp", "keep_actions": keep_actions}
    held, mapped = ma.read(folder, **words), ma.read(folder, memory_map=True, **words)
    assert mapped.is_mapped
    assert not held.is_mapped
    assert held.lengths.tolist() == list(LENGTHS)
    assert mapped.fingerprint == held.fingerprint
    assert (mapped.columns, mapped.time_unit, mapped.states.dtype) == (("x", "y"), "s", np.float32)
    if keep_actions:
        np.testing.assert_array_equal(mapped.actions, held.actions)


@pytest.mark.parametrize("missing", ["drop", "split"])
def test_missing_values_are_treated_alike(tmp_path, missing):
    rows = table(names=False)
    x = rows["x"].to_numpy().copy()
    x[[5, 6, 30, 60]] = np.nan
    rows = rows.set_column(2, "x", pa.array(x)).drop_columns(["stamp"])
    folder = write(tmp_path / "log", rows)
    held, mapped = (ma.read(folder, episode="run", missing=missing, memory_map=mapped) for mapped in (False, True))
    assert mapped.lengths.tolist() == held.lengths.tolist()
    np.testing.assert_array_equal(mapped.states, held.states)


def test_what_was_made_is_used_until_a_file_changes(tmp_path):
    folder = write(tmp_path / "log", table(names=False))
    words = {"episode": "run", "time": "stamp", "memory_map": True}
    first = ma.read(folder, **words)
    (kept,) = (tmp_path / "cache").rglob("*.safetensors")
    before = kept.stat().st_mtime_ns
    assert ma.read(folder, **words).fingerprint == first.fingerprint
    assert kept.stat().st_mtime_ns == before
    last = folder / "part-10.parquet"
    parquet.write_table(parquet.read_table(last).slice(0, 10), last)
    os.utime(last, ns=(1, 1))
    assert ma.read(folder, **words).num_states < first.num_states
    (newer,) = (tmp_path / "cache").rglob("*.safetensors")  # what was made of the log as it was is gone
    assert newer != kept


def test_what_a_kill_leaves_is_removed_by_the_next_reading(tmp_path):
    folder, cache = write(tmp_path / "log", table(names=False)), tmp_path / "cache/minaction/tables"
    waits = (
        "import sys, time, minaction as ma; from minaction.trajectories.readers import _parquet;"
        "_parquet.from_arrow = lambda *_: (print('reading', flush=True), time.sleep(60));"
        f"ma.read({str(folder)!r}, episode='run', time='stamp', memory_map=True)"
    )
    with subprocess.Popen([sys.executable, "-c", waits], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"reading\n"
        others = set(cache.iterdir())
        assert others
        ma.read(folder, episode="run", time="stamp", memory_map=True)
        assert others < set(cache.iterdir())  # still in use
        process.kill()
    ma.read(folder, episode="run", time="stamp", memory_map=True)
    assert [path.suffix for path in cache.iterdir()] == [".safetensors"]


def test_bad_logs_leave_nothing_behind(tmp_path):
    rows = table(names=False)
    again = pa.concat_tables([rows, rows.slice(0, 5)])
    folder = write(tmp_path / "log", again)
    for mapped in (False, True):
        with pytest.raises(ma.InputError, match="sort the rows"):
            ma.read(folder, episode="run", time="stamp", memory_map=mapped)
    assert list((tmp_path / "cache").rglob("*.safetensors")) == []
    assert list((tmp_path / "cache/minaction/tables").iterdir()) == []
    (tmp_path / "empty").mkdir()
    with pytest.raises(ma.InputError, match="holds no Parquet files"):
        ma.read(tmp_path / "empty")
    (folder / "part-9.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(ma.InputError, match="log"):
        ma.read(folder, episode="run", memory_map=True)


@pytest.mark.parametrize("memory_map", [False, True])
def test_a_file_that_differs_is_named_with_its_columns(tmp_path, memory_map):
    folder = write(tmp_path / "log", table(names=False))
    odd = folder / "part-10.parquet"
    rows = parquet.read_table(odd)

    def refusal() -> str:
        with pytest.raises(ma.InputError) as caught:
            ma.read(folder, episode="run", time="stamp", memory_map=memory_map)
        assert str(odd) in str(caught.value)
        return str(caught.value)

    parquet.write_table(rows.rename_columns(["run", "stamp", "x", "z", "action_0"]), odd)
    assert "lacks 'y' (it has 'run', 'stamp', 'x', 'z', 'action_0'), unlike part-8.parquet" in (said := refusal())
    assert "damaged" not in said
    parquet.write_table(rows.set_column(2, "x", pa.array(["a"] * rows.num_rows)), odd)
    assert "holds string in column 'x', in which part-8.parquet holds float" in (said := refusal())
    assert "damaged" not in said
    parquet.write_table(rows, odd)
    content = odd.read_bytes()
    odd.write_bytes(content[: len(content) // 2])
    assert "part-10.parquet cannot be read as Parquet: it is damaged" in refusal()
    odd.write_bytes(content[:4] + bytes(200) + content[204:])
    assert "part-10.parquet cannot be read as Parquet: it is damaged" in refusal()


@pytest.mark.parametrize("memory_map", [False, True])
def test_columns_in_another_order_or_as_whole_numbers_are_the_same_columns(tmp_path, memory_map):
    rows = table(names=False).drop_columns(["x", "action_0"])
    rows = rows.append_column("x", pa.array(np.arange(ROWS, dtype=np.float64)))
    folder = write(tmp_path / "log", rows.drop_columns("y"))
    odd = folder / "part-9.parquet"
    part = parquet.read_table(odd)
    whole = part.set_column(2, "x", part["x"].cast("int64")).select(["x", "stamp", "run"])
    parquet.write_table(whole, odd)
    data = ma.read(folder, episode="run", time="stamp", states=["x"], memory_map=memory_map)
    assert data.states.ravel().tolist() == list(range(ROWS))
    assert data.states.dtype == np.float64
