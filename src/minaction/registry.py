"""Families of interchangeable parts, found by name.

There are five: objectives, quasimetrics, encoders, tasks and readers. A member is built in, or registered at run time,
or provided by an installed distribution through an entry point. Python, the command line, TOML files and suites all
look members up here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from .errors import InputError, unknown_name

Member = TypeVar("Member")


class BrokenMember(InputError):
    """An installed distribution provides a member that cannot be imported."""


class Registry(Mapping[str, Member], Generic[Member]):
    """The members of one family by name: built-in ones, then registered ones, then those of other distributions.

    `kind` is the word for a member in messages. `own` returns the built-in members; it is called at the first lookup.
    `group` is the entry-point group through which a distribution provides more, such as::

        [project.entry-points."minaction.quasimetrics"]
        my-quasimetric = "my_package:MyQuasimetric"
    """

    def __init__(self, kind: str, group: str, own: Callable[[], Mapping[str, Member]]) -> None:
        self.kind, self.group = kind, group
        self._own = own
        self._loaded: dict[str, Member] = {}
        self._registered: dict[str, Member] = {}
        self._found: dict[str, EntryPoint] | None = None

    def register(self, name: str, member: Member) -> None:
        """Add a member under a name that is not taken. Running the same definition again replaces it."""
        if not name or not all(character.isalnum() or character in "-_." for character in name):
            raise InputError(
                f"{name!r} cannot be the name of a member of {self.group}; use letters, digits, '-', '_' and '.'."
            )
        own, earlier = self._members().get(name, member), self._registered.get(name, member)
        if own is not member or _definition(earlier) != _definition(member):
            raise InputError(f"There is a member of {self.group} named {name!r} already; choose another name.")
        self._registered[name] = member

    def __getitem__(self, name: str) -> Member:
        """The member called `name`; the error for an unknown name suggests similar ones."""
        for known in (self._members(), self._registered):
            if name in known:
                return known[name]
        installed = self._installed()
        if name not in installed:
            raise unknown_name(self.kind, name, self)
        return self._load(installed[name])

    def __contains__(self, name: object) -> bool:
        return name in self._members() or name in self._registered or name in self._installed()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._members(), *self._registered, *self._installed()]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def usable(self) -> dict[str, Member]:
        """Every member that can be imported; a warning names those that cannot."""
        found = {}
        for name in self:
            try:
                found[name] = self[name]
            except BrokenMember as error:
                warnings.warn(str(error), stacklevel=2)
        return found

    def _members(self) -> dict[str, Member]:
        if not self._loaded:
            self._loaded = dict(self._own())
        return self._loaded

    def _installed(self) -> dict[str, EntryPoint]:
        if self._found is None:  # looked for once: it takes some milliseconds, and a report asks thousands of times
            self._found = {found.name: found for found in entry_points(group=self.group)}
        return self._found

    def _load(self, offered: EntryPoint) -> Member:
        try:
            member = offered.load()
        except Exception as error:  # importing another distribution may raise anything
            package = offered.dist.name if offered.dist else offered.value
            raise BrokenMember(
                f"The {self.kind} {offered.name!r} of {package} cannot be imported "
                f"({type(error).__name__}: {error}); repair or remove that package."
            ) from error
        if getattr(member, "family", None) is not self:
            raise BrokenMember(
                f"{offered.value!r}, the entry point of the {self.kind} {offered.name!r}, is not one; derive it from "
                "the base class of its family."
            )
        self._registered[offered.name] = member
        return member


def register(member: Any, name: str | None = None) -> Any:
    """Add a member to its family. Use it as a decorator for a class, or as a function for an instance.

    Args:
        member: an `Objective`, `Quasimetric`, `Encoder`, `Task` or `Reader`: a class or an instance.
        name: the name to look it up by; the member's own `name` if None.

    Returns:
        The member.

    >>> import minaction as ma
    >>> _ = ma.register(ma.MadDist(learning_rate=1e-3), name="maddist-quick")
    >>> ma.OBJECTIVES["maddist-quick"].learning_rate
    0.001
    """
    family = getattr(member, "family", None)
    called = name or getattr(member, "name", None)
    if not isinstance(family, Registry) or not isinstance(called, str):
        raise InputError(
            f"{member!r} belongs to no family of minaction; derive it from Objective, Quasimetric, Encoder, Task or "
            "Reader, and give it a name."
        )
    family.register(called, member)
    return member


def _definition(member: Any) -> tuple[str, str]:
    """Identifies a definition, so that one that is run again, as in a notebook, is told from another of that name."""
    kind = member if isinstance(member, type) else type(member)
    return kind.__module__, kind.__qualname__
