"""What every reader does before it trusts a file: name it in errors, and refuse what does not fit into memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...errors import InputError, MissingExtra

_GIB = 1 << 30
MOST_BYTES = 64 * _GIB
_SUSPICIOUS_BYTES = _GIB // 4
_SUSPICIOUS_RATIO = 100  # recorded data never compresses like this; a file made to exhaust memory does
_OWN_LIMIT = "MINACTION_MAX_GIB"


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Put the name of the file in front of an error about its contents."""
    try:
        yield
    except MissingExtra:
        raise
    except InputError as error:
        message = str(error)
        if str(path) in message:
            raise
        raise InputError(f"{path}: {message[:1].lower()}{message[1:]}") from error


@contextlib.contextmanager
def parsing(path: str | Path, kind: str) -> Iterator[None]:
    """Wrap calls into the library of a format, which may raise any exception on a broken file."""
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise InputError(
            f"{path} cannot be read as {kind}: it is damaged, truncated or of another kind ({reason}); "
            "make or download it again."
        ) from error


def refuse_if_too_large(path: str | Path, what: str, num_bytes: int, stored_bytes: int) -> None:
    """Compare what a file says it holds with the memory there is, before any of it is unpacked."""
    own = _own_limit()
    if own is None and num_bytes > _SUSPICIOUS_BYTES and num_bytes > _SUSPICIOUS_RATIO * max(stored_bytes, 1):
        raise InputError(
            f"{path}: {what} would unpack from {stored_bytes} bytes to {num_bytes / _GIB:.1f} GiB, which no "
            f"recorded data does; if it is really yours, set {_OWN_LIMIT} to the GiB that it may take."
        )
    limit = min(MOST_BYTES, _physical_memory()) if own is None else own
    if num_bytes > limit:
        raise InputError(
            f"{path}: {what} needs {num_bytes / _GIB:.1f} GiB of memory, but at most {limit / _GIB:.1f} GiB may be "
            "used; split the file, or save the states as .npy and read them with memory_map=True."
        )


def list_names(names: Iterable[str]) -> str:
    """Names for an error message, shortened where there are many."""
    listed = [repr(name) for name in names]
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "") if listed else "nothing"


def _own_limit() -> int | None:
    """What a person allows a file to take, in bytes; None if nothing was said."""
    text = os.environ.get(_OWN_LIMIT, "")
    try:
        return int(float(text) * _GIB) if text else None
    except (ValueError, OverflowError):
        raise InputError(f"{_OWN_LIMIT} is {text!r}; set it to a number of GiB.") from None


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return MOST_BYTES
