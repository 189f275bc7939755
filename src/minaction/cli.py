"""The command line. Heavy imports stay inside `minaction.commands`, so that help is instant."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence

from . import __version__
from ._interrupts import held_back, none_is_lost
from ._platform import choose_device
from .errors import InputError, printable

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
        with held_back():  # an import that is interrupted leaves half a module, or ends in a crash
            from .commands._parse import COMMANDS, parse
        name, command = parse(arguments)
        choose_device(getattr(command, "device", "auto"), here=getattr(command, "backend", "local") == "local")
        with held_back():
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
    except KeyboardInterrupt as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one has nothing more to stop
        kept = f"; {stop}" if str(stop) else ""  # said by commands that keep something to go on from
        print(f"minaction: stopped{kept}.", file=sys.stderr)
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
