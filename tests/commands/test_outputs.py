"""What commands write, and what they must not write over; and files given in the place of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minaction as ma
from minaction.cli import main

TINY = ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=8))
SMALL = ["--objective", "maddist", "--steps", "2", "--evaluations", "1", "--set", "encoder.hidden=8"]


def write_log(path: Path) -> None:
    """A log in seconds, of walks in x and y."""
    random = np.random.default_rng(0)
    rows = [
        f"{k},{0.1 * t:.1f},{x:.3f},{y:.3f}"
        for k in range(5)
        for t, (x, y) in enumerate(np.cumsum(random.normal(size=(12, 2)), axis=0))
    ]
    path.write_text("\n".join(["episode,time,x,y", *rows]))


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_log(folder / "log.csv")
    ma.fit(ma.read(folder / "log.csv"), TINY, steps=1, progress=False).save(folder / "model.safetensors")
    return folder / "model.safetensors"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_log(tmp_path / "log.csv")
    return tmp_path


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], here: Path) -> Any:
    """The sentence that refuses a command, which leaves every file as it was."""

    def sentence(*words: object) -> str:
        before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
        capsys.readouterr()
        assert main([str(word) for word in words]) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before
        return line

    return sentence


# ---------------------------------------------------------------- tables of `progress`


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mine.csv", ["--out", "mine.csv"]),
        ("progress.csv", []),
        ("x-episodes.csv", ["--out", "x.csv"]),
        ("mine.csv", ["--out", "link.csv"]),
    ],
)
def test_progress_never_replaces_its_recording(
    name: str, options: list[str], model_file: Path, here: Path, refused: Any
) -> None:
    (here / "log.csv").rename(here / name)
    (here / "link.csv").symlink_to("mine.csv")
    assert "would take the place of the recording" in refused("progress", model_file, name, *options)


def test_the_recording_that_a_run_remembers_is_not_replaced_either(here: Path, refused: Any) -> None:
    (here / "log.csv").rename(here / "progress.csv")
    assert main(["train", "progress.csv", "--out", "run", *SMALL]) == 0
    assert "would take the place of the recording" in refused("progress", "run")


@pytest.mark.parametrize("name", ["out.csv", "out-episodes.csv", "out.parquet", "out-episodes.parquet"])
def test_progress_replaces_its_own_tables_alone(name: str, model_file: Path, here: Path, refused: Any) -> None:
    out = f"out{Path(name).suffix}"
    command = ["progress", str(model_file), "log.csv", "--out", out]
    (here / name).write_bytes(b"")  # nothing is lost with it
    assert main(command) == 0
    assert main(command) == 0
    (here / name).write_text("my,own\n1,2\n")
    assert f"{name} is there and is not a table that `minaction progress` wrote" in refused(*command)


def test_figures_do_not_go_among_recorded_pictures(here: Path, model_file: Path, refused: Any) -> None:
    (here / "frames").mkdir()
    assert "is the recording itself" in refused("progress", model_file, "frames", "--figures", "frames")


# ---------------------------------------------------------------- cards


def test_a_card_replaces_cards_alone(here: Path, model_file: Path, refused: Any) -> None:
    assert "ends in .md" in refused("card", model_file, "-o", "log.csv")
    (here / "NOTES.md").write_text("# Notes\n")
    assert "is not a card that minaction wrote" in refused("card", model_file, "-o", "NOTES.md")
    for _ in range(2):
        assert main(["card", str(model_file), "-o", "CARD.md"]) == 0
        assert main(["card", str(model_file), "--folder", "hub", "--licence", "mit"]) == 0
    (here / "hub" / "README.md").write_text("---\nlicense: mit\n---\n# My project\n")
    assert "README.md is not a card" in refused("card", model_file, "--folder", "hub")
    (here / "hub" / "README.md").unlink()
    (here / "hub" / "model.safetensors").write_bytes(b"weights of another library")
    assert "is not a model of minaction" in refused("card", model_file, "--folder", "hub")


# ---------------------------------------------------------------- one kind of file in the place of another


def test_an_agent_is_not_trained_with_the_distance_of_other_data(model_file: Path, here: Path, refused: Any) -> None:
    said = refused("agent", "train", "cliffwalking", "--model", model_file, "--out", "agents")
    assert "model.safetensors does not fit cliffwalking: the model counts in s, but this recording in steps" in said
    assert not (here / "agents").exists()


@pytest.mark.parametrize("command", [["distance", "--from", 0, 0, "--to", 1, 1], ["card"], ["evaluate"], ["progress"]])
def test_a_recording_in_the_place_of_a_model_is_called_one(command: list[Any], here: Path, refused: Any) -> None:
    ma.read(here / "log.csv").save(here / "log.safetensors")
    for name in ("log.csv", "log.safetensors"):
        assert f"{name} is a recording; give the folder of a run" in refused(command[0], name, *command[1:])


@pytest.mark.parametrize("command", [["data", "info"], ["train"], ["agent", "train"], ["progress", "MODEL"]])
def test_a_model_in_the_place_of_a_recording_is_called_one(
    command: list[str], model_file: Path, here: Path, refused: Any
) -> None:
    words = [str(model_file) if word == "MODEL" else word for word in command]
    assert "model.safetensors holds a model, which is not a recording" in refused(*words, model_file)


@pytest.mark.parametrize("relative", [True, False])
def test_a_recording_that_is_elsewhere_is_asked_for(
    relative: bool, here: Path, refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Path("log.csv") if relative else here / "log.csv"
    assert main(["train", str(log), "--out", "run", *SMALL]) == 0
    log.rename(here / "moved.csv")
    (here / "other").mkdir()
    monkeypatch.chdir(here / "other")
    said = refused("progress", "../run")
    assert f"There is no file '{log}', from which ../run learned" in said
    assert ("as seen from the folder in which it was trained" in said) == relative
    assert "or give the recording after the run" in said
    assert "recording after" not in refused("evaluate", "../run")
    assert main(["progress", "../run", "../moved.csv"]) == 0


# ---------------------------------------------------------------- states and numbers


def test_numbers_that_no_state_has_are_named_with_their_option(model_file: Path, refused: Any) -> None:
    def asked(start: str, goal: str) -> str:
        return refused("distance", model_file, "--from", *start.split(), "--to", *goal.split())

    assert "--from gives nan, but a state has finite numbers" in asked("nan 0", "1 1")
    assert "--to gives -inf, but a state has finite numbers" in asked("0 0", "-inf 1")
    assert "--from gives 1e40, but models compute with numbers up to 3.4e+38" in asked("1e40 0", "1 1")
    assert "separated by blanks" in asked("0,0", "1 1")
    assert "separated by blanks" not in asked("here 0", "1 1")
    assert "--goal gives nan" in refused("progress", model_file, "log.csv", "--goal", "nan", "0")


def test_what_progress_cannot_do_with_its_numbers_is_refused(model_file: Path, refused: Any) -> None:
    for count in (0, -1):
        assert "--worst must be at least 1" in refused("progress", model_file, "log.csv", "--worst", count)


def test_a_unit_without_a_clock_is_refused(here: Path, refused: Any) -> None:
    lines = (here / "log.csv").read_text().splitlines()
    columns = [[line.split(",")[k] for k in (0, 2, 3)] for line in lines]
    (here / "still.csv").write_text("\n".join(map(",".join, columns)))
    for command in (["train"], ["data", "info"]):
        said = refused(*command, "still.csv", "--unit", "parsec")
        assert "still.csv has no clock for --unit parsec" in said
    assert main(["data", "info", "log.csv", "--unit", "ms"]) == 0
