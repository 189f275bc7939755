"""Which episodes succeeded: said by a log, kept with its episodes, and used as goals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import minaction as ma
from minaction.cli import main
from minaction.trajectories.readers import _parquet

LENGTHS = (4, 5, 6)
EPISODES = [np.stack([np.arange(n), np.full(n, k)], axis=1).astype(float) for k, n in enumerate(LENGTHS)]
DATA = ma.Trajectories.from_episodes(EPISODES, succeeded=[True, False, True])


def columns(**changed: list) -> dict[str, list]:
    """A log whose second episode failed; the last row of the others says that they succeeded."""
    run = np.repeat(["a", "b", "c"], LENGTHS).tolist()
    ends = np.cumsum(LENGTHS) - 1
    success = [int(k in (ends[0], ends[2])) for k in range(len(run))]
    states = np.concatenate(EPISODES)
    return {"episode": run, "x": states[:, 0].tolist(), "y": states[:, 1].tolist(), "success": success, **changed}


def written(path: Path, table: dict[str, list]) -> Path:
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def outcomes(data: ma.Trajectories) -> list[bool] | None:
    return None if data.succeeded is None else data.succeeded.tolist()


def test_it_goes_where_its_episodes_go(tmp_path):
    assert [episode.succeeded for episode in DATA] == [True, False, True]
    assert outcomes(DATA[1:]) == [False, True]
    assert outcomes(DATA[[2, 1]]) == [True, False]
    assert outcomes(DATA + DATA[:1]) == [True, False, True, True]
    assert outcomes(DATA + ma.Trajectories.from_episodes(EPISODES)) is None
    assert DATA.filter(lambda episode: bool(episode.succeeded)).lengths.tolist() == [4, 6]
    one, other = DATA.split(0.5)
    assert sorted([*(outcomes(one) or ()), *(outcomes(other) or ())]) == [False, True, True]
    DATA.save(tmp_path / "log.safetensors")
    for mapped in (False, True):
        assert outcomes(ma.read(tmp_path / "log.safetensors", memory_map=mapped)) == [True, False, True]
    assert DATA.describe()["succeeded"] == "2 of 3 episodes"
    assert DATA.fingerprint == ma.Trajectories.from_episodes(EPISODES).fingerprint


@pytest.mark.parametrize("given", [[True], [0.5, 1, 0], [1, 0, 1], "yes"])
def test_anything_but_one_truth_per_episode_is_refused(given):
    with pytest.raises(ma.InputError, match="true or false for each of the 3"):
        ma.Trajectories.from_episodes(EPISODES, succeeded=given)


def test_the_callers_array_stays_writeable():
    mine = np.array([True, False, True])
    data = ma.Trajectories.from_episodes(EPISODES, succeeded=mine)
    mine[0] = False
    assert outcomes(data) == [True, False, True]


@pytest.mark.parametrize("said", [[1, 0], ["True", "False"], ["true", ""], ["1.0", "nan"]])
def test_a_column_of_a_log_says_so(tmp_path, said):
    table = columns()
    table["success"] = [said[0] if one else said[1] for one in table["success"]]
    assert outcomes(ma.read(written(tmp_path / "log.csv", table))) == [True, False, True]
    named = {name.replace("success", "outcome"): values for name, values in table.items()}
    data = ma.read(written(tmp_path / "named.csv", named), success="outcome")
    assert outcomes(data) == [True, False, True]
    assert data.columns == ("x", "y")


def test_data_frames_and_files_in_parts_say_the_same(tmp_path, monkeypatch):
    table = pa.table(columns())
    assert outcomes(ma.Trajectories.from_dataframe(table)) == [True, False, True]
    assert outcomes(ma.Trajectories.from_dataframe(table, drop=["success"])) is None
    assert outcomes(ma.Trajectories.from_dataframe(table, states=["x", "success"])) is None
    monkeypatch.setattr(_parquet, "_ROWS_AT_ONCE", 4)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parquet.write_table(table, tmp_path / "log.parquet")
    for mapped in (False, True):
        assert outcomes(ma.read(tmp_path / "log.parquet", memory_map=mapped)) == [True, False, True]


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_lerobot_says_so(tmp_path, version):
    folder = Path(shutil.copytree(Path(__file__).parent / "lerobot" / version, tmp_path / "arm"))
    info = json.loads((folder / "meta" / "info.json").read_text())
    info["features"]["next.success"] = {"dtype": "bool", "shape": [1], "names": None}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    for path in (folder / "data").rglob("*.parquet"):
        table = parquet.read_table(path)
        frames = zip(table["episode_index"].to_pylist(), table["frame_index"].to_pylist(), strict=True)
        last = [frame in {(0, 4), (2, 6)} for frame in frames]
        parquet.write_table(table.append_column("next.success", [last]), path)
    assert outcomes(ma.read(folder)) == [True, False, True]
    assert outcomes(ma.read(Path(__file__).parent / "lerobot" / version)) is None


def test_what_is_neither_true_nor_false_is_refused_if_named(tmp_path):
    log = written(tmp_path / "log.csv", columns(success=["good"] * 15))
    assert outcomes(ma.read(log)) is None
    with pytest.raises(ma.InputError, match=r"'success' says 'good' at line 2; .* \(--success\)"):
        ma.read(log, success="success")
    with pytest.raises(ma.InputError, match="'x' says '2' at line 4"):
        ma.read(log, success="x")
    with pytest.raises(ma.InputError, match="no column named 'succes': did you mean 'success'"):
        ma.read(log, success="succes")


def test_of_a_split_episode_the_last_piece_succeeded(tmp_path):
    table = columns(success=[1] * 4 + [0] * 5 + [1] * 6)
    table["x"][1] = table["x"][6] = ""
    data = ma.read(written(tmp_path / "log.csv", table), missing="split")
    assert data.lengths.tolist() == [1, 2, 2, 2, 6]
    assert outcomes(data) == [False, True, False, False, True]


def test_rows_that_take_turns_are_put_together_first(tmp_path):
    turns = {"episode": list("abab"), "time": [0, 0, 1, 1], "x": [0.0, 5.0, 1.0, 6.0], "success": [0, 0, 0, 1]}
    with pytest.warns(UserWarning, match="take turns"):
        assert outcomes(ma.read(written(tmp_path / "log.csv", turns))) == [False, True]
    turns["success"][2] = "well"
    with pytest.raises(ma.InputError, match="'well' at line 4"):
        ma.read(written(tmp_path / "log.csv", turns), success="success")


def test_ends_of_successful_episodes_are_the_goals(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(Path("log.csv"), columns())
    small = ["--objective", "maddist", "--steps", "2", "--evaluations", "1", "--set", "encoder.hidden=8"]
    assert main(["train", "log.csv", *small, "--out", "run"]) == 0
    model = ma.load("run")
    ends = [EPISODES[0][-1], EPISODES[2][-1]]
    np.testing.assert_array_equal(model.usual_ends(DATA), ends)
    np.testing.assert_array_equal(model.remaining(EPISODES[1], DATA), model.remaining(EPISODES[1], ends))
    capsys.readouterr()
    assert main(["progress", "run"]) == 0
    assert "goals    where 2 episodes end that succeeded, as the log says" in capsys.readouterr().out
    written(Path("failed.csv"), columns(success=[0] * 15))
    assert main(["progress", "run", "failed.csv"]) == 0
    assert "though none succeeded as the log says; give another with --goal" in capsys.readouterr().out
    assert main(["progress", "run", "failed.csv", "--goal", "1", "1"]) == 0
    assert "goals" not in capsys.readouterr().out
