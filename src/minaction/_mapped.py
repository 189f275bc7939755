"""Reading memory-mapped files larger than memory: pages are requested together and released after use."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np

_BLOCK_BYTES = 1 << 26
# Reading a row loads the 64 KiB of pages around it: this many rows leave at most 256 MiB resident.
_ROWS_AT_A_TIME = 4096


def row_blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """`array` in blocks of rows of a few dozen MiB; of a mapped array, only one block is in memory at a time."""
    mapping = _mapping(array)
    if mapping is not None:
        mapping.madvise(mmap.MADV_SEQUENTIAL)
    if array.ndim == 0 or array.nbytes <= _BLOCK_BYTES:
        yield array
    else:
        rows = max(1, _BLOCK_BYTES // (array.nbytes // len(array)))
        for start in range(0, len(array), rows):
            yield array[start : start + rows]
            release_pages(array)
    release_pages(array)


def read_rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """array[rows], from anywhere in a mapped file, without keeping its pages in memory."""
    order = np.argsort(rows)  # from front to back
    found = np.empty((len(rows), *array.shape[1:]), array.dtype)
    for part in np.split(order, range(_ROWS_AT_A_TIME, len(order), _ROWS_AT_A_TIME)):
        _ask_for(array, rows[part])
        found[part] = array[rows[part]]
        release_pages(array)
    return found


def release_pages(array: np.ndarray) -> None:
    """Release the pages of a mapped file, or resident memory would grow to the size of the file."""
    mapping = _mapping(array)
    # Not for a private mapping, which may have changes that are not in the file.
    if mapping is not None and array.mode in ("r", "r+"):  # type: ignore[attr-defined]
        mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: np.ndarray) -> mmap.mmap | None:
    """The mapping behind an array, if there is one and the system supports `madvise`."""
    mapping = getattr(array, "_mmap", None)
    return mapping if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None


def _ask_for(array: np.ndarray, rows: np.ndarray) -> None:
    """Have the system fetch exactly these rows, all at once.

    By default it waits for one page at a time and reads ahead of each: thirty times slower if the file is not in the
    system's cache.
    """
    mapping = _mapping(array)
    if mapping is None or not array.flags.c_contiguous or len(rows) == 0:
        return
    mapping.madvise(mmap.MADV_RANDOM)
    row_bytes = array.nbytes // len(array)
    begin = array.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data + rows.astype(np.int64) * row_bytes
    first, last = begin // mmap.PAGESIZE, (begin + row_bytes - 1) // mmap.PAGESIZE
    for page, end in dict.fromkeys(zip(first.tolist(), last.tolist(), strict=True)):
        mapping.madvise(mmap.MADV_WILLNEED, page * mmap.PAGESIZE, (end + 1 - page) * mmap.PAGESIZE)
