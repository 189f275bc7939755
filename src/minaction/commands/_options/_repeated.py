"""Options that may be given more than once, each time with any number of names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Annotated

from tyro.conf import UseAppendAction

Names = Annotated[tuple[tuple[str, ...], ...], UseAppendAction]
"""`--states x y --states z`, one tuple for each time that the option is given; without the marker the last one wins."""


def all_of(given: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """What was given, in order, however often the option was."""
    return tuple(itertools.chain(*given))
