"""Shared by tests and by the examples in docstrings, which run in the same processes, in any order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minaction as ma


@pytest.fixture(autouse=True)
def _forget_what_was_registered() -> Iterator[None]:
    """Members that a test or an example registers are gone after it: other tests ask which there are."""
    families = (ma.ENCODERS, ma.OBJECTIVES, ma.QUASIMETRICS, ma.READERS, ma.TASKS)
    before = [dict(family._registered) for family in families]
    yield
    for family, members in zip(families, before, strict=True):
        family._registered = members
