"""The tables of the ball take seconds to make: the tests of a module share theirs."""

from __future__ import annotations

import pytest

pytest.importorskip("ogbench")

from minaction.planning import TabulatedBall


@pytest.fixture(scope="session")
def table_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("tables"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", folder)
        TabulatedBall("medium")
    return folder


@pytest.fixture
def shared_tables(_own_cache: None, table_cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", table_cache)
