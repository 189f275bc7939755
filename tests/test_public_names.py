"""The public surface: every name resolves and says what it is, and nothing else slips in."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import minaction
from minaction.registry import Registry

SOURCES = Path(minaction.__file__).parent


@pytest.mark.parametrize("name", minaction.__all__)
def test_every_public_name_resolves_and_is_explained(name: str) -> None:
    found = getattr(minaction, name)
    if inspect.isclass(found) or inspect.isfunction(found):
        assert inspect.getdoc(found), "it has no docstring"
        assert found.__name__ == name
        if not (inspect.isclass(found) and issubclass(found, Exception)):
            assert ">>>" in (found.__doc__ or ""), "it has no example"
    else:
        assert isinstance(found, Registry) or name == "Event"


def undocumented(function: Callable[..., Any], documentation: str) -> list[str]:
    """The parameters of `function` that its documentation does not mention."""
    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls") and name[0] != "_"]
    return [name for name in names if not re.search(rf"\b{re.escape(name)}\b", documentation)]


@pytest.mark.parametrize("name", minaction.__all__)
def test_every_parameter_of_a_public_name_is_documented(name: str) -> None:
    found = getattr(minaction, name)
    if inspect.isfunction(found):
        assert undocumented(found, found.__doc__ or "") == []
    if inspect.isclass(found) and not issubclass(found, Exception):
        own = vars(found).get("__init__")
        assert undocumented(found, f"{found.__doc__} {own.__doc__ if own else ''}") == []


METHODS = {
    f"{name}.{attribute}": getattr(getattr(minaction, name), attribute)
    for name in minaction.__all__
    if inspect.isclass(getattr(minaction, name))
    for attribute, value in vars(getattr(minaction, name)).items()
    if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod | staticmethod))
}


@pytest.mark.parametrize("name", METHODS)
def test_every_parameter_of_a_public_method_is_documented(name: str) -> None:
    documentation = METHODS[name].__doc__
    assert inspect.getdoc(METHODS[name]), "neither it nor what it overrides has a docstring"
    if documentation:  # else it does what the method that it overrides says
        assert undocumented(METHODS[name], documentation) == []


def test_names_in_the_list_are_those_that_load() -> None:
    tree = ast.parse((SOURCES / "__init__.pyi").read_text())
    imported = {alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(minaction.__all__)
    assert set(minaction.__all__) <= set(dir(minaction))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(minaction, "nonsense")  # noqa: B009 (a type checker knows)


@pytest.mark.parametrize("modules", ["minaction, minaction.cli", "minaction.tasks"])
def test_importing_starts_nothing_heavy(modules: str) -> None:
    code = f"import {modules}, sys; print(*('jax' in sys.modules, 'matplotlib' in sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False", "False"]


def test_nothing_but_its_own_runtime_depends_on_torch() -> None:
    found = [path for path in SOURCES.rglob("*.py") if "import torch" in path.read_text()]
    assert found == [SOURCES / "runtimes" / "torch.py"]


def test_training_and_suites_stay_small() -> None:
    files = [path for folder in ("suite", "training") for path in (SOURCES / folder).glob("*.py")]
    assert sum(len(path.read_text().splitlines()) for path in files) < 2838
