"""CONTRIBUTING says that a new member of ours is one file and one entry in its family's `_own()`: tried on a copy."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import minaction

SAMPLE = Path(__file__).parent / "sample" / "src" / "minaction_sample"
FAMILIES = {  # by folder: a file of the sample distribution, and its class
    "objectives": ("objective.py", "Regression"),
    "quasimetrics": ("quasimetric.py", "Weighted"),
    "encoders": ("encoder.py", "Convolutional"),
    "tasks": ("task.py", "LineWorld"),
    "trajectories/readers": ("reader.py", "Lines"),
}
USE = """
import sys
from pathlib import Path
import minaction as ma
from minaction import testing
from minaction.cli import main

assert Path(ma.__file__).is_relative_to(sys.argv[1])
out = Path(sys.argv[1])
testing.check_quasimetric("sample-weighted", latent_size=8)
testing.check_task("sample-line")
(out / "log.lines").write_text("#lines\\n0 1 2 1\\n3 2\\n")
testing.check_reader("sample-lines", out / "log.lines")
settings = ["quasimetric=sample-weighted", "encoder=sample-conv", "encoder.latent=4"]
train = ["train", "sample-line", "--objective", "sample-regression", "--steps", "3", "--out", str(out / "run")]
assert main([*train, "--set", *settings]) == 0
architecture = ma.load(out / "run").architecture
assert (architecture.encoder.name, architecture.quasimetric.name) == ("sample-conv", "sample-weighted")
"""


def add_entry(path: Path, kind: str) -> None:
    """One more entry in what `_own()` returns."""
    text = path.read_text()
    own = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "_own")
    value = next(node for node in own.body if isinstance(node, ast.Return)).value
    assert value is not None
    found = ast.get_source_segment(text, value)
    assert found is not None
    entry = f"from ._sample import {kind}\n\n    return {{**{found}, {kind}.name: {kind}}}"
    path.write_text(text.replace(f"return {found}", entry, 1))


def test_a_member_of_ours_is_one_file_and_one_entry(tmp_path: Path) -> None:
    package = shutil.copytree(
        Path(minaction.__file__).parent, tmp_path / "minaction", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder, (file, kind) in FAMILIES.items():
        shutil.copy(SAMPLE / file, package / folder / "_sample.py")
        add_entry(package / folder / "_base.py", kind)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", USE, tmp_path], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
