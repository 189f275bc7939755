"""The real command in real processes: killed, failing, out of space, and as it should be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import minaction as ma
from minaction.cli import main
from minaction.commands._options import Suite
from minaction.commands._suite import suite
from minaction.errors import InputError
from minaction.suite import Local, SuiteFolder, Update, run_suite
from minaction.suite._grids import Method, trial

DIVERGING = """
[methods.wild]
objective = "maddist"
settings = { "encoder.hidden" = [16], "encoder.latent" = 8, batch_size = 16, learning_rate = 1e30 }
"""

# What a shell starts in the background ignores Ctrl-C, and so does everything that is started from there.
REACHABLE = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


def _rows(folder: Path) -> int:
    return sum(path.read_text().count("\n") for path in folder.glob("*/*/*/metrics.jsonl"))


def _finished(folder: Path) -> int:
    return len(list(folder.glob("*/*/*/results.json")))


def _killed_twice_and_undisturbed(
    suites: Any, tmp_path: Path, grid: object, *options: object, timeout: float = 300
) -> None:
    """SIGKILL while the first runs train, again once some are finished, and at last to the end."""
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    assert suites.run(grid, *options, "--out", undisturbed, timeout=timeout).returncode == 0
    for happened in (lambda: _rows(killed) > 2, lambda: _finished(killed) > 0):
        process = suites.start(grid, *options, "--out", killed)
        suites.wait_for(happened)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _finished(killed) < _finished(undisturbed)
    assert suites.run(grid, *options, "--out", killed, timeout=timeout).returncode == 0
    first, second = suites.contents(killed), suites.contents(undisturbed)
    assert first.keys() == second.keys()
    for name, content in second.items():
        assert first[name] == content, name


@pytest.mark.slow
def test_killed_twice_it_ends_as_if_nothing_had_happened(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    grid = write_grid(("cliffwalking", "keydoor-gridworld"), steps=1000)
    _killed_twice_and_undisturbed(suites, tmp_path, grid, "--jobs", 1)


@pytest.mark.slow
def test_the_papers_suite_killed_twice_ends_as_if_nothing_had_happened(suites: Any, tmp_path: Path) -> None:
    options = ("--only", "cliffwalking,keydoor-gridworld", "--seeds", 2, "--steps", 600)
    _killed_twice_and_undisturbed(suites, tmp_path, "paper", *options, timeout=3000)


def test_a_failed_run_stops_no_other_and_can_be_mended(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "suite"
    result = suites.run(write_grid(methods=DIVERGING), "--seeds", 1, "--out", folder, "--jobs", 1)
    assert result.returncode == 1, result.stderr
    assert "wild on cliffwalking, seed 0 failed: The loss became infinite" in result.stderr
    assert "1 of 2 runs" in result.stdout
    assert "failure.json" in result.stdout
    model, wild = folder / "cliffwalking/small/seed-0/seed-0.safetensors", folder / "cliffwalking/wild/seed-0"
    assert "lower the learning rate" in json.loads((wild / "failure.json").read_text())["error"]
    finished = model.stat().st_mtime_ns
    mended = write_grid(methods=DIVERGING.replace("1e30", "1e-4"))
    assert suites.run(mended, "--seeds", 1, "--out", folder).returncode == 0
    assert (wild / "results.json").exists()
    assert not (wild / "failure.json").exists()
    assert model.stat().st_mtime_ns == finished


def test_ctrl_c_leaves_a_folder_to_go_on_with(suites: Any, write_grid: Callable[..., Path], tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    command = suites.command(write_grid(steps=100_000), "--out", folder)
    process = subprocess.Popen(
        [sys.executable, "-c", REACHABLE, *command], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    suites.wait_for(lambda: _rows(folder) > 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of it
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "the same command continues" in said
    assert "Traceback" not in said
    assert list(folder.glob("cliffwalking/small/seed-0/checkpoint-*.safetensors"))


def test_a_limit_on_the_size_of_files_ends_in_one_sentence(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    limited = ["sh", "-c", 'ulimit -f 4 && exec "$@"', "sh"]  # blocks: less than a checkpoint
    command = suites.command(write_grid(), "--out", tmp_path / "suite")
    result = subprocess.run([*limited, *command], capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result.stderr
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("minaction: The disk is full")
    assert "Traceback" not in result.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for the checkpoints of a batch but not for all its files."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=44k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.slow  # `make crash` fills disks too
def test_a_full_disk_ends_in_one_sentence_and_nothing_is_lost(
    suites: Any, write_grid: Callable[..., Path], small_disk: Path, tmp_path: Path
) -> None:
    grid = write_grid()
    full = suites.run(grid, "--out", small_disk / "suite", "--jobs", 1)
    assert full.returncode == 2, full.stderr
    last = full.stderr.strip().splitlines()[-1]
    assert last.startswith("minaction: The disk is full")
    assert "Traceback" not in full.stderr
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    assert suites.run(grid, "--out", small_disk / "suite", "--jobs", 1).returncode == 0
    assert suites.run(grid, "--out", tmp_path / "roomy").returncode == 0
    assert suites.contents(small_disk / "suite") == suites.contents(tmp_path / "roomy")


def test_tasks_whose_extra_is_missing_are_skipped(suites: Any, write_grid: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without/mujoco.py").write_text("raise ImportError('not installed')")
    mazes = ("ogbench-pointmaze-medium-stitch", "cliffwalking")
    result = suites.run(
        write_grid(mazes, methods=DIVERGING.replace("1e30", "1e-4"), seeds=1, steps=20),
        *("--out", tmp_path / "suite", "--jobs", 1),
        env={**os.environ, "PYTHONPATH": str(tmp_path / "without")},
    )
    assert result.returncode == 0, result.stderr
    assert "minaction[mazes]" in result.stderr
    assert "2 of 4 runs" in result.stdout
    assert result.stderr.count("skipped:") == 1, "the task is not tried again with every method"


def test_a_dry_run_says_how_long_and_writes_nothing(
    write_grid: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Suite(str(write_grid(steps=300)), out=tmp_path / "suite", jobs=1)
    assert suite(replace(asked, dry_run=True)) == 0
    said = capsys.readouterr().out
    assert "a short trial" in said
    assert "0 of 2 runs are finished" in said
    assert not (tmp_path / "suite").exists()
    assert suite(asked) == 0
    assert suite(replace(asked, seeds=3, dry_run=True)) == 0
    said = capsys.readouterr().out
    assert "finished runs" in said
    assert "2 of 3 runs are finished" in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Suite("papr"), "'paper'"),
        (Suite("missing.toml"), "missing.toml"),
        (Suite("paper", only=("cliffwalking,madist",)), "'maddist'"),
        (Suite("ablations", only=("latent-dimensions",)), "'latent-dimension'"),
        (Suite("paper", seeds=0), "at least 1"),
        (Suite("paper", steps=0), "at least 1"),
        (Suite("paper", jobs=0), "at least 1"),
        (Suite("paper", replicas=0), "at least 1"),
        (Suite("paper", backend="ray", replicas=2), "--replicas is for"),
        (Suite("paper", backend="ray", jobs=2), "--jobs is for"),
        (Suite("paper", address="localhost:1"), "--address is for"),
        (Suite("paper", out=Path("other")), "another format"),
        (Suite("paper", out=Path("letters")), "not a suite"),
    ],
)
def test_bad_words_end_in_one_sentence(
    asked: Suite, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name, content in (
        ("other", "suite.json", '{"format": 0, "name": "x", "version": "0"}'),
        ("letters", "letter.txt", "Dear Anna"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as error:
        suite(asked)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_it_runs_from_python_without_a_display(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    small = Method("small", "maddist", {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8})
    configs = [trial("cliffwalking", small, seed, 20, episodes=3) for seed in (0, 1)]
    told: list[Update] = []
    folder = SuiteFolder(tmp_path / "suite")
    tally = run_suite(folder, "mine", configs, Local(1), lambda tally, config, update: told.append(update))
    assert str(tally) == "2 of 2 runs done, 0 running, 0 failed"
    assert [update.kind for update in told if update.is_end] == ["finished", "finished"]
    assert {update.run for update in told} == {folder.run_path(config) for config in configs}
    assert capfd.readouterr() == ("", "")
    assert str(run_suite(folder, "mine", configs, Local(1))) == str(tally), "nothing is left to do"


def test_a_run_of_a_suite_is_an_ordinary_run(
    write_grid: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, page = tmp_path / "suite", tmp_path / "report.html"
    assert suite(Suite(str(write_grid(steps=20)), out=folder, jobs=1)) == 0
    run = folder / "cliffwalking" / "small" / "seed-1"
    capsys.readouterr()
    assert main(["evaluate", str(run)]) == 0
    assert "By true distance" in capsys.readouterr().out
    assert main(["distance", str(run), "--from", "0", "1", "--to", "1", "0.667"]) == 0
    said = capsys.readouterr().out
    assert f"{float(ma.load(run).distance([0, 1], [1, 0.667])):.2f} actions" in said
    assert main(["report", str(run), "-o", str(page)]) == 0
    assert page.stat().st_size > 1000
    assert main(["report", str(folder), "-o", str(page)]) == 0


@pytest.mark.slow
def test_a_run_of_a_suite_can_be_planned_with(tmp_path: Path) -> None:
    small = Method("small", "maddist", {"encoder.hidden": [8], "encoder.latent": 4, "batch_size": 8})
    config = trial("ogbench-pointmaze-medium-stitch", small, 0, 20, episodes=3)
    folder = SuiteFolder(tmp_path / "suite")
    assert run_suite(folder, "mine", [config], Local(1)).done == 1
    run = folder.run_path(config)
    assert main(["plan", str(run), "--tasks", "1", "--episodes", "1", "--candidates", "10"]) == 0
    assert {path.name for path in run.glob("planning-*")} == {"planning-learned.json", "planning-learned.png"}
    assert SuiteFolder(folder.path).left([config]) == []
