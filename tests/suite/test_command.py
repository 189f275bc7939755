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

from minaction.cli import Suite
from minaction.commands._suite import suite
from minaction.errors import InputError

DIVERGING = """
[methods.wild]
objective = "maddist"
settings = { stages = [16, 8], batch_size = 16, constraint_batch_size = 16, learning_rate = 1e30 }
"""

# What a shell starts in the background ignores Ctrl-C, and so does everything that is started from there.
REACHABLE = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


def _rows(store: Path) -> int:
    return sum(path.read_text().count("\n") for path in store.glob("work/*/metrics.jsonl"))


def _cells(store: Path) -> int:
    return len(list(store.glob("cells/*/*/*")))


def _killed_twice_and_undisturbed(
    suites: Any, tmp_path: Path, grid: object, *options: object, timeout: float = 300
) -> None:
    """SIGKILL while the first groups train, again once there are cells, and at last to the end."""
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    assert suites.run(grid, *options, "--out", undisturbed, timeout=timeout).returncode == 0
    for happened in (lambda: _rows(killed) > 2, lambda: _cells(killed) > 0):
        process = suites.start(grid, *options, "--out", killed)
        suites.wait_for(happened)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert _cells(killed) < _cells(undisturbed)
    assert suites.run(grid, *options, "--out", killed, timeout=timeout).returncode == 0
    first, second = suites.contents(killed), suites.contents(undisturbed)
    assert first.keys() == second.keys()
    for name, content in second.items():
        assert first[name] == content, name


def test_killed_twice_it_ends_as_if_nothing_had_happened(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    grid = write_grid(("cliffwalking", "keydoor-gridworld"), steps=1000)
    _killed_twice_and_undisturbed(suites, tmp_path, grid, "--jobs", 1)


@pytest.mark.slow
def test_the_papers_suite_killed_twice_ends_as_if_nothing_had_happened(suites: Any, tmp_path: Path) -> None:
    options = ("--only", "cliffwalking,keydoor-gridworld", "--seeds", 2, "--steps", 600)
    _killed_twice_and_undisturbed(suites, tmp_path, "paper", *options, timeout=3000)


def test_a_failed_cell_stops_no_other_and_can_be_mended(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    result = suites.run(write_grid(methods=DIVERGING), "--seeds", 1, "--out", store, "--jobs", 1)
    assert result.returncode == 1, result.stderr
    assert "cliffwalking--wild failed: The loss became infinite" in result.stderr
    assert "1 of 2 cells" in result.stdout
    assert (store / "cells/cliffwalking/small/seed-0/results.json").exists()
    assert "Traceback" in json.loads((store / "failures/cliffwalking--wild.json").read_text())["traceback"]
    finished = (store / "cells/cliffwalking/small/seed-0/model.safetensors").stat().st_mtime_ns
    mended = write_grid(methods=DIVERGING.replace("1e30", "1e-4"))
    assert suites.run(mended, "--seeds", 1, "--out", store).returncode == 0
    assert (store / "cells/cliffwalking/wild/seed-0/results.json").exists()
    assert list((store / "failures").iterdir()) == []
    assert (store / "cells/cliffwalking/small/seed-0/model.safetensors").stat().st_mtime_ns == finished


def test_ctrl_c_leaves_a_store_to_go_on_with(suites: Any, write_grid: Callable[..., Path], tmp_path: Path) -> None:
    store = tmp_path / "store"
    command = suites.command(write_grid(steps=100_000), "--out", store)
    process = subprocess.Popen(
        [sys.executable, "-c", REACHABLE, *command], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    suites.wait_for(lambda: _rows(store) > 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of it
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert (store / "work/cliffwalking--small/checkpoint.safetensors").exists()


def test_a_limit_on_the_size_of_files_ends_in_one_sentence(
    suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    limited = ["sh", "-c", 'ulimit -f 4 && exec "$@"', "sh"]  # blocks: less than a checkpoint
    command = suites.command(write_grid(), "--out", tmp_path / "store")
    result = subprocess.run([*limited, *command], capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result.stderr
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("minaction: The disk is full")
    assert "Traceback" not in result.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for a training but not for all its cells."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=52k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_in_one_sentence_and_nothing_is_lost(
    suites: Any, write_grid: Callable[..., Path], small_disk: Path, tmp_path: Path
) -> None:
    grid = write_grid()
    full = suites.run(grid, "--out", small_disk / "store", "--jobs", 1)
    assert full.returncode == 2, full.stderr
    last = full.stderr.strip().splitlines()[-1]
    assert last.startswith("minaction: The disk is full")
    assert "Traceback" not in full.stderr
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    assert suites.run(grid, "--out", small_disk / "store", "--jobs", 1).returncode == 0
    assert suites.run(grid, "--out", tmp_path / "roomy").returncode == 0
    assert suites.contents(small_disk / "store") == suites.contents(tmp_path / "roomy")


def test_tasks_whose_extra_is_missing_are_skipped(suites: Any, write_grid: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without/mujoco.py").write_text("raise ImportError('not installed')")
    mazes = ("ogbench-pointmaze-medium-stitch", "cliffwalking")
    result = suites.run(
        write_grid(mazes, methods=DIVERGING.replace("1e30", "1e-4"), seeds=1, steps=20),
        *("--out", tmp_path / "store", "--jobs", 1),
        env={**os.environ, "PYTHONPATH": str(tmp_path / "without")},
    )
    assert result.returncode == 0, result.stderr
    assert "minaction[mazes]" in result.stderr
    assert "2 of 4 cells" in result.stdout
    assert result.stderr.count("skipped:") == 1, "the task is not tried again with every method"


def test_a_dry_run_says_how_long_and_writes_nothing(
    write_grid: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Suite(str(write_grid(steps=300)), out=tmp_path / "store", jobs=1)
    assert suite(replace(asked, dry_run=True)) == 0
    said = capsys.readouterr().out
    assert "a short trial" in said
    assert "0 of 2 cells are finished" in said
    assert not (tmp_path / "store").exists()
    assert suite(asked) == 0
    assert suite(replace(asked, seeds=3, dry_run=True)) == 0
    said = capsys.readouterr().out
    assert "finished cells" in said
    assert "2 of 3 cells are finished" in said


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
        (Suite("paper", lanes=0), "at least 1"),
        (Suite("paper", backend="ray", lanes=2), "--lanes is for"),
        (Suite("paper", backend="ray", jobs=2), "--jobs is for"),
        (Suite("paper", address="localhost:1"), "--address is for"),
        (Suite("paper", out=Path("other")), "another format"),
        (Suite("paper", out=Path("letters")), "not a store"),
    ],
)
def test_bad_words_end_in_one_sentence(
    asked: Suite, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, name, content in (("other", "suite.json", '{"format": 0}'), ("letters", "letter.txt", "Dear Anna")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(content)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as error:
        suite(asked)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert sorted(tmp_path.rglob("*")) == before
