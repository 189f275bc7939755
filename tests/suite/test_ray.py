"""A real cluster of two nodes on this machine, one of which is lost while the suite runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from minaction.commands._options import Suite
from minaction.commands._suite import suite
from minaction.errors import InputError

pytest.importorskip("ray")


@pytest.fixture
def cluster() -> Iterator[Any]:
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


def test_no_cluster_where_one_was_said_to_be(write_grid: Callable[..., Path], tmp_path: Path) -> None:
    asked = Suite(str(write_grid()), backend="ray", address="127.0.0.1:1", out=tmp_path / "suite")
    with pytest.raises(InputError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        suite(asked)
