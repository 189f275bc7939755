"""`read_file`: reads a file with the reader for its format."""

from __future__ import annotations

from pathlib import Path

from ..._files import check_regular
from ...errors import InputError
from .._dataset import Trajectories
from ._base import READERS, ImageReader, Reader, TableReader
from ._columns import TableOptions

_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


def read_file(
    path: str | Path, *, keep_actions: bool = False, memory_map: bool = False, table: TableOptions | None = None
) -> Trajectories:
    """Recorded episodes from a file, or from a folder that is a data set; `minaction.read` explains the options."""
    path = Path(path).expanduser()
    check_regular(path)
    reader = _reader_for(path)
    if memory_map and not reader.mappable:
        raise InputError(f"{path} cannot be memory-mapped; convert it to .safetensors first.")
    resize, unit = (None, None) if table is None else (table.resize, table.unit)
    if isinstance(reader, ImageReader) and (table is None or table == TableOptions(resize=resize, unit=unit)):
        return reader.read(path, keep_actions=keep_actions, memory_map=memory_map, resize=resize, unit=unit)
    if resize is not None and not (isinstance(reader, TableReader) and reader.resizes):
        raise InputError(f"{path} cannot be resized, as videos and folders of pictures can; leave it out (--resize).")
    if isinstance(reader, TableReader):
        return reader.read(path, keep_actions=keep_actions, memory_map=memory_map, table=table)
    if table is not None:
        raise InputError(f"{path} is not a table, so that it has no columns to choose; those of CSV and Parquet do.")
    return reader.read(path, keep_actions=keep_actions, memory_map=memory_map)


def takes_options(path: Path) -> bool:
    """Whether `TableOptions` may say how to read a file or a folder: a table, or pictures."""
    try:
        return isinstance(_reader_for(path), TableReader | ImageReader)
    except InputError:
        return False


def column_names(path: Path) -> set[str]:
    """What the columns of a table are called, in lower case; empty where that is not known."""
    reader = _reader_for(path)
    return {name.strip().lower() for name in reader.columns(path)} if isinstance(reader, TableReader) else set()


def known_suffixes() -> list[str]:
    """The endings of all files that can be read, such as ".npz"."""
    return [suffix for reader in _readers() for suffix in reader.suffixes]


def _readers() -> list[Reader]:
    return [found() if isinstance(found, type) else found for found in READERS.usable().values()]


def _reader_for(path: Path) -> Reader:
    readers = _readers()
    for reader in readers:
        if reader.takes_folder(path):
            return reader
    if path.is_dir():
        raise InputError(
            f"{path} is a folder but no data set of Minari, LeRobot or ALOHA, and holds no Parquet files, videos or "
            "pictures; give a file."
        )
    for reader in readers:
        if path.suffix.lower() in reader.suffixes:
            return reader
    if path.suffix.lower() in _SPREADSHEETS:  # before their first bytes, which are those of any archive
        raise InputError(f"{path} is a spreadsheet, which is not read; save the sheet as .csv and give that.")
    try:
        with open(path, "rb") as file:
            beginning = file.read(8)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}); check that you may read it.") from error
    for reader in readers:
        if reader.signature and beginning.startswith(reader.signature):
            return reader
    raise InputError(
        f"{path} is of an unknown format; convert it to .csv, .parquet or .npz (known are "
        f"{', '.join(known_suffixes())}, data sets of Minari, LeRobot and ALOHA, and folders of Parquet files, videos "
        "or pictures)."
    )
