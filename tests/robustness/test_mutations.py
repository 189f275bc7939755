"""A few hundred mutations of every kind of file: read, or refused in one sentence. `make fuzz` runs many more."""

from __future__ import annotations

import importlib.util
import random
import sys
import warnings
from pathlib import Path

import pytest

_PATH = Path(__file__).parents[1] / "fuzz" / "mutations.py"
_spec = importlib.util.spec_from_file_location("fuzz_mutations", _PATH)
assert _spec is not None
assert _spec.loader is not None
mutations = importlib.util.module_from_spec(_spec)
sys.modules["fuzz_mutations"] = mutations
_spec.loader.exec_module(mutations)


@pytest.mark.parametrize("name", list(mutations.KINDS))
def test_whatever_is_wrong_ends_in_one_sentence(name: str, tmp_path: Path) -> None:
    kind = mutations.KINDS[name]
    path = kind.make(tmp_path)
    good = path.read_bytes()
    assert mutations.outcome(kind, path) == "read"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(100):
            path.write_bytes(mutations.mutated(good, random.Random(f"{name} {seed}"), kind.is_json))
            assert mutations.outcome(kind, path) in ("read", "refused"), seed
