"""Logs as spreadsheets, robots and people write them: other separators, several robots in turn, dates, yes and no."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import minaction as ma
from minaction.cli import main
from minaction.errors import InputError

X = [0.5, 1.25, 2.0, 3.75]


def written(path: Path, *lines: str, encoding: str = "utf-8") -> Path:
    path.write_bytes("\n".join([*lines, ""]).encode(encoding))
    return path


@pytest.mark.parametrize(
    ("name", "separator", "comma"), [("a.csv", ";", True), ("a.csv", "\t", False), ("a.tsv", "\t", True)]
)
def test_other_separators_and_decimal_commas(tmp_path: Path, name: str, separator: str, comma: bool) -> None:
    cells = [str(x).replace(".", ",") if comma else str(x) for x in X]
    lines = [separator.join(["lauf", "Länge (m)", "an"]), *(separator.join(["1", cell, "True"]) for cell in cells)]
    data = ma.read(written(tmp_path / name, *lines), episode="lauf")
    assert data.columns == ("Länge (m)", "an")
    np.testing.assert_array_equal(data.states, [[x, 1.0] for x in X])


def test_a_number_with_both_marks_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has '1\.000,5' in column 'x'"):
        ma.read(written(tmp_path / "a.csv", "episode;x", "1;2", "1;1.000,5"))


def test_a_comma_that_may_separate_thousands_is_not_guessed_at(tmp_path: Path) -> None:
    """Encoder ticks 980, 990, 1,000 beside a speed of 0.5: read with a decimal comma, the third would be 1."""
    log = written(tmp_path / "a.tsv", "episode\tticks\tspeed", "1\t980\t0.5", "1\t990\t0.5", "1\t1,000\t0.5")
    with pytest.raises(InputError, match=r"line 4 has '1,000' in column 'ticks', but line 2 '0.5' in 'speed'"):
        ma.read(log)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([""], "it is empty; its first line has to name the columns"),
        (["# rig 3", "episode,x", "1,2"], "the first line, '# rig 3', names a single column"),
        (["episode|x", "1|2"], "the first line, 'episode|x', names a single column"),
        (["episode,x"], "no rows below the column names"),
        (["episode,time,x", "1,03/31/2024 09:30,2"], "write the clock as numbers or as ISO dates"),
        (["episode,when,x", "1,2024-03-31,2"], "--time when); or leave it out (--drop when)"),
        (["episode,x", '1,"1,209.71"'], "write numbers without units and separators of thousands"),
        (["episode,x", "1,340.8 mm"], "write numbers without units and separators of thousands"),
        (["episode,x,lidar", "1,1,", "1,2,"], "no value at all in 'lidar'; leave it out (--drop lidar)"),
        (["episode,x,y", "1,1,2", "", "1,inf,2"], "line 4 has inf in column 'x'"),
        (["episode,x,y", "1,1,2", "1,2,1e300"], "line 3 has 1e+300 in column 'y'"),
        ([",episode,x", "0,1,2"], "leave it out if it only counts the rows (--drop '')"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence_with_the_way_out(tmp_path: Path, lines: list[str], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        ma.read(written(tmp_path / "a.csv", *lines))
    assert sentence in str(caught.value)


def test_names_have_no_blanks_around_them(tmp_path: Path) -> None:
    data = ma.read(written(tmp_path / "a.csv", "episode, x , y", "1, 1, 2", "1, 3, 2"))
    assert data.columns == ("x", "y")


@pytest.mark.parametrize("name", ["success", "is_success", "Next.Success", "next.reward", "next.done"])
def test_how_an_episode_ended_is_no_state(tmp_path: Path, name: str) -> None:
    data = ma.read(written(tmp_path / "a.csv", f"episode,x,{name}", "1,1,0", "1,3,1"))
    assert data.columns == ("x",)


@pytest.mark.parametrize("names", [("secs", "nsecs"), ("sec", "nanosec")])
@pytest.mark.parametrize("kind", ["csv", "parquet", "mapped"])
def test_a_stamp_of_ros_is_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, names: tuple[str, str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    whole, fraction = (f"header.stamp.{name}" for name in names)
    columns = {"episode": [1] * 4, whole: [1700000000] * 2 + [1700000001] * 2, fraction: [0, 5 * 10**8] * 2, "x": X}
    log = as_file("csv" if kind == "csv" else "parquet", tmp_path, columns)
    data = ma.read(log, memory_map=kind == "mapped")
    assert data.columns == ("x",)
    assert data.time_unit == "s"
    assert data.times is not None
    np.testing.assert_allclose(np.diff(data.times), 0.5)
    other = as_file("csv", tmp_path, {**columns, "time": [0.0, 1.0, 2.0, 4.0]})
    data = ma.read(other)
    assert data.columns == ("x",), "a stamp beside another clock is no state either"
    assert data.durations.tolist() == [4.0]
    assert ma.read(other, states=["x", whole]).columns == ("x", whole), "unless somebody says so"


def test_rows_in_another_order_get_one_sentence(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    log = written(tmp_path / "a.csv", "episode,time,x", "1,0,1", "2,1,1", "1,3,2", "2,0,2", "1,2,3")
    with pytest.raises(InputError, match="the clock 'time' says 2 at line 6, after 3"):
        ma.read(log)
    assert not recwarn.list


def test_another_encoding_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not written in UTF-8"):
        ma.read(written(tmp_path / "a.csv", "episode;Länge", "1;2", encoding="latin-1"))


def test_a_log_without_names_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="first line holds numbers"):
        ma.read(written(tmp_path / "a.csv", "0,0.1,1", "0,0.2,2"))


ROBOTS = {
    "robot": ["a", "b", "a", "b", "a", "b", "a", "b"],
    "run": [1, 1, 1, 1, 2, 2, 2, 2],
    "stamp": [0.0, 0.5, 1.0, 1.5, 9.0, 9.5, 10.0, 10.5],
    "x": [0.0, 10.0, 1.0, 11.0, 5.0, 15.0, 6.0, 16.0],
}


def as_file(kind: str, folder: Path, columns: dict[str, list[Any]]) -> Path:
    if kind == "csv":
        rows = zip(*columns.values(), strict=True)
        return written(folder / "log.csv", ",".join(columns), *(",".join(map(str, row)) for row in rows))
    parquet.write_table(pa.table(columns), folder / "log.parquet")
    return folder / "log.parquet"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_robots_in_turn_are_put_in_order_by_their_clock(tmp_path: Path, kind: str) -> None:
    path = as_file(kind, tmp_path, ROBOTS)
    with pytest.warns(UserWarning, match="take turns"):
        data = ma.read(path, episode=["robot", "run"], time="stamp")
    assert data.offsets.tolist() == [0, 2, 4, 6, 8]
    assert data.states.ravel().tolist() == [0, 1, 10, 11, 5, 6, 15, 16]
    assert data.times is not None
    assert data.times.tolist() == [0.0, 1.0, 0.5, 1.5, 9.0, 10.0, 9.5, 10.5]
    assert data.episode_names == ("a / 1", "b / 1", "a / 2", "b / 2")
    with pytest.raises(InputError, match=r"one goes on at (line 4|row 2) after another"):
        ma.read(path, episode=["robot", "run"], states=["x"])


def test_a_clock_that_stands_still_is_named_by_its_line(tmp_path: Path) -> None:
    lines = ("episode,when,x", "1,2024-03-01T12:00:00Z,1", "1,2024-03-01T12:00:01Z,2", "1,2024-03-01T12:00:01Z,3")
    with pytest.raises(InputError, match=r"'when' says 2024-03-01T12:00:01\+00:00 at line 4"):
        ma.read(written(tmp_path / "a.csv", *lines), time="when")


@pytest.mark.parametrize("memory_map", [False, True])
def test_a_log_may_be_one_episode(tmp_path: Path, memory_map: bool) -> None:
    path = as_file("parquet", tmp_path, {"x": X, "y": X[::-1]})
    with pytest.raises(InputError, match=r"or none \(--episode\) if all rows are one episode"):
        ma.read(path, memory_map=memory_map)
    data = ma.read(path, episode=(), memory_map=memory_map)
    assert data.num_episodes == 1
    assert data.columns == ("x", "y")


@pytest.mark.parametrize("memory_map", [False, True])
def test_several_columns_tell_episodes_apart(tmp_path: Path, memory_map: bool) -> None:
    columns = {"robot": ["a", "a", "b", "b"], "run": [1, 1, 1, 1], "x": X}
    data = ma.read(as_file("parquet", tmp_path, columns), episode=("robot", "run"), memory_map=memory_map)
    assert data.offsets.tolist() == [0, 2, 4]


def test_the_command_line_takes_several_columns_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    as_file("csv", tmp_path, ROBOTS)
    assert main(["data", "info", "log.csv", "--episode", "robot", "run", "--time", "stamp"]) == 0
    assert "take turns" in capsys.readouterr().err
    assert main(["data", "info", "log.csv", "--states", "x", "--episode"]) == 0
    assert "│ 1 " in capsys.readouterr().out
    assert main(["data", "info", "log.csv", "other.csv"]) == 2
    assert "other.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "unit"),
    [("minute", "min"), ("elapsed (hours)", "h"), ("usec", "us"), ("day", "d"), ("t_ms", "ms"), ("clock", "s")],
)
def test_the_name_of_a_clock_tells_its_unit(tmp_path: Path, name: str, unit: str) -> None:
    path = as_file("parquet", tmp_path, {"episode": [1] * 4, name: [0, 1, 2, 3], "x": X})
    assert ma.read(path, time=name).time_unit == unit


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_that_nobody_named_may_be_the_clock(tmp_path: Path, kind: str) -> None:
    stamps = [f"2024-03-01 12:00:0{k}" for k in range(4)]
    path = as_file(kind, tmp_path, {"episode": [1] * 4, "taken at": stamps, "x": X})
    with pytest.raises(InputError, match=r"if 'taken at' is the clock, say so \(--time 'taken at'\)"):
        ma.read(path)
    assert ma.read(path, time="taken at").time_unit == "s"


def test_episodes_keep_the_names_of_the_log(tmp_path: Path) -> None:
    columns = {"episode": ["left"] * 3 + ["right"] * 5, "x": [0.0, 1.0, 2.0, 0.0, 1.0, float("nan"), 3.0, 4.0]}
    data = ma.read(as_file("csv", tmp_path, columns), missing="split")
    assert data.episode_names == ("left", "right", "right (2)")
    assert data[[2, 0]].episode_names == ("right (2)", "left")
    assert (data + data[:1]).episode_names == ("left", "right", "right (2)", "left")
    data.save(tmp_path / "kept.safetensors")
    assert ma.read(tmp_path / "kept.safetensors").episode_name(1) == "right"
    assert ma.read("cliffwalking", episodes=2).episode_name(1) == "1"
    with pytest.raises(InputError, match="2 names for 1 episodes"):
        ma.Trajectories.from_flat(np.zeros((3, 1)), episode_names=["a", "b"])


def test_answers_name_the_episodes_of_the_log_and_doubts_about_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(f"run-{e}", 0.1 * k, float(k + e % 3)) for e in range(20) for k in range(6)]
    written(tmp_path / "log.tsv", "name\tstamp\tx", *("\t".join(map(str, row)) for row in rows))
    tiny = ["--steps", "2", "--out", "run", "--set", "encoder.hidden=8", "encoder.latent=4"]
    assert main(["train", "log.tsv", "--episode", "name", *tiny]) == 0
    capsys.readouterr()
    (tmp_path / "other.tsv").write_bytes((tmp_path / "log.tsv").read_bytes())
    assert main(["progress", "run", "other.tsv", "--worst", "20"]) == 0  # read as the run's own log was
    said = capsys.readouterr().out
    assert "run-19" in said
    assert "held-out episodes speak against this model" in said
    assert "run-7" in (tmp_path / "progress-episodes.csv").read_text()
    assert "run-19" in (tmp_path / "run" / "report.html").read_text()
    written(tmp_path / "millis.tsv", "name\tstamp_ms\tx", "a\t0\t1", "a\t100\t2")
    assert main(["progress", "run", "millis.tsv", "--time", "stamp_ms", "--episode", "name"]) == 2
    assert "counts in s, but this recording in ms" in capsys.readouterr().err
    written(tmp_path / "other.tsv", "name\tstamp\ty", "a\t0\t1", "a\t1\t2")
    assert main(["progress", "run", "other.tsv"]) == 2
    assert "from the columns x, but this recording has y" in capsys.readouterr().err
    assert main(["progress", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["distance", "run", "--from", "1", "2", "--to", "1"]) == 2
    assert "has 1 numbers (x), but --from gives 2" in capsys.readouterr().err


def frame(**more: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"episode": [1] * 4 + [2] * 4, "x": X * 2, "y": X[::-1] * 2, **more})


def test_a_nameless_index_of_dates_is_the_clock() -> None:
    pandas = pytest.importorskip("pandas")
    dated = frame().set_index(pandas.date_range("2024-01-01", periods=8, freq="2s"))
    data = ma.Trajectories.from_dataframe(dated)
    assert data.time_unit == "s"
    assert data.columns == ("x", "y")
    assert data.durations.tolist() == [6.0, 6.0]
    assert ma.Trajectories.from_dataframe(frame()).times is None  # a nameless index of numbers counts rows


def test_durations_are_seconds() -> None:
    pandas = pytest.importorskip("pandas")
    since = pandas.to_timedelta([0, 10, 20, 40] * 2, "ms")
    data = ma.Trajectories.from_dataframe(frame(since=since), time="since")
    assert data.time_unit == "s"
    np.testing.assert_allclose(data.durations, 0.04)


def test_columns_in_a_dictionary_are_a_table() -> None:
    data = ma.fit({name: column.to_numpy() for name, column in frame().items()}, steps=1, progress=False)
    assert data.columns == ("x", "y")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: frame()["x"], "A Series is a single column"),
        (lambda: np.ma.masked_greater(np.ones((3, 4, 2)), 0.5), "8 values of episode 0 are masked"),
        (lambda: {"episode": [1, 1], "x": [1.0]}, "cannot hold the dictionary"),
    ],
)
def test_what_would_be_read_wrong_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ma.fit(given(), steps=1, progress=False)


def test_half_a_step_is_refused() -> None:
    with pytest.raises(InputError, match="whole numbers"):
        ma.fit(frame(), steps=2.5, progress=False)  # type: ignore[call-overload]


def test_questions_in_a_data_frame_go_by_its_names() -> None:
    asked = frame()
    model = ma.fit(asked, steps=1, progress=False)
    ordered, other = asked[["x", "y"]].to_numpy(), asked[["y", "episode", "x"]]
    expected = model.distance(ordered, ordered[::-1].copy())
    np.testing.assert_array_equal(model.distance(other, other[::-1]), expected)
    np.testing.assert_array_equal(model.pairwise(other, other), model.pairwise(ordered, ordered))
    np.testing.assert_array_equal(model.remaining(other, other[:1]), model.remaining(ordered, ordered[:1]))
    np.testing.assert_array_equal(model.progress(other).remaining, model.progress(ordered).remaining)
    np.testing.assert_array_equal(model.coverage(other), 0)
    with pytest.raises(InputError, match=r"^The data frame lacks 'y'"):
        model.distance(asked[["x"]], asked[["x"]])
