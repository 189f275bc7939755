"""A few hundred mutations of every kind of file: read, or refused in one sentence. `make fuzz` runs many more."""

from __future__ import annotations

import importlib
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from minaction.trajectories import READERS

_FUZZ = str(Path(__file__).parents[1] / "fuzz")
sys.path.insert(0, _FUZZ)
try:
    kinds: Any = importlib.import_module("kinds")
    mutations: Any = importlib.import_module("mutations")
finally:
    sys.path.remove(_FUZZ)


def test_every_reader_is_in_the_campaign() -> None:
    assert set(READERS) == set(kinds.READER_SEEDS), "a new reader needs a seed in tests/fuzz/kinds.py"


@pytest.mark.parametrize("name", list(kinds.KINDS))
def test_whatever_is_wrong_ends_in_one_sentence(name: str, tmp_path: Path) -> None:
    kind = kinds.KINDS[name]
    path = kind.make(tmp_path)
    good = path.read_bytes()
    assert mutations.outcome(kind, path) == "read"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(300):
            path.write_bytes(mutations.mutated(good, random.Random(f"{name} {seed}"), kind.is_json))
            assert mutations.outcome(kind, path) in ("read", "refused"), seed
