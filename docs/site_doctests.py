"""Examples in docstrings, which doctest runs, as code on the site."""

from __future__ import annotations

from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Fences every block of lines that begins with >>>, up to the next blank line."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object that is read."""
        if obj.docstring is not None:
            obj.docstring.value = _fenced(obj.docstring.value)


def _fenced(text: str) -> str:
    lines, inside = [], False
    for line in [*text.splitlines(), ""]:
        if not inside and line.lstrip().startswith(">>> "):
            indent, inside = line[: len(line) - len(line.lstrip())], True
            lines += ["", f"{indent}```pycon"]
        elif inside and not line.strip():
            lines, inside = [*lines, f"{indent}```"], False
        lines.append(line)
    return "\n".join(lines[:-1])
