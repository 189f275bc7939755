"""Suites small enough for tests, run as a person runs them, and what a folder holds in the end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SMALL = '{ "encoder.hidden" = [16], "encoder.latent" = 8, batch_size = 16, constraint_batch_size = 16 }'


class Suites:
    """Runs `minaction suite`, and looks at what it left."""

    def command(self, *arguments: object) -> list[str]:
        """What a person types, for this interpreter."""
        return [sys.executable, "-m", "minaction", "suite", *map(str, arguments)]

    def start(self, *arguments: object) -> subprocess.Popen[bytes]:
        """The command, to be disturbed."""
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, *arguments: object, timeout: float = 300, **options: Any) -> subprocess.CompletedProcess[str]:
        """The command, carried out to its end."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=timeout, **options)

    def contents(self, folder: Path) -> dict[str, Any]:
        """Every file of a suite, but for the times in them."""
        found: dict[str, Any] = {}
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            value: Any = path.read_bytes()
            if path.name == "results.json":
                value = {k: v for k, v in json.loads(value).items() if k not in ("seconds", "steps_per_second")}
            found[str(path.relative_to(folder))] = value
        return found

    def wait_for(self, happened: Callable[[], Any], seconds: float = 120) -> Any:
        """Wait until something is true, and give it back."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if value := happened():
                return value
            time.sleep(0.01)
        raise AssertionError("it did not happen in time")


@pytest.fixture
def suites() -> Suites:
    """What runs suites."""
    return Suites()


@pytest.fixture
def write_grid(tmp_path: Path) -> Callable[..., Path]:
    """Writes a grid of small networks to a file."""

    def write(tasks: tuple[str, ...] = ("cliffwalking",), methods: str = "", seeds: int = 2, steps: int = 400) -> Path:
        path = tmp_path / "small.toml"
        path.write_text(
            f"tasks = {json.dumps(tasks)}\nseeds = {seeds}\nsteps = {steps}\n"
            f'[methods.small]\nobjective = "maddist"\nsettings = {SMALL}\n{methods}'
        )
        return path

    return write
