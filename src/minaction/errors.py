"""`InputError`: some input cannot be used. The command line prints its message and exits with code 2."""

from __future__ import annotations

import sys
from collections.abc import Iterable


class InputError(ValueError):
    """Some input cannot be used; the message says in one sentence what is wrong, where, and what to do."""


class DamagedFile(InputError):
    """A file that this package wrote has changed since."""


class MissingExtra(InputError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        commands = f"`pip install 'minaction[{extra}]'`"
        if extra == "mazes" and sys.version_info >= (3, 13):  # where pip cannot install all that OGBench asks for
            commands += " and `pip install --no-deps ogbench`"
        super().__init__(f"{what} needs an optional dependency: install it with {commands}.")


def printable(text: str) -> str:
    """Text from a file as a terminal may have it: what would move its cursor or change its colours is spelled out."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An `InputError` for a name that does not exist, with similar names that do."""
    import difflib  # here, so that a runtime on a robot starts sooner

    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}?" if near else f"choose from {', '.join(known)}."
    return InputError(f"There is no {kind} named {name!r}: {hint}")
