"""The command line. Heavy imports stay inside `minaction.commands`, so that help is instant."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Union

import tyro
from tyro.conf import subcommand

from . import __version__
from ._interrupts import none_is_lost
from ._platform import choose_device
from .commands import _options as options
from .errors import InputError, printable, unknown_name

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

_OUT_OF_MEMORY = ("RESOURCE_EXHAUSTED", "Out of memory")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, or 2 after one sentence about what is wrong with the input."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show must not stop it
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if arguments in (["--version"], ["-V"]):
            print(f"minaction {__version__}", flush=True)
            return 0
        name, command = parse(arguments)
        choose_device(getattr(command, "device", "auto"), here=getattr(command, "backend", "local") == "local")
        module = importlib.import_module(f".commands.{COMMANDS[name][1]}", __package__)
        with warnings.catch_warnings(), none_is_lost():
            warnings.showwarning = _show_warning
            return getattr(module, name)(command)
    except InputError as error:
        print(f"minaction: {printable(str(error))}", file=sys.stderr)
        return 2
    except (MemoryError, RuntimeError) as error:  # JAX's error is a RuntimeError
        if isinstance(error, RuntimeError) and not any(sign in str(error) for sign in _OUT_OF_MEMORY):
            raise
        print("minaction: there is not enough memory; use a smaller encoder, batch or recording.", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        print(f"minaction: {_place(error)}{_refused(error)}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one has nothing more to stop
        print("minaction: stopped; the same command continues from the last checkpoint.", file=sys.stderr)
        return 130


def _place(error: OSError) -> str:
    name = error.filename
    return f"{os.fsdecode(name)}: " if isinstance(name, str | bytes) else ""


def _refused(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "you have no permission; choose another place, or ask for it"
    return f"{(error.strerror or str(error)).lower()}; choose another place or name, or make room"


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    """Show our warnings as one line without the source location; those of libraries are for developers."""
    if issubclass(category, UserWarning):
        print(f"minaction: {printable(str(message))}", file=sys.stderr)


def parse(arguments: Sequence[str]) -> tuple[str, object]:
    """The command and its options; prints help and exits if asked to."""
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        return name, tyro.cli(COMMANDS[name][0], prog=f"minaction {name}", args=rest)
    if arguments and not arguments[0].startswith("-"):
        raise unknown_name("command", arguments[0], COMMANDS)
    # For help, or without a command: list all commands with the first line of each.
    listed = [
        Annotated[kind, subcommand(name, description=(kind.__doc__ or "").partition("\n")[0])]
        for name, (kind, _) in COMMANDS.items()
    ]
    tyro.cli(  # type: ignore[call-overload]
        Union[tuple(listed)],  # type: ignore[arg-type]  # noqa: UP007 (made at run time)
        prog="minaction",
        description="Learn how many actions apart any two states are, from recorded state sequences alone.",
        args=list(arguments),
    )
    raise AssertionError("help, or a command that is missing, ends the program")
