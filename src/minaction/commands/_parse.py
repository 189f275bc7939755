"""What was asked of the command line: the command and its options, or one sentence on why they cannot be."""

from __future__ import annotations

import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from types import NoneType
from typing import Annotated, Any, Union, get_args, get_type_hints

import tyro
from tyro.conf import UseAppendAction, subcommand
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from ..errors import InputError, unknown_name
from . import _options as options

COMMANDS: dict[str, tuple[type, str]] = {
    "train": (options.Train, "_train"),
    "evaluate": (options.Evaluate, "_inspect"),
    "distance": (options.Distance, "_inspect"),
    "progress": (options.Progress, "_progress"),
    "export": (options.Export, "_export"),
    "card": (options.Card, "_export"),
    "plan": (options.Plan, "_plan"),
    "agent": (options.Agent, "_agent"),
    "suite": (options.Suite, "_suite"),
    "reproduce": (options.Reproduce, "_reproduce"),
    "report": (options.Report, "_report"),
    "data": (options.Data, "_data"),
    "tasks": (options.Tasks, "_catalogue"),
    "objectives": (options.Objectives, "_catalogue"),
    "doctor": (options.Doctor, "_doctor"),
}
"""By name: the options, and the module of `commands` that has a function of that name."""

_ABOUT = "Learn how many actions apart any two states are, from recorded state sequences alone."
_WORDS = ConstructorRegistry()


def parse(arguments: Sequence[str]) -> tuple[str, Any]:
    """The command and its options; prints help and exits if asked to."""
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        kind = COMMANDS[name][0]
        _check_given_once(kind, rest)
        options.help_on_one_line(kind)
        return name, _parsed(kind, f"minaction {name}", rest)
    if arguments and arguments[0] == "version":
        raise InputError("There is no command named 'version'; `minaction --version` shows it.")
    if arguments and not arguments[0].startswith("-"):
        raise unknown_name("command", arguments[0], COMMANDS)
    for kind, _ in COMMANDS.values():
        options.help_on_one_line(kind)
    # For help, or without a command: list all commands with the first line of each.
    listed = [
        Annotated[kind, subcommand(name, description=(kind.__doc__ or "").partition("\n")[0])]
        for name, (kind, _) in COMMANDS.items()
    ]
    about = f"{_ABOUT} `minaction --version` shows the version."
    _parsed(Union[tuple(listed)], "minaction", arguments, description=about)  # noqa: UP007 (made at run time)
    raise AssertionError("help, or a command that is missing, ends the program")


def _check_given_once(kind: type, arguments: Sequence[str]) -> None:
    """Refuse an option that is given again, of which the last one would win without a word."""
    hints = get_type_hints(kind, include_extras=True)
    repeatable = {_option(name) for name, hint in hints.items() if UseAppendAction in getattr(hint, "__metadata__", ())}
    before_values = itertools.takewhile(lambda word: word != "--", arguments)
    given = Counter(_option(word) for word in before_values if re.match("--[A-Za-z]|-o", word))
    for name, times in given.items():
        if times > 1 and name not in repeatable:
            raise InputError(f"{name} is given {times} times, of which one alone would count; give it once.")


def _option(word: str) -> str:
    """The option that a word stands for, or that belongs to a field of that name."""
    name = word.partition("=")[0].lstrip("-").replace("_", "-").removeprefix("no-")
    return "--output" if word.startswith("-o") else f"--{name}"


# ---------------------------------------------------------------- one sentence for what tyro frames


def _parsed(kind: Any, prog: str, arguments: Sequence[str], **more: Any) -> Any:
    said = io.StringIO()
    try:
        with _WORDS, redirect_stderr(said):
            return tyro.cli(kind, prog=prog, args=list(arguments), **more)
    except SystemExit as end:
        if not end.code:
            raise
    raise InputError(_in_one_sentence(said.getvalue(), prog))


def _in_one_sentence(said: str, prog: str) -> str:
    """What stands in tyro's box below its title, where rules divide what is wrong from what helps.

    Where the terminal has no characters for boxes, the frame is of blanks, and rules are of hyphens.
    """
    _, *lines = re.sub(r"\x1b\[[\d;]*m", "", said).splitlines() or [""]
    rows = [re.sub("^│ |^  |│$", "", line).rstrip() for line in lines]
    divided = itertools.groupby(rows, lambda row: bool(row) and set(row) <= set("─╰╯- "))
    parts = [list(part) for is_rule, part in divided if not is_rule] or [[said]]
    wrong = " ".join(" ".join(parts[0]).split())
    see = f"see `{prog} --help`"
    if wrong.startswith("Missing from"):
        return f"`{prog}` needs {' and '.join(_named(parts[0]))}; {see}."
    if wrong.startswith("Unrecognized options:"):
        words = wrong.partition(": ")[2].split(", ")
        unknown = [word for word in words if word.startswith("-")]
        meant = _named(parts[1]) if unknown and len(parts) > 2 else []
        if not unknown and prog == "minaction train":
            see = "several logs go into one file, or, as Parquet files, into one folder"
        hint = f"did you mean {' or '.join(meant)}?" if meant else f"{see}."
        return f"`{prog}` has no use for {', '.join(unknown or words)}; {hint}"
    wrong = wrong.removeprefix("Error parsing ").replace(". Expected", "; expected").rstrip(".")
    wrong = re.sub(r"\((.*?),?\)$", r"\1", wrong).replace("expected 1 values", "expected a value")
    return f"{wrong[:1].upper()}{wrong[1:]}; {see}."


def _named(rows: Sequence[str]) -> list[str]:
    """The names of options in a part of a box: they are indented by four, and what they are by more."""
    return [row.split()[0].rstrip(",") for row in rows if re.match(r" {4}\S", row)]


# ---------------------------------------------------------------- how values are written


@_WORDS.primitive_rule
def _optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """`X | None` is written as X is; None stands where nothing is given."""
    kinds = get_args(info.type)
    if len(kinds) != 2 or NoneType not in kinds:
        return None
    (kind,) = (one for one in kinds if one is not NoneType)
    spec = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kind, info.markers))
    if not isinstance(spec, PrimitiveConstructorSpec):
        return None
    return replace(
        spec,
        is_instance=lambda value: value is None or spec.is_instance(value),
        str_from_instance=lambda value: ["None"] if value is None else spec.str_from_instance(value),
    )


@_WORDS.primitive_rule
def _number(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """Numbers, of which Python's own complaint speaks of literals and bases."""
    kind, called = info.type, {int: "a whole number", float: "a number"}.get(info.type)
    if called is None:
        return None

    def number(words: list[str]) -> int | float:
        try:
            return kind(words[0])
        except ValueError:
            raise ValueError(f"{words[0]!r} is not {called}") from None

    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=kind.__name__.upper(),
        instance_from_str=number,
        is_instance=lambda value: isinstance(value, kind),
        str_from_instance=lambda value: [str(value)],
    )
