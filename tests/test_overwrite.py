"""`minaction train` and what is already there: nothing of a person's own is removed, and nothing is lost to a kill."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from minaction._locks import locked
from minaction.cli import main
from minaction.commands import _train
from minaction.training import Run
from minaction.training import _run as run_files

SETTINGS = ["encoder.hidden=16", "encoder.latent=8", "batch_size=16", "constraint_batch_size=16"]
SMALL = ["--objective", "maddist", "--set", *SETTINGS]


def train(out: Path | str, steps: int = 2, *more: str, data: str = "cliffwalking") -> int:
    return main(["train", data, "--episodes", "3", "--steps", str(steps), "--out", str(out), *more, *SMALL])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def _finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert train(folder) == 0
    return contents(folder)


@pytest.fixture
def run(_finished: dict[str, bytes], tmp_path: Path) -> Path:
    """A finished run of two steps."""
    folder = tmp_path / "run"
    folder.mkdir()
    for name, content in _finished.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """What was said to a bad input, in the last line."""

    def sentence() -> str:
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert line.startswith("minaction: ")
        return line

    return sentence


def test_a_run_is_replaced_when_the_new_one_is_whole(run: Path) -> None:
    inode = run.stat().st_ino
    assert train(run, 3, "--overwrite") == 0
    assert Run.open(run).config.steps == 3
    assert run.stat().st_ino != inode
    assert [path.name for path in run.parent.iterdir()] == ["run"], "nothing is left beside it"


def test_other_settings_do_not_replace_a_run_unasked(run: Path, said: Any) -> None:
    before = contents(run)
    assert train(run, 3) == 2
    assert "--overwrite" in said()
    assert contents(run) == before


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
@pytest.mark.parametrize("files", [{"config.json": "{}"}, {"thesis.tex": "precious"}, {"report.html": "my own report"}])
def test_a_folder_of_somebodys_own_is_left_alone(
    files: dict[str, str], more: list[str], tmp_path: Path, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name, content in files.items():
        (mine / name).write_text(content)
    monkeypatch.chdir(mine)
    for out in (mine, "."):
        assert train(out, 2, *more) == 2
        assert "not a run of minaction" in said()
    assert {path.name: path.read_text() for path in mine.iterdir()} == files


def test_a_foreign_file_in_a_run_stops_it(run: Path, said: Any) -> None:
    (run / "notes.txt").write_text("precious")
    before = contents(run)
    assert train(run, 3, "--overwrite") == 2
    assert "notes.txt" in said()
    assert contents(run) == before


def test_a_foreign_file_that_comes_while_it_trains_stays_in_sight(
    run: Path, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trains = _train._train

    def meanwhile(*arguments: Any) -> None:
        trains(*arguments)
        (run / "notes.txt").write_text("precious")

    monkeypatch.setattr(_train, "_train", meanwhile)
    assert train(run, 3, "--overwrite") == 2
    assert "notes.txt" in said()
    assert Run.open(run).config.steps == 2
    monkeypatch.undo()
    (run / "notes.txt").unlink()
    assert train(run, 3, "--overwrite") == 0, "what was trained is put in its place"
    assert Run.open(run).config.steps == 3


@pytest.mark.parametrize("bad", [{"data": "missing.npz"}, {"more": ["--devices", "999"]}])
def test_a_mistake_costs_nothing(bad: dict[str, Any], run: Path, said: Any) -> None:
    before = contents(run.parent)
    assert train(run, 3, "--overwrite", *bad.get("more", []), data=bad.get("data", "cliffwalking")) == 2
    said()
    assert contents(run.parent) == before


def test_a_failed_start_removes_only_what_it_made(tmp_path: Path, said: Any) -> None:
    (tmp_path / "empty").mkdir()
    for out in ("empty", "absent"):
        assert train(tmp_path / out, 2, "--devices", "999") == 2
        said()
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_run_that_diverges_at_once_leaves_nothing(tmp_path: Path, said: Any) -> None:
    assert train(tmp_path / "run", 100, "--set", "learning_rate=1e30", "clip_norm=none") == 2
    assert "became infinite or NaN" in said()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_a_kill_in_the_middle_of_the_swap_is_recovered_from(
    renames: int, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, done = Path.rename, list[Path]()

    def dies(self: Path, target: Path) -> Path:
        if len(done) == renames:
            raise KeyboardInterrupt
        done.append(target)
        return rename(self, target)

    def dies_later(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", dies)
    monkeypatch.setattr(_train, "empty_run", dies_later)
    assert train(run, 3, "--overwrite") == 130
    monkeypatch.undo()
    again = ["--overwrite"] if renames == 0 else []  # before the first rename the old run is still the one there
    assert train(run, 3, *again) == 0
    assert Run.open(run).config.steps == 3
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def test_an_interrupted_replacement_with_other_settings_is_begun_anew(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(run)
    monkeypatch.setattr(_train, "_swap", lambda new, path: (_ for _ in ()).throw(KeyboardInterrupt))
    assert train(run, 3, "--overwrite") == 130
    assert contents(run) == before, "the old run is there until the new one has its place"
    monkeypatch.undo()
    assert train(run, 4, "--overwrite") == 0
    assert Run.open(run).config.steps == 4
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def test_a_report_that_a_kill_cost_is_written_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "report.html").unlink()
    (run / "checkpoint-2.safetensors").write_bytes(b"")  # killed between the results and its removal
    (run / ".report.html.x.tmp").write_text("<ht")
    assert train(run) == 0
    assert "finished already" in capsys.readouterr().out
    assert (run / "report.html").stat().st_size > 1000
    assert not (run / "checkpoint-2.safetensors").exists()
    assert not (run / ".report.html.x.tmp").exists()


def test_a_link_leads_to_the_run(run: Path) -> None:
    link = run.parent / "link"
    link.symlink_to(run)
    assert train(link, 3, "--overwrite") == 0
    assert link.is_symlink()
    assert Run.open(run).config.steps == 3


def test_a_link_among_a_runs_files_is_not_written_through(run: Path, said: Any) -> None:
    precious = run.parent / "precious.txt"
    precious.write_text("precious")
    (run / "results.json").unlink()
    (run / "metrics.jsonl").unlink()
    (run / "metrics.jsonl").symlink_to(precious)
    assert train(run) == 2
    assert "is a link" in said()
    assert precious.read_text() == "precious"


HOLD = """
import sys
from pathlib import Path
from minaction._locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_second_process_is_refused_and_told_who_holds_the_run(more: list[str], run: Path, said: Any) -> None:
    run_files.empty_run(run)
    assert Run.create(run, _config(run)).finished is False
    before = contents(run)
    command = [sys.executable, "-c", HOLD, str(run)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert train(run, 2, *more) == 2
        sentence = said()
        holder.communicate()
    assert "is working in" in sentence
    if Path("/proc/locks").exists():
        assert f"(process {holder.pid})" in sentence
    assert contents(run.parent) == {f"run/{name}": content for name, content in before.items()}
    with locked(run):
        pass


def _config(run: Path) -> Any:
    """That of the run that `train` asks for."""
    from minaction.commands._options import Train

    settings = (tuple(SETTINGS),)
    return _train._config(Train("cliffwalking", "maddist", steps=2, episodes=3, out=run, set=settings))
