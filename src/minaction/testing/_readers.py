"""The laws of a reader."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..trajectories import READERS, Reader, Trajectories, read_file
from ..trajectories.readers._read import _reader_for
from ._laws import attempting, check_registered, require

_SIGNATURE_BYTES = 8  # of a file's beginning that are looked at


def check_reader(reader: Reader | type[Reader] | str, path: str | Path) -> None:
    """Check that a reader is found for its files and reads them as it promises.

    A file is recognised by its ending, or by how it begins where the ending is another. The same file gives the same
    episodes every time, with actions only where they are asked for, and mapped into memory if `mappable`. A file that
    is no data is refused with an `InputError` that names it.

    Args:
        reader: an object, its class, or its name.
        path: a file (or folder) of its format, which is left as it is.

    Raises:
        AssertionError: where a law fails, with the law and the numbers.

    >>> import tempfile
    >>> import numpy as np
    >>> from minaction.testing import check_reader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/log.npy", np.zeros((5, 2), np.float32))
    ...     check_reader("npy", f"{folder}/log.npy")
    """
    found = READERS[reader] if isinstance(reader, str) else reader
    chosen: Reader = found() if isinstance(found, type) else found
    what, path = f"the reader {chosen.name!r}", Path(path)
    check_registered(chosen, what)
    for suffix in chosen.suffixes:
        lower = suffix == suffix.lower() and suffix.startswith(".")
        require(lower, f"Endings are in lower case with their dot: {what} has {suffix!r}.")
    length = len(chosen.signature)
    require(
        length <= _SIGNATURE_BYTES,
        f"A signature has at most {_SIGNATURE_BYTES} bytes, which is what is looked at; that of {what} has {length}.",
    )
    with attempting(f"Reading {path} with {what}"):
        data = _check_reading(chosen, path, what)
        _check_recognition(chosen, path, data, what)
        if path.is_file():
            _check_refusal(chosen, path, what)


def _check_reading(reader: Reader, path: Path, what: str) -> Trajectories:
    data = reader.read(path)
    require(isinstance(data, Trajectories), f"{what} gives {type(data)}, not Trajectories.")
    require(data.actions is None, f"{what} keeps actions that were not asked for.")
    again = reader.read(path, keep_actions=True)
    require(
        again.fingerprint == data.fingerprint,
        f"A file gives the same episodes every time: {what} read {data.fingerprint} and then {again.fingerprint}.",
    )
    if reader.mappable:
        mapped = reader.read(path, memory_map=True)
        require(mapped.is_mapped, f"{what} is mappable, but its states do not stay in the file.")
        require(np.array_equal(mapped.states, data.states), f"{what} gives other states when they are mapped.")
    else:
        try:
            read_file(path, memory_map=True)
        except InputError:
            return data
        raise AssertionError(f"{what} is not mappable, but was asked to map {path}.")
    return data


def _check_recognition(reader: Reader, path: Path, data: Trajectories, what: str) -> None:
    _check_found(reader, path, data, what)
    if not path.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        if reader.suffixes:
            shouting = Path(folder) / f"file{reader.suffixes[0].upper()}"
            shutil.copyfile(path, shouting)
            _check_found(reader, shouting, data, what)
        if reader.signature:
            renamed = Path(folder) / "file.of-another-ending"
            shutil.copyfile(path, renamed)
            _check_found(reader, renamed, data, what)


def _check_found(reader: Reader, path: Path, data: Trajectories, what: str) -> None:
    found = _reader_for(path)
    require(type(found) is type(reader), f"{path.name} should be read by {what}, but {found.name!r} takes it.")
    require(read_file(path).fingerprint == data.fingerprint, f"{what} reads other episodes from {path.name}.")


def _check_refusal(reader: Reader, path: Path, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, contents in (("empty", b""), ("noise", bytes(range(256)) * 4)):
            broken = Path(folder) / f"{name}{path.suffix}"
            broken.write_bytes(contents)
            law = f"A file that is no data is refused with an InputError that names it: {what}"
            try:
                reader.read(broken)
            except InputError as error:
                require(broken.name in str(error), f"{law} says {str(error)!r}.")
            except Exception as error:
                raise AssertionError(f"{law} raises {type(error).__name__}: {error}.") from error
            else:
                raise AssertionError(f"{law} reads {name} bytes as episodes.")
