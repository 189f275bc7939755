"""Files that are either complete or absent and never execute code: safetensors with a JSON header.

Layout of a safetensors file, which `map_tensors` relies on::

    8 bytes            n, little endian: length of the header
    n bytes            JSON: {"name": {"dtype": "F32", "shape": [..], "data_offsets": [a, b]},
                              "__metadata__": {..}}
    the rest           tensor "name" occupies bytes a..b of it, row-major

The metadata starts with a checksum of the whole file, computed with zeros in its own place.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec
import numpy as np
from safetensors import SafetensorError, safe_open

from ._checksums import KEY, NO_CHECKSUM, digest, is_as_written
from ._mapped import row_blocks
from .errors import DamagedFile, InputError

Read = TypeVar("Read")

FORMAT = 2  # incremented when older versions of this package cannot read what this one writes

_DTYPE_NAMES = {
    "float32": "F32",
    "float64": "F64",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint32": "U32",
    "bool": "BOOL",
}
_DTYPES = {name: np.dtype(dtype) for dtype, name in _DTYPE_NAMES.items()}


@contextlib.contextmanager
def atomic_write(path: str | Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """Write to a temporary file, and rename it to `path` only if the block succeeds.

    Where `path` is a link, what it leads to is written; pipes and devices are refused.
    """
    path = Path(os.path.realpath(path))
    check_regular(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(path.parent, re.escape(path.name))
        descriptor, temporary = _temporary(path)
    except OSError as error:
        raise InputError(
            f"Cannot write {path}: {error.strerror or error}; choose a folder you may write to."
        ) from error
    try:
        with os.fdopen(descriptor, mode, encoding=None if "b" in mode else "utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)  # mkstemp creates private files, but data sets are shared
            os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(f"Cannot write {path}: {error.strerror or error}; nothing was left behind.") from error
        raise


@contextlib.contextmanager
def scratch_file(path: Path) -> Iterator[IO[bytes]]:
    """An open file beside `path` for the time of the block; what a kill leaves, `remove_abandoned` finds."""
    descriptor, temporary = _temporary(path)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
    finally:
        os.unlink(temporary)


def _temporary(path: Path) -> tuple[int, str]:
    """A new file beside `path`, locked for as long as it is open, so that nobody takes it for abandoned."""
    while True:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)  # somebody took it for abandoned before it was locked


def remove_abandoned(folder: Path, name: str) -> None:
    """Remove what kills in the middle of writing left: temporary files that no process holds.

    `name` is a pattern for the names of what was being written.
    """
    temporary = re.compile(rf"\.({name})\.\w{{8}}\.tmp")
    for left in [entry.path for entry in os.scandir(folder) if temporary.fullmatch(entry.name)]:
        with contextlib.suppress(OSError):  # held, or removed by somebody else meanwhile
            descriptor = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(left)
            finally:
                os.close(descriptor)


def check_regular(path: str | Path) -> None:
    """Refuse pipes and devices, from which reading may never end; a missing file is reported elsewhere."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is a pipe or a device; give an ordinary file.")


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` (plain values, dataclasses) as indented JSON, atomically; NaN becomes null."""
    with atomic_write(path) as file:
        file.write(msgspec.json.format(_encoded(value), indent=2) + b"\n")


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError as error:
        shown = error.object.encode(errors="backslashreplace").decode()
        raise InputError(f"The name {shown!r} is not UTF-8, which a run's files are; rename it.") from error


def read_json(path: str | Path, kind: type[Read] | Any = Any) -> Read:
    """A JSON file that this package wrote, checked against `kind`: a dataclass, or a type such as dict[str, int]."""
    check_regular(path)
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=kind)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise _not_as_written(path, error) from error


def append_json_lines(path: Path, rows: Iterable[Any], keep: Iterable[Any] = ()) -> None:
    """Write `keep` and then `rows`, one per line; the whole file is rewritten atomically, as it is small."""
    with atomic_write(path) as file:
        file.writelines(_encoded(row) + b"\n" for row in itertools.chain(keep, rows))


def read_json_lines(path: Path, kind: type[Read]) -> list[Read]:
    """The lines of a file that `append_json_lines` wrote; empty if there is no file.

    An incomplete last line, left by a full disk or another program, is ignored.
    """
    rows: list[Read] = []
    check_regular(path)
    try:
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        for line in lines:
            torn = not line.endswith(b"\n")
            try:
                rows.append(msgspec.json.decode(line, type=kind))
            except (ValueError, RecursionError):
                if line.strip() and not torn:
                    raise
    except (OSError, ValueError, RecursionError) as error:
        raise _not_as_written(f"Line {len(rows) + 1} of {path}", error) from error
    return rows


def _not_as_written(what: str | Path, error: Exception) -> InputError:
    reason = str(error) or type(error).__name__
    return InputError(f"{what} is not as this version of minaction writes it ({reason}); remove it and make it again.")


def write_tensors(path: str | Path, kind: str, tensors: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
    """Write arrays and a header atomically; large arrays are streamed, so a mapped one needs no memory."""
    from . import __version__

    description = {"kind": kind, "format": FORMAT, "version": __version__, **header}
    entries: dict[str, Any] = {"__metadata__": {"checksum": NO_CHECKSUM, "minaction": json.dumps(description)}}
    position = 0
    for name, tensor in tensors.items():
        end = position + tensor.nbytes
        dtype = _DTYPE_NAMES[tensor.dtype.name]
        entries[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [position, end]}
        position = end
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)  # keep the data aligned, so that it can be memory-mapped as it lies
    with atomic_write(path) as file:
        checksum = digest()
        for part in itertools.chain([struct.pack("<Q", len(text)) + text], _contents(tensors)):
            checksum.update(part)
            file.write(part)
        file.seek(8 + text.index(KEY) + len(KEY))
        file.write(checksum.hexdigest().encode())


def _contents(tensors: Mapping[str, np.ndarray]) -> Iterator[memoryview]:
    """The bytes of the tensors, block by block."""
    for tensor in tensors.values():
        for rows in row_blocks(tensor):
            if rows.size:  # of nothing there is no view
                yield np.ascontiguousarray(rows).data


def read_tensors(path: str | Path, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and header of a file that `write_tensors` wrote as `kind`."""
    header = verified_header(path, kind)
    try:
        with safe_open(str(path), framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, TypeError, AttributeError) as error:  # the last two: a type that NumPy lacks
        raise _unreadable(path, kind) from error


def map_tensors(path: str | Path, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The same as `read_tensors`, but memory-mapped and read-only: nothing is read until it is used."""
    header = _read_header(path, kind)  # also has safetensors check that offsets and file size agree
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        entries = json.loads(file.read(length))
    entries.pop("__metadata__")
    tensors: dict[str, np.ndarray] = {}
    for name, entry in entries.items():
        dtype, shape = _DTYPES.get(entry["dtype"]), tuple(entry["shape"])
        if dtype is None:
            raise _unreadable(path, kind)
        if 0 in shape:  # nothing to map, which is an error to the operating system
            tensors[name] = np.zeros(shape, dtype=dtype)
            continue
        start = 8 + length + entry["data_offsets"][0]
        tensors[name] = np.memmap(path, dtype=dtype, mode="r", offset=start, shape=shape)
    return tensors, header


def verified_header(path: str | Path, kind: str) -> dict[str, Any]:
    """The header of a file whose checksum is right; raises `DamagedFile` otherwise."""
    header = _read_header(path, kind)
    try:
        if is_as_written(path):
            return header
    except (OSError, struct.error) as error:
        raise _unreadable(path, kind) from error
    raise DamagedFile(f"{path} has changed since it was written (its checksum is wrong); write or copy it again.")


def kind_of(path: str | Path) -> str | None:
    """What a file holds that `write_tensors` wrote, such as "model"; None of any other file."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            return json.loads((file.metadata() or {})["minaction"])["kind"]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError):
        return None


def _read_header(path: str | Path, kind: str) -> dict[str, Any]:
    path = Path(path)
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the {kind} file inside it.")
    check_regular(path)
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
        header = json.loads(metadata["minaction"])
        newer, version, found = header["format"] > FORMAT, header["version"], header["kind"]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _unreadable(path, kind) from error
    if newer:
        raise InputError(
            f"{path} was written by a newer version of minaction ({version}); upgrade with "
            "`pip install --upgrade minaction`."
        )
    if found != kind:
        holds = f"{_article(str(found))} {found}"
        raise InputError(f"{path} holds {holds}, not {_article(kind)} {kind}; give another file.")
    return header


def _unreadable(path: str | Path, kind: str) -> InputError:
    kind_of_error = DamagedFile if os.access(path, os.R_OK) else InputError
    return kind_of_error(
        f"{path} is not {_article(kind)} {kind} file of minaction, or it is truncated; write it again."
    )


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"
