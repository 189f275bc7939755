"""NumPy's own files, never unpickled: `.npz`, plain or laid out as OGBench does, and `.npy`."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from ...errors import InputError
from .._dataset import Trajectories
from ._checks import naming, parsing, refuse_if_too_large
from ._layouts import arrange

_HEADER_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_BLOCK_VALUES = 1 << 22


def read_npz(path: Path, keep_actions: bool) -> Trajectories:
    """Episodes from an archive of arrays; `layouts` says which names are understood."""
    with parsing(path, "an .npz archive"):
        archive = zipfile.ZipFile(path)
    with archive, naming(path):
        return arrange(_ZippedArrays(path, archive), keep_actions)


def read_npy(path: Path, memory_map: bool) -> Trajectories:
    """One array: (steps, numbers) is one episode, (episodes, steps, numbers) are equally long ones."""
    with parsing(path, "an .npy array"), open(path, "rb") as file:
        shape, fortran_order, dtype = _array_header(file, path, "the array", path.stat().st_size)
        start = file.tell()
    if memory_map:
        if dtype != np.float32 or fortran_order:
            raise InputError(
                f"{path} holds {dtype} in {'column' if fortran_order else 'row'} order; to be mapped into "
                "memory it must be float32 in row order, so convert it first."
            )
        _check_finite(path, start, shape)
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
    """Shape, order and type of the array that begins here, refused unless the file is as long as they say."""
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


def _check_finite(path: Path, start: int, shape: tuple[int, ...]) -> None:
    # Read, not mapped: mapped pages would count as used memory, which is what mapping is to spare.
    width = shape[-1] if len(shape) > 1 else 1
    with open(path, "rb") as file:
        file.seek(start)
        done = 0
        while len(block := np.fromfile(file, dtype=np.float32, count=_BLOCK_VALUES)):
            bad = ~np.isfinite(block)
            if bad.any():
                row = (done + int(np.argmax(bad))) // width
                raise InputError(f"{path}: state {row} holds NaN or infinity; remove or repair that row.")
            done += len(block)
