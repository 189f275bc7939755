"""CSV and Parquet logs: which column is what, and broken tables that must end in one sentence."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from minaction.errors import InputError
from minaction.tasks import read

ROWS = 7
COLUMNS: dict[str, list[Any]] = {
    "episode": [4, 4, 4, 2, 2, 9, 9],
    "time": [0.0, 0.5, 2.0, 7.0, 8.0, 0.0, 1.0],
    "x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
    "action_force": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
    "y": [10, 11, 12, 13, 14, 15, 16],
    "reward": [0.0] * 6 + [1.0],
    "terminated": [0] * 6 + [1],
}
STATES = np.array([COLUMNS["x"], COLUMNS["y"]]).T


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_parquet(path: Path, columns: dict[str, list[Any]]) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


WRITERS = [(write_csv, "log.csv"), (write_parquet, "log.parquet"), (write_parquet, "log.PQ")]
both_formats = pytest.mark.parametrize(("write", "name"), WRITERS)


def with_changes(**changes: list[Any] | None) -> dict[str, list[Any]]:
    return {name: values for name, values in {**COLUMNS, **changes}.items() if values is not None}


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@both_formats
def test_columns_become_episodes_times_and_states(tmp_path, write, name):
    path = write(tmp_path / name, COLUMNS)
    data = read(path)
    assert data.offsets.tolist() == [0, 3, 5, 7]
    np.testing.assert_array_equal(data.states, STATES)
    np.testing.assert_array_equal(data.times, COLUMNS["time"])
    assert data.actions is None
    kept = read(path, keep_actions=True)
    np.testing.assert_array_equal(kept.states, STATES)
    np.testing.assert_array_equal(kept.actions, np.array(COLUMNS["action_force"])[:, None])


@both_formats
def test_time_and_actions_may_be_absent_and_episodes_may_have_names(tmp_path, write, name):
    columns = with_changes(time=None, action_force=None, episode=["b", "b", "b", "a", "a", "c", "c"])
    data = read(write(tmp_path / name, columns), keep_actions=True)
    assert data.offsets.tolist() == [0, 3, 5, 7]
    assert data.times is None
    assert data.actions is None


@both_formats
def test_names_of_columns_are_found_in_any_case_and_order(tmp_path, write, name):
    columns = {"Y": COLUMNS["y"], " Episode ": COLUMNS["episode"], "Timestep": list(range(ROWS))}
    data = read(write(tmp_path / name, columns))
    assert data.states.ravel().tolist() == COLUMNS["y"]
    assert data.times is not None
    assert data.times.tolist() == list(range(ROWS))


@both_formats
def test_dates_are_times_in_seconds(tmp_path, write, name):
    start = datetime(2024, 3, 31, 0, 59, 58, tzinfo=UTC)  # clocks change in between in much of Europe
    moments = [start + timedelta(seconds=1.5 * k) for k in range(ROWS)]
    values = [moment.isoformat() for moment in moments] if write is write_csv else moments
    data = read(write(tmp_path / name, with_changes(time=values)))
    assert data.times is not None
    np.testing.assert_allclose(np.diff(data.times), 1.5)


def test_parquet_lists_of_equal_length_are_several_columns(tmp_path):
    path = tmp_path / "log.parquet"
    vectors = np.arange(14.0).reshape(7, 2)
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float32(), 2), pa.large_list(pa.float64())):
        table = {
            "episode": COLUMNS["episode"],
            "state": pa.array(vectors.tolist(), type=kind),
            "z": [True] * ROWS,
        }
        parquet.write_table(pa.table(table), path)
        np.testing.assert_array_equal(read(path).states, np.column_stack([vectors, np.ones(7)]))
    for bad in ([[1.0, 2.0]] * 6 + [[1.0]], [[1.0, None]] * 7, [[]] * 7):
        parquet.write_table(pa.table({"episode": COLUMNS["episode"], "state": bad}), path)
        assert "'state'" in refusal(path)


def test_parquet_of_several_row_groups_and_repeated_names_is_read(tmp_path):
    path = tmp_path / "log.parquet"
    episodes = pa.array(["run"] * 50 + ["walk"] * 50).dictionary_encode()
    table = pa.table({"episode": episodes, "x": np.arange(100, dtype=np.int16)})
    parquet.write_table(table, path, row_group_size=7)
    data = read(path)
    assert data.offsets.tolist() == [0, 50, 100]
    assert data.states.ravel().tolist() == list(range(100))


@both_formats
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"episode": None}, "no column 'episode' (there are 'time'"),
        ({"x": None, "y": None}, "no column left for the state"),
        ({"episode": [1, 1, 2, 2, 1, 1, 1], "time": None}, "are not together"),
        ({"time": [0.0, 0.5, 0.5, 7.0, 8.0, 0.0, 1.0]}, "the clock 'time' says 0.5 at "),
        ({"time": ["early"] * ROWS}, "time"),
        ({"x": [0.0, 0.0, float("nan"), 0.0, 0.0, 0.0, 0.0]}, "1 value is missing, in 'x' (1), first in "),
        ({"x": [0.0, 0.0, None, 0.0, 0.0, 0.0, 0.0]}, "'x'"),
        ({"x": ["a"] * ROWS}, "'x'"),
        ({"x": ["1_2"] * ROWS}, "'x'"),  # a name, which Python would read as 12
        ({"episode": [1, 1, None, 1, 1, 1, 1]}, "episode"),
        ({"episode": list(range(ROWS))}, "single state"),
        ({" X ": [0.0] * ROWS}, "two columns named 'x'"),
        ({"": [0.0] * ROWS}, "has no name"),
    ],
)
def test_wrong_contents_end_in_one_sentence(tmp_path, write, name, changes, expected):
    assert expected in refusal(write(tmp_path / name, with_changes(**changes)))


@both_formats
def test_a_table_without_rows_is_refused(tmp_path, write, name):
    refusal(write(tmp_path / name, {"episode": [], "x": []}))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "it is empty"),
        (b"episode,x\n0,1\n0\n", "line 3 has 1 cells, not 2"),
        (b"episode,x\n0,1\n0,2,3\n", "line 3 has 3 cells, not 2"),
        (b"episode,x\n0,1\n0,1.5.2\n", "line 3 has '1.5.2' in column 'x'"),
        (b"0;1\n0;2\n", "first line holds numbers"),
        (b"\xff\xfe\x00e\x00p", "is not written in UTF-8"),
        (b"episode,x\n0,1\n0,\x00\n", "x"),
        (b'episode,x\n0,"1\n', "single state"),
    ],
)
def test_broken_csv_ends_in_one_sentence(tmp_path, content, expected):
    (tmp_path / "log.csv").write_bytes(content)
    assert expected in refusal(tmp_path / "log.csv")


def test_csv_as_spreadsheets_write_it_is_read(tmp_path):
    (tmp_path / "log.csv").write_bytes(b'\xef\xbb\xbf"episode","x"\r\n0,"1.5"\r\n0, 2e0 \r\n\r\n')
    assert read(tmp_path / "log.csv").states.ravel().tolist() == [1.5, 2.0]


def test_csv_of_tens_of_thousands_of_columns_is_read(tmp_path):
    names = ["episode", *(f"x{k}" for k in range(30_000))]
    (tmp_path / "log.csv").write_text("\n".join([",".join(names), *(f"0{',1' * 30_000}",) * 2]))
    assert read(tmp_path / "log.csv").state_shape == (30_000,)


def test_truncated_parquet_ends_in_one_sentence(tmp_path):
    path = write_parquet(tmp_path / "log.parquet", COLUMNS)
    whole = path.read_bytes()
    for length in [0, 4, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert "cannot be read as Parquet" in refusal(path)


def test_a_parquet_file_of_one_repeated_number_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "bomb.parquet"
    schema = pa.schema([("episode", pa.int8()), ("x", pa.int8())])
    block = pa.table({"episode": np.zeros(1 << 22, np.int8), "x": np.zeros(1 << 22, np.int8)})
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(block)
    assert path.stat().st_size < 1 << 20
    assert "would unpack" in refusal(path)


def test_actions_that_are_not_numbers_matter_only_when_kept(tmp_path):
    for write, name in WRITERS[:2]:
        path = write(tmp_path / name, with_changes(action_force=["left"] * ROWS))
        assert read(path).num_states == ROWS
        assert "action_force" in refusal(path, keep_actions=True)
