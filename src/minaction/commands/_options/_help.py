"""The help of options: what stands below each in its class, on one line, as tyro and shells' completions want it."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import MappingProxyType


def help_on_one_line(kind: type) -> None:
    """Give a class of options its help; tyro would read the docstrings itself, and keep where their lines end."""
    for base in kind.__mro__[:-1]:
        texts = _texts_in(base.__module__).get(base.__name__, {})
        for field in dataclasses.fields(base):
            if field.name in texts:
                field.metadata = MappingProxyType({"help": texts[field.name]})


@functools.cache
def _texts_in(module: str) -> dict[str, dict[str, str]]:
    """By class and option; empty where only compiled files are installed."""
    with suppress(OSError):
        parsed = ast.parse(inspect.getsource(sys.modules[module]))
        return {one.name: dict(_texts_of(one)) for one in parsed.body if isinstance(one, ast.ClassDef)}
    return {}


def _texts_of(definition: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for option, text in itertools.pairwise(definition.body):
        if isinstance(option, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(option.target, ast.Name):
            yield option.target.id, " ".join(ast.literal_eval(text.value).split())
