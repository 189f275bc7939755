"""NumPy's files, never unpickled: `.npz`, plain or in OGBench's layout, and `.npy`."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from ...errors import InputError
from .._arrays import kept_type
from .._dataset import Trajectories
from ._checks import naming, parsing, refuse_if_too_large
from ._layouts import arrange, leading_axes

_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_BLOCK_VALUES = 1 << 22


def read_npz(path: Path, keep_actions: bool) -> Trajectories:
    """Episodes from an archive of arrays; `_layouts` says which names are understood."""
    with parsing(path, "an .npz archive"):
        archive = zipfile.ZipFile(path)
    with archive, naming(path):
        arrays = _ZippedArrays(path, archive)
        if not arrays:
            raise InputError(
                "It is an archive without NumPy arrays, so another format; convert it to .csv, .parquet or .npz."
            )
        return arrange(arrays, keep_actions)


def read_npy(path: Path, memory_map: bool) -> Trajectories:
    """Episodes from a single array of states; `_layouts` says what its axes mean."""
    with parsing(path, "an .npy array"), open(path, "rb") as file:
        shape, fortran_order, dtype = _array_header(file, path, "the array", path.stat().st_size)
        start = file.tell()
    if memory_map:
        if dtype != kept_type(dtype) or fortran_order:
            raise InputError(
                f"{path} holds {dtype} in {'column' if fortran_order else 'row'} order; to be memory-mapped it must be "
                "in row order and of type float32, float64, bool or an integer of 8 or 16 bits, so convert it first."
            )
        if dtype.kind == "f":
            with naming(path):
                size = math.prod(shape[leading_axes(len(shape)) :])
            _check_finite(path, start, dtype, size)
    else:
        num_bytes = math.prod(shape) * dtype.itemsize
        refuse_if_too_large(path, "the array", num_bytes, num_bytes)
    with parsing(path, "an .npy array"):
        array = np.load(path, mmap_mode="r" if memory_map else None, allow_pickle=False)
    with naming(path):
        return arrange({"states": array}, keep_actions=False)


class _ZippedArrays(Mapping[str, np.ndarray]):
    """The arrays of an archive by name; each is checked, then unpacked, when it is asked for."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        self._members = {
            info.filename.removesuffix(".npy"): info for info in archive.infolist() if info.filename.endswith(".npy")
        }

    def __getitem__(self, name: str) -> np.ndarray:
        info = self._members[name]
        what = f"array {name!r}"
        refuse_if_too_large(self._path, what, info.file_size, info.compress_size)
        with parsing(self._path, "an .npz archive"):
            with self._archive.open(info) as file:
                _array_header(file, self._path, what, info.file_size)
            with self._archive.open(info) as file:
                return np.lib.format.read_array(file, allow_pickle=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def _array_header(file: IO[bytes], path: Path, what: str, num_bytes: int) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type of the array that begins here; refused unless the file is as long as they say."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADER_READERS:
        raise InputError(f"{path}: {what} is in version {version} of NumPy's format; save it again with np.save.")
    shape, fortran_order, dtype = _HEADER_READERS[version](file)
    if dtype.hasobject:
        raise InputError(
            f"{path}: {what} holds Python objects, and unpacking those could run any program; save numbers."
        )
    if dtype.kind not in "biufUS" or dtype.itemsize == 0:
        raise InputError(f"{path}: {what} is of type {dtype}, not numbers; convert it first.")
    announced = file.tell() + math.prod(shape) * dtype.itemsize
    if announced != num_bytes:
        raise InputError(
            f"{path}: {what} should take {announced} bytes but {num_bytes} are there, so it is truncated or "
            "damaged; make or download it again."
        )
    return shape, fortran_order, dtype


def _check_finite(path: Path, start: int, dtype: np.dtype, size: int) -> None:
    """Refuse states of `size` numbers that are not finite in float32, which networks compute in."""
    # Read, not mapped: mapped pages would count as used memory, which is what mapping is meant to save.
    with open(path, "rb") as file:
        file.seek(start)
        done = 0
        while len(block := np.fromfile(file, dtype=dtype, count=_BLOCK_VALUES)):
            with np.errstate(over="ignore"):
                bad = ~np.isfinite(block.astype(np.float32, copy=False))
            if bad.any():
                row = (done + int(np.argmax(bad))) // size
                raise InputError(
                    f"{path}: state {row} holds NaN, infinity or a number too large for float32; "
                    "remove or repair that row."
                )
            done += len(block)
