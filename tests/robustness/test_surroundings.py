"""Terminals, locales, caches, permissions, interrupts and forks that are not as one would like them."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import minaction as ma
from minaction._interrupts import none_is_lost
from minaction.cli import main
from minaction.tasks._cache import cache_path, cached

SMALL = ["--objective", "maddist", "--set"]
SMALL += ["encoder.hidden=8", "encoder.latent=4", "batch_size=8", "constraint_batch_size=8"]
FEW = ["--episodes", "3", "--steps", "2"]
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "minaction", *arguments]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment}, timeout=300)


def walk() -> ma.Trajectories:
    return ma.Trajectories.from_flat(np.arange(12.0).reshape(6, 2) % 5)


# ---------------------------------------------------------------- locales and names


def test_an_ascii_locale_trains_and_reports(tmp_path: Path) -> None:
    done = run("train", "cliffwalking", *FEW, "--out", str(tmp_path / "run"), *SMALL, **ASCII)
    assert done.returncode == 0, done.stderr
    assert "·" in (tmp_path / "run" / "report.html").read_text("utf-8")


def test_files_are_utf8_in_an_ascii_locale(tmp_path: Path) -> None:
    table = tmp_path / "log.csv"
    table.write_text("episode,höhe,x\n" + "".join(f"0,{k % 3},{k % 2}\n" for k in range(6)), "utf-8")
    grid = tmp_path / "grid.toml"
    grid.write_text('# größer\ntasks = ["cliffwalking"]\nsteps = 2\nseeds = 1\n[methods.maddist]\n', "utf-8")
    code = "import minaction as ma; from minaction.suite._own_grid import own_grid; from pathlib import Path as P; "
    code += f"print(ma.read({str(table)!r}).num_states, len(own_grid(P({str(grid)!r})).runs))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **ASCII})
    assert done.stdout.split() == ["6", "1"], done.stderr


@pytest.mark.parametrize("environment", [pytest.param({}, marks=pytest.mark.slow), ASCII])
def test_a_name_that_is_not_utf8(tmp_path: Path, environment: dict[str, str]) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.npz"
    with open(path, "wb") as file:
        np.savez(file, states=walk().states)
    shown = run("data", "info", path, **environment)
    assert shown.returncode == 0, shown.stderr
    refused = run("train", path, "--steps", "2", "--out", str(tmp_path / "run"), *SMALL, **environment)
    assert refused.returncode == 2
    assert b"not UTF-8" in refused.stderr
    assert b"Traceback" not in refused.stderr
    assert os.listdir(os.fsencode(tmp_path)) == [b"caf\xe9.npz"], "nothing is left behind"


# ---------------------------------------------------------------- caches and permissions


@pytest.mark.parametrize("obstacle", ["file", "folder", "loop"])
def test_a_cache_that_cannot_be_read_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    """None of these can be read by root either."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / name))
    if obstacle == "file":
        (tmp_path / "minaction").write_text("not a folder")
    elif obstacle == "folder":
        cache_path("walk", 0, None).mkdir(parents=True)
    else:
        (tmp_path / "minaction").symlink_to(tmp_path / "minaction")
    found = cached("walk", 0, None, walk, 1)
    assert np.array_equal(found.states, walk().states)


@pytest.mark.parametrize("command", [["--version"], ["tasks"]])
def test_output_that_has_no_room_ends_in_one_sentence(command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        found = subprocess.run([sys.executable, "-m", "minaction", *command], stdout=full, stderr=subprocess.PIPE)
    assert found.returncode == 2
    assert found.stderr.startswith(b"minaction: no space left")
    assert b"Traceback" not in found.stderr


@pytest.fixture
def as_nobody() -> Iterator[None]:
    """As somebody to whom permissions apply: root reads everything."""
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
    except OSError:
        pytest.skip("this root cannot become anybody else")
    try:
        yield
    finally:
        os.seteuid(0)


def test_without_permission_it_ends_in_one_sentence(
    tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    closed, log = tmp_path / "closed", tmp_path / "log.npz"
    closed.mkdir()
    np.savez(log, states=walk().states)
    (closed / "log.npz").write_bytes(log.read_bytes())
    train = ["train", "cliffwalking", *FEW, "--out"]
    assert main(["data", "info", str(log)]) == 0  # whatever is imported on the way is imported now
    assert main([*train, str(tmp_path / "run"), *SMALL]) == 0
    capsys.readouterr()
    closed.chmod(0)
    log.chmod(0)
    request.getfixturevalue("as_nobody")
    for command in (
        ["data", "info", str(log)],
        ["data", "info", str(closed / "log.npz")],
        ["data", "convert", str(log), str(closed / "log.safetensors")],
        [*train, str(closed / "run"), *SMALL],
        ["report", str(closed)],
    ):
        assert main(command) == 2, command
        said = capsys.readouterr().err
        assert said.startswith("minaction: "), command
        assert "Traceback" not in said


# ---------------------------------------------------------------- interrupts and forks


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_second_interrupt_is_as_quiet_as_the_first(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "minaction", "train", "cliffwalking", "--steps", "1000000"]
    command += ["--out", str(tmp_path / "run"), *SMALL]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        deadline = time.monotonic() + 120
        while not (tmp_path / "run" / "config.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        for _ in range(5):
            started.send_signal(signal.SIGINT)
            time.sleep(0.02)
        _, said = started.communicate(timeout=60)
    assert started.returncode == 130, said
    assert b"Traceback" not in said
    assert said.count(b"stopped") == 1


def test_an_interrupt_while_garbage_is_collected_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> None:
        gc.callbacks.remove(interrupted)
        raise KeyboardInterrupt

    def collect() -> None:
        gc.collect()
        time.sleep(10)

    gc.callbacks.append(interrupted)
    with pytest.raises(KeyboardInterrupt), none_is_lost():
        collect()
    assert capfd.readouterr().err == ""


FORKED = """
import os, sys, warnings
import numpy as np, minaction as ma
data = ma.Trajectories.from_flat(np.arange(12.0).reshape(6, 2) % 5)
model = ma.Trainer(ma.MadDist(encoder=ma.MLP(hidden=(8,), latent=4)), data, steps=1).models()[0]
warnings.simplefilter("ignore")
child = os.fork()
if child == 0:
    warnings.simplefilter("error")  # so that it ends where it is warned, before JAX hangs
    try:
        model.distance([0.0, 1.0], [1.0, 0.0])
    except UserWarning as warning:
        print(warning, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_model_used_after_a_fork_says_so() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert "forked" in done.stdout, done.stderr
    assert "minaction.runtimes.numpy" in done.stdout


# ---------------------------------------------------------------- JAX's cache of compiled programs

COMPILED = """
import jax, jax.numpy as jnp
print(float(jax.jit(lambda x: (jnp.sin(x) @ x.T).sum())(jnp.arange(12.0).reshape(3, 4))))
"""


def test_what_a_kill_left_of_a_compiled_program_is_compiled_again(tmp_path: Path) -> None:
    """Such a cache is a person's choice; this package sets none up. JAX keeps entries compressed, with a checksum."""
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path)}
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"

    def compiled() -> Any:
        done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    expected = compiled()
    entries = {path: path.read_bytes() for path in tmp_path.glob("*-cache")}
    assert entries
    for path, whole in entries.items():
        path.write_bytes(whole[: len(whole) // 2])
    assert compiled() == expected


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(
        "import multiprocessing, os\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from minaction._orphans import end_with_parent\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    with ProcessPoolExecutor(1, context, initializer=end_with_parent) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True)\n"
        "        input()\n"
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 20
    while psutil.pid_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(worker)
