"""The one exception that means "what you gave us cannot be used": the command line prints it and exits with 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """What a person gave cannot be used; the message says what is wrong, where, and what to do, in one sentence."""


class DamagedFile(InputError):
    """A file of ours is not as it was written."""


class MissingExtra(InputError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: install it with `pip install 'minaction[{extra}]'`.")


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An `InputError` for a name that does not exist, suggesting the nearest ones that do."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}?" if near else f"known are: {', '.join(known)}."
    return InputError(f"There is no {kind} named {name!r}: {hint}")
