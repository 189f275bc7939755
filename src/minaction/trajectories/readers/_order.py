"""The order of files that follow each other by the numbers in their names."""

from __future__ import annotations

import re
from pathlib import Path

_NUMBERS = re.compile(r"(\d+)")


def by_number(path: Path) -> list[int | str]:
    """A key to sort by: `frame9` comes before `frame10`."""
    return [int(part) if part.isdecimal() else part for part in _NUMBERS.split(path.name)]
