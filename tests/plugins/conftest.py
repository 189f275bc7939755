"""The sample distribution, installed as anyone would install it, into a folder of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parent / "sample"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sample is installed into; nothing outside it is changed."""
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(SAMPLE, folder / "source")
    wheel = _built(source, folder) if importlib.util.find_spec("hatchling") else _packed(source, folder)
    target = folder / "site"
    _pip("install", "--no-deps", "--no-index", "--no-compile", "--target", target, wheel)
    return target


@pytest.fixture
def run(installed: Path) -> Run:
    """Run Python with the sample installed, on a CPU, and say how it ended."""

    def run(*arguments: object, plugin: bool = True) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "COLUMNS": "200"}
        if plugin:
            environment["PYTHONPATH"] = str(installed)
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)

    return run


def _built(source: Path, folder: Path) -> Path:
    """The wheel that the sample's own build back end makes."""
    _pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _packed(source: Path, folder: Path) -> Path:
    """The same wheel where its build back end, hatchling, is not installed: packages, metadata, entry points."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    metadata = f"{name}.dist-info"
    entry_points = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in members.items())
        for group, members in project["entry-points"].items()
    )
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for module in sorted((source / "src").rglob("*.py")):
            wheel.write(module, module.relative_to(source / "src"))
        wheel.writestr(
            f"{metadata}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(
            f"{metadata}/METADATA", f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        wheel.writestr(f"{metadata}/entry_points.txt", entry_points)
        names = [*wheel.namelist(), f"{metadata}/RECORD"]
        wheel.writestr(f"{metadata}/RECORD", "".join(f"{each},,\n" for each in names))
    return path


def _pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
