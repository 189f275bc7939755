"""Messy logs: which columns are what, clocks and their units, missing values, text; alike for every kind of table."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import minaction as ma
from minaction.cli import main
from minaction.training import Run

ROWS = 30
LOG = {
    "run_id": ["a"] * 12 + ["b"] * 18,
    "stamp": [0.5 * k for k in range(12)] + [0.5 * k for k in range(18)],
    "x": [float(k % 5) for k in range(ROWS)],
    "y": [float(k % 3) for k in range(ROWS)],
    "mode": ["auto"] * ROWS,
    "note": ["fine"] * ROWS,
}
WORDS = {"episode": "run_id", "time": "stamp", "states": ("x", "y")}


class OnlyArrow:
    """A data frame of which nothing is known but that it speaks Arrow."""

    def __init__(self, columns: dict) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyInterchange:
    def __init__(self, columns: dict) -> None:
        self._table = pa.table(columns)

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._table.__dataframe__(nan_as_null, allow_copy)


def as_csv(folder: Path, columns: dict, **words) -> ma.Trajectories:
    path = folder / "log.csv"
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    path.write_text("\n".join([",".join(columns), *lines]))
    return ma.read(path, **words)


def as_parquet(folder: Path, columns: dict, **words) -> ma.Trajectories:
    parquet.write_table(pa.table(columns), folder / "log.parquet")
    return ma.read(folder / "log.parquet", **words)


def as_frame(folder: Path, columns: dict, **words) -> ma.Trajectories:
    return ma.Trajectories.from_dataframe(OnlyArrow(columns), **words)


def as_older_frame(folder: Path, columns: dict, **words) -> ma.Trajectories:
    return ma.Trajectories.from_dataframe(OnlyInterchange(columns), **words)


every_table = pytest.mark.parametrize("read", [as_csv, as_parquet, as_frame, as_older_frame])


def changed(**columns: list | None) -> dict:
    return {name: values for name, values in {**LOG, **columns}.items() if values is not None}


@every_table
def test_columns_are_chosen_by_name_and_kept(tmp_path, read):
    data = read(tmp_path, LOG, **WORDS)
    assert data.offsets.tolist() == [0, 12, 30]
    assert data.columns == ("x", "y")
    assert data.time_unit == "s"
    assert data.times.tolist() == LOG["stamp"]
    assert read(tmp_path, LOG, **(WORDS | {"states": ("y", "X")})).columns == ("y", "x")
    dropped = read(tmp_path, LOG, episode="run_id", drop=["mode", "note"])
    assert (dropped.columns, dropped.time_unit) == (("x", "y"), "s")  # the clock's name says so


def test_names_and_unit_stay_with_the_data(tmp_path):
    data = as_frame(tmp_path, LOG, **WORDS)
    data.save(tmp_path / "data.safetensors")
    for kept in (ma.read(tmp_path / "data.safetensors"), data.first(1), data[:1], data + data):
        assert (kept.columns, kept.time_unit) == (("x", "y"), "s")
    assert data.describe()["columns"] == "x, y"
    assert data.describe()["times"] == "recorded, in s"


@every_table
def test_text_columns_are_named_all_at_once(tmp_path, read):
    with pytest.raises(ma.InputError, match=r"'mode' .*'note' .*--drop mode note"):
        read(tmp_path, LOG, episode="run_id")


@every_table
def test_one_damaged_cell_is_to_be_repaired_and_its_column_kept(tmp_path, read):
    y = [str(value) for value in LOG["y"]]
    y[20] = "error"
    log = changed(y=y, mode=None, note=None)
    with pytest.raises(ma.InputError, match="has 'error' in column 'y', not a number; repair such cells") as caught:
        read(tmp_path, log, episode="run_id")
    assert "--missing drop" in str(caught.value)
    assert "--drop" not in str(caught.value)
    with pytest.raises(ma.InputError, match=r"repair such cells of 'y' .*, and leave 'note' out \(--drop note\)"):
        read(tmp_path, {**log, "note": LOG["note"]}, episode="run_id")


@every_table
def test_texts_are_to_be_numbered_before_they_are_one_hot_encoded(tmp_path, read):
    log = changed(note=None)
    with pytest.raises(ma.InputError, match="number the texts of 'mode' from 0 on, as --one-hot takes whole"):
        read(tmp_path, log, episode="run_id", one_hot=["mode"])


@every_table
def test_marks_of_first_and_last_rows_are_no_states(tmp_path, read):
    log = changed(mode=None, note=None, is_first=[0] * ROWS, episode_start=[0] * ROWS, termination=[1] * ROWS)
    assert read(tmp_path, log, episode="run_id").columns == ("x", "y")


@every_table
def test_the_clock_of_rostopic_counts_nanoseconds(tmp_path, read):
    for begin in (10**9, 1_700_000_000 * 10**9):  # of a simulation, and since 1970
        log = {"%time": [begin + 10**8 * k for k in range(ROWS)], "x": LOG["x"]}
        data = read(tmp_path, log, episode=())
        assert (data.columns, data.time_unit) == (("x",), "ns")
        np.testing.assert_allclose(np.diff(data.times), 1e8)


@every_table
def test_missing_values_are_refused_dropped_or_split(tmp_path, read):
    x = list(LOG["x"])
    x[4] = x[5] = x[20] = None
    log = changed(x=x)
    with pytest.raises(ma.InputError, match=r"3 values are missing, in 'x' \(3\), first in (line 6|row 4)"):
        read(tmp_path, log, **WORDS)
    assert read(tmp_path, log, missing="drop", **WORDS).lengths.tolist() == [10, 17]
    assert read(tmp_path, log, missing="split", **WORDS).lengths.tolist() == [4, 6, 8, 9]
    steps = read(tmp_path, log, episode="run_id", states=("x", "y"), missing="drop")
    assert steps.times[3:6].tolist() == [3, 6, 7]  # two steps are gone, and are counted still
    with pytest.raises(ma.InputError, match="'refuse', 'drop' or 'split'"):
        read(tmp_path, log, missing="guess", **WORDS)


@every_table
def test_a_column_that_only_grows_is_named_as_a_likely_clock(tmp_path, read):
    log = {**changed(stamp=None, mode=None, note=None), "ticks": LOG["stamp"]}
    with pytest.warns(UserWarning, match="'ticks' only grows .*--time ticks"):
        assert read(tmp_path, log, episode="run_id").columns == ("x", "y", "ticks")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, log, episode="run_id", time="ticks")
        read(tmp_path, log, episode="run_id", states=("x", "ticks"))


@every_table
def test_t_is_the_clock_only_where_it_increases(tmp_path, read):
    log = changed(stamp=None, mode=None, note=None)
    clock = read(tmp_path, {**log, "t": LOG["stamp"]}, episode="run_id")
    temperature = read(tmp_path, {**log, "t": [20.0] * ROWS}, episode="run_id")
    assert (clock.columns, clock.time_unit) == (("x", "y"), "s")
    assert temperature.times is None
    assert temperature.columns == ("x", "y", "t")


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("stamp", [1.0 * k for k in range(ROWS)], "s"),
        ("stamp_ms", [20 * k for k in range(ROWS)], "ms"),
        ("clock [us]", [20 * k for k in range(ROWS)], "us"),
        ("clock", [1.7e12 + 20 * k for k in range(ROWS)], "ms"),
        ("clock", [1.7e9 + k for k in range(ROWS)], "s"),
        ("frame", list(range(ROWS)), ""),
        ("when", [f"2024-05-01T10:00:{k:02d}.500Z" for k in range(ROWS)], "s"),
        ("when", list(np.datetime64("2024-05-01T10:00", "ns") + np.arange(ROWS) * np.timedelta64(1, "s")), "s"),
    ],
)
def test_the_unit_of_a_clock_is_told(tmp_path, name, values, unit):
    log = {"episode": LOG["run_id"], name: values, "x": LOG["x"]}
    data = as_frame(tmp_path, log, time=name)
    assert data.time_unit == unit
    if name == "when":
        assert data.times is not None
        np.testing.assert_allclose(np.diff(data.times), 1.0)
    assert as_frame(tmp_path, log, time=name, unit="min").time_unit == "min"


def test_wrong_words_end_in_a_sentence(tmp_path):
    for words, expected in [
        ({"episode": "run"}, "no column named 'run': did you mean 'run_id'"),
        (WORDS | {"drop": ("speed",)}, "no column named 'speed'"),
        (WORDS | {"states": ("stamp",)}, "'stamp' cannot be a state and something else"),
        (WORDS | {"states": ("x", "y", "X")}, "'x' is named twice among the states"),
    ]:
        with pytest.raises(ma.InputError, match=expected):
            as_csv(tmp_path, LOG, **words)
    with pytest.raises(ma.InputError, match="is a task, not a table"):
        ma.read("cliffwalking", time="stamp")
    np.save(tmp_path / "states.npy", np.zeros((5, 2)))
    with pytest.raises(ma.InputError, match="is not a table"):
        ma.read(tmp_path / "states.npy", time="stamp")
    with pytest.raises(ma.InputError, match="not a data frame"):
        ma.Trajectories.from_dataframe([1, 2])


def test_the_command_line_takes_the_same_words_and_says_the_unit(tmp_path, capsys, monkeypatch):
    as_csv(tmp_path, LOG, **WORDS)
    monkeypatch.chdir(tmp_path)
    words = ["--episode", "run_id", "--time", "stamp", "--states", "x", "y", "--missing", "split"]
    tiny = ["--steps", "2", "--set", "encoder.hidden=8", "encoder.latent=8", "--out", "run", "--device", "cpu"]
    assert main(["data", "info", "log.csv", *words]) == 0
    assert "x, y" in capsys.readouterr().out
    assert main(["train", "log.csv", *words, *tiny]) == 0
    table = Run.open("run").config.table
    assert table is not None
    assert (table.episode, table.states, table.missing) == (("run_id",), ("x", "y"), "split")
    assert main(["train", "log.csv", *words, *tiny]) == 0  # finished already: the same options are the same run
    assert main(["train", "log.csv", *words[:-2], *tiny]) == 2
    model = ma.load("run")
    assert (model.columns, model.unit) == (("x", "y"), "s")
    capsys.readouterr()
    assert main(["distance", "run", "--from", "0", "0", "--to", "1", "1"]) == 0
    assert " s\n" in (printed := capsys.readouterr().out)
    assert "actions" not in printed


@pytest.mark.parametrize("read", [as_csv, as_parquet])
def test_a_new_log_is_read_as_the_run_read_its_own(tmp_path, capsys, monkeypatch, read):
    monkeypatch.chdir(tmp_path)
    read(tmp_path, LOG, **WORDS)
    (name,) = (path.name for path in tmp_path.iterdir() if path.stem == "log")
    small = ["--objective", "maddist", "--steps", "2", "--evaluations", "1", "--set", "encoder.hidden=8"]
    columns = ["--episode", "run_id", "--unit", "ms", "--drop", "MODE", "note"]
    assert main(["train", name, *columns, *small, "--out", "run"]) == 0
    for lacking in (("mode",), ("mode", "note")):  # what the run left out need not be there
        read(tmp_path, changed(**dict.fromkeys(lacking)), **WORDS)
        assert main(["progress", "run", name]) == 0
    capsys.readouterr()
    read(tmp_path, changed(battery=[0.5] * ROWS), **WORDS)
    assert main(["progress", "run", name]) == 2
    assert "(--states x y)" in capsys.readouterr().err
    assert main(["progress", "run", name, "--states", "x", "y", "--time", "stamp"]) == 0  # else as for the run
    assert "times in ms" in capsys.readouterr().out
    assert main(["progress", "run", name, "--drop", "note", "battery", "mdoe"]) == 2
    assert "did you mean 'mode'" in capsys.readouterr().err
