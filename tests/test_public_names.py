"""The public surface: every name resolves, and nothing else slips in."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import minaction

NAMES = [name for name in dir(minaction) if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(minaction, name) is not None


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(minaction.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for node in ast.walk(guarded) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(NAMES)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        minaction.nonsense  # noqa: B018


def test_importing_the_package_does_not_start_jax() -> None:
    code = "import minaction, minaction.cli, sys; print('jax' in sys.modules, 'matplotlib' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]


def test_nothing_depends_on_torch() -> None:
    sources = Path(minaction.__file__).parent.rglob("*.py")
    assert not [path for path in sources if "import torch" in path.read_text()]
