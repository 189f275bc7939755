"""HDF5 files in D4RL's layout: observations, terminals and timeouts, one row per step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._checks import list_names, naming, parsing, refuse_if_too_large
from ._layouts import ENDS, arrange


def read_hdf5(path: Path, keep_actions: bool) -> Trajectories:
    """Episodes end where `terminals` or `timeouts` is set; `next_observations` adds their last states."""
    try:
        import h5py
    except ImportError:
        raise MissingExtra(f"Reading {path}", "minari") from None
    with naming(path), parsing(path, "HDF5"), h5py.File(path, "r") as file:  # damaged ones fail anywhere
        arrays = _HDF5Arrays(path, file)
        if "observations" in arrays and not any(name in arrays for name in (*ENDS, "valids", "offsets")):
            raise InputError(
                "There is no data set 'terminals' or 'timeouts' to say where episodes end "
                f"(it holds {list_names(arrays)}); add one."
            )
        return arrange(arrays, keep_actions)


class _HDF5Arrays(Mapping[str, np.ndarray]):
    """The data sets at the top of an HDF5 file by name, each checked before it is read."""

    def __init__(self, path: Path, file: Any) -> None:
        self._path = path
        self._file = file

    def __getitem__(self, name: str) -> np.ndarray:
        import h5py

        with parsing(self._path, "HDF5"):
            refuse_link(self._path, name, self._file.get(name, getlink=True))
            dataset = self._file[name]
            if not isinstance(dataset, h5py.Dataset):
                raise InputError(f"{self._path}: {name!r} is a group, not a data set; is this a file of another kind?")
            refuse_elsewhere(self._path, name, dataset)
            if dataset.dtype.kind not in "biufS" or dataset.shape is None:
                described = "object references" if h5py.check_ref_dtype(dataset.dtype) else str(dataset.dtype)
                raise InputError(f"{self._path}: {name!r} holds {described}, not numbers; save it as numbers.")
            refuse_if_too_large(self._path, repr(name), dataset.nbytes, dataset.id.get_storage_size())
            return dataset[()]

    def __contains__(self, name: object) -> bool:
        return name in self._file.keys()  # noqa: SIM118 (h5py resolves links for `in file`)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.keys())

    def __len__(self) -> int:
        return len(self._file.keys())


def refuse_link(path: Path, name: str, link: Any) -> None:
    """Data in another file is not this file's, and an untrusted file could name any; a soft link may lead there too."""
    import h5py

    if isinstance(link, h5py.ExternalLink):
        raise InputError(f"{path}: {name!r} is a link to another file; give that file instead.")
    if isinstance(link, h5py.SoftLink):
        raise InputError(f"{path}: {name!r} is a link; copy the data to its place.")


def refuse_elsewhere(path: Path, name: str, dataset: Any) -> None:
    """Refuse a data set whose numbers lie in other files."""
    if dataset.external or dataset.is_virtual:
        raise InputError(f"{path}: the numbers of {name!r} lie in other files; copy them into one first.")
