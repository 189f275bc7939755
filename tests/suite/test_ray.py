"""Real clusters on this machine: one of two nodes, one of which is lost while the suite runs; and a suite's own."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

# Not imported yet: Ray reads its environment once, when it is.
pytestmark = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray")

TOKEN = "c0ffee" * 10


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """One that answers nobody without a token."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    yield cluster
    cluster.shutdown()


def _training(node: Any) -> list[psutil.Process]:
    """The processes of a node that train a batch just now."""
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    return [child for child in raylet.children(recursive=True) if child.name().startswith("ray::_train")]


def _numbers(content: Any) -> list[float]:
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", str(content))]


@pytest.mark.slow
def test_a_suite_survives_the_loss_of_a_node(
    cluster: Any, suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    lost = cluster.add_node(num_cpus=1)
    grid = write_grid(("cliffwalking", "keydoor-gridworld"), seeds=1, steps=1500)
    command = suites.start(grid, "--backend", "ray", "--address", cluster.address, "--out", tmp_path / "ray")
    suites.wait_for(lambda: _training(lost))
    raylet = psutil.Process(lost.all_processes["raylet"][0].process.pid)
    for process in [raylet, *raylet.children(recursive=True)]:
        process.kill()
    assert command.wait(timeout=240) == 0
    assert suites.run(grid, "--out", tmp_path / "local").returncode == 0
    found, expected = suites.contents(tmp_path / "ray"), suites.contents(tmp_path / "local")
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        if name.endswith(".safetensors"):
            assert found[name] == content, name
        else:  # Ray has NumPy use one thread, which may change the last digit of a correlation
            assert _numbers(found[name]) == pytest.approx(_numbers(content), rel=1e-9), name


@pytest.mark.parametrize("token", [None, pytest.param(TOKEN.upper(), marks=pytest.mark.slow)])
def test_a_cluster_with_a_token_refuses_who_has_none(
    token: str | None, cluster: Any, suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    asked = (write_grid(), "--backend", "ray", "--address", cluster.address, "--out", tmp_path / "suite")
    environment = {**os.environ, "RAY_AUTH_TOKEN": token} if token else {**os.environ, "HOME": str(tmp_path)}
    if token is None:
        del environment["RAY_AUTH_TOKEN"]
    refused = suites.run(*asked, env=environment)
    assert refused.returncode == 2, refused.stderr
    assert ("not with this token" if token else "there is none here") in refused.stderr
    assert "Traceback" not in refused.stderr


def test_no_cluster_where_one_was_said_to_be(suites: Any, write_grid: Callable[..., Path], tmp_path: Path) -> None:
    refused = suites.run(write_grid(), "--backend", "ray", "--address", "127.0.0.1:1", "--out", tmp_path / "suite")
    assert refused.returncode == 2
    assert "no Ray cluster at 127.0.0.1:1" in refused.stderr


@pytest.mark.parametrize(
    "end", [signal.SIGINT, *(pytest.param(end, marks=pytest.mark.slow) for end in (None, signal.SIGKILL))]
)
def test_a_suites_own_cluster_listens_on_this_machine_alone_and_ends_with_it(
    end: signal.Signals | None, suites: Any, write_grid: Callable[..., Path], tmp_path: Path
) -> None:
    command = suites.command(write_grid(seeds=1), "--backend", "ray", "--out", tmp_path / "suite")
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as started:
        own = psutil.Process(started.pid)
        raylet = suites.wait_for(lambda: [one for one in own.children(recursive=True) if one.name() == "raylet"])[0]
        suites.wait_for(lambda: [one for one in raylet.children() if one.name().startswith("ray::_")])
        family = [own, *own.children(recursive=True)]
        listening = {
            connection.laddr.ip.removeprefix("::ffff:")
            for one in family
            for connection in one.net_connections()
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening == {"127.0.0.1"}
        assert raylet.environ()["RAY_AUTH_MODE"] == "token"
        token = tmp_path / "home" / ".ray" / "auth_token"
        assert token.stat().st_mode & 0o077 == 0, "nobody else reads the token"
        if end is not None:
            started.send_signal(end)
        _, said = started.communicate(timeout=240)
    assert started.returncode == {None: 0, signal.SIGINT: 130, signal.SIGKILL: -9}[end], said
    _, left = psutil.wait_procs(family[1:], timeout=10)
    assert not left
