"""What the reference is made of: a site that is built strictly stops at a docstring that it cannot read."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

griffe = pytest.importorskip("griffe")

SOURCES = Path(__file__).parents[2] / "src"


def _parse(member: Any) -> int:
    """Parse all docstrings of a module or class; how many there are."""
    if member.is_alias:
        return 0
    own = member.docstring is not None and bool(member.docstring.parsed)
    return own + sum(map(_parse, member.members.values()))


def test_the_reference_can_read_every_docstring(caplog: pytest.LogCaptureFixture) -> None:
    options = {"warn_unknown_params": False}  # as mkdocs.yml has it
    package = griffe.load(
        "minaction", search_paths=[SOURCES], docstring_parser="google", docstring_options=options, resolve_aliases=False
    )
    with caplog.at_level(logging.WARNING):
        assert _parse(package) > 1000
    assert [record.getMessage() for record in caplog.records] == []
