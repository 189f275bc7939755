"""Reading files larger than memory through a mapping: pages asked for together, and given back once they were used."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np

_BLOCK_BYTES = 1 << 26
# A row that is read brings the pages around it along, 64 KiB of them: so many rows leave at most 256 MiB resident.
_ROWS_AT_A_TIME = 4096


def row_blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """`array` in blocks of rows of a few dozen MiB; of a mapped one, no more than a block stays in memory."""
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
    """array[rows], wherever in a mapped file they lie, without keeping what was read."""
    order = np.argsort(rows)  # from front to back
    found = np.empty((len(rows), *array.shape[1:]), array.dtype)
    for part in np.split(order, range(_ROWS_AT_A_TIME, len(order), _ROWS_AT_A_TIME)):
        _ask_for(array, rows[part])
        found[part] = array[rows[part]]
        release_pages(array)
    return found


def release_pages(array: np.ndarray) -> None:
    """Give back what was read of a mapped file, or resident memory would grow to the size of the file."""
    mapping = _mapping(array)
    # Not where a mapping is private and may hold changes that the file does not.
    if mapping is not None and array.mode in ("r", "r+"):  # type: ignore[attr-defined]
        mapping.madvise(mmap.MADV_DONTNEED)


def _mapping(array: np.ndarray) -> mmap.mmap | None:
    """The mapping behind an array, where there is one and the system takes advice about it."""
    mapping = getattr(array, "_mmap", None)
    return mapping if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None


def _ask_for(array: np.ndarray, rows: np.ndarray) -> None:
    """Have the system fetch these rows and nothing else, all at once.

    Left to itself it waits for one page at a time and reads on behind each: thirty times slower where the file is not
    in the system's cache.
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
