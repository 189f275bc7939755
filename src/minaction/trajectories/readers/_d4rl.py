"""HDF5 files in D4RL's layout: observations, terminals and timeouts, one row per step; `_robot_hdf5` has others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import check_regular
from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._checks import list_names, naming, parsing, refuse_if_too_large
from ._ends import say_episodes
from ._layouts import arrange
from ._robot_hdf5 import Demonstrations, episode_files


def read_hdf5(path: Path, keep_actions: bool) -> Trajectories:
    """Episodes end where `terminals` or `timeouts` is set; `next_observations` adds their last states.

    Files of robomimic and ALOHA are laid out otherwise, and ALOHA's are a folder.
    """
    try:
        import h5py
    except ImportError:
        raise MissingExtra(f"Reading {path}", "minari") from None
    demonstrations = Demonstrations(path, keep_actions)
    for part in episode_files(path) or [path]:
        check_regular(part)
        with naming(part), parsing(part, "HDF5"), h5py.File(part, "r") as file:  # damaged ones fail anywhere
            arrays = HDF5Arrays(part, file)
            if demonstrations.take(arrays):
                continue
            if part == path:
                return _flat(arrays, keep_actions)
            raise InputError("It has no 'observations/qpos', as the other episodes of ALOHA do; remove or rename it.")
    with naming(path):
        return demonstrations.joined()


def _flat(arrays: HDF5Arrays, keep_actions: bool) -> Trajectories:
    if "observations" in arrays and not say_episodes(arrays):
        raise InputError(
            "There is no data set 'terminals' or 'timeouts' to say where episodes end "
            f"(it holds {list_names(arrays)}); add one."
        )
    return arrange(arrays, keep_actions)


class HDF5Arrays(Mapping[str, np.ndarray]):
    """The data sets of an HDF5 file, or of a group in it, by name, each checked before it is read."""

    def __init__(self, path: Path, file: Any, within: str = "") -> None:
        self._path, self._file, self._within = path, file, within

    def __getitem__(self, name: str) -> np.ndarray:
        import h5py

        with parsing(self._path, "HDF5"):
            dataset, named = self._checked(name), repr(self._within + name)
            if dataset.dtype.kind not in "biufS" or dataset.shape is None:
                described = "object references" if h5py.check_ref_dtype(dataset.dtype) else str(dataset.dtype)
                raise InputError(f"{self._path}: {named} holds {described}, not numbers; save it as numbers.")
            refuse_if_too_large(self._path, named, dataset.nbytes, dataset.id.get_storage_size())
            return dataset[()]

    def axes(self, name: str) -> int:
        """How many axes an array has, which is not read."""
        with parsing(self._path, "HDF5"):
            return len(self._checked(name).shape or ())

    def group(self, name: str) -> HDF5Arrays | None:
        """The group of that name; None if there is none."""
        import h5py

        if name not in self:
            return None
        with parsing(self._path, "HDF5"):
            refuse_link(self._path, self._within + name, self._file.get(name, getlink=True))
            found = self._file[name]
        return HDF5Arrays(self._path, found, f"{self._within}{name}/") if isinstance(found, h5py.Group) else None

    def _checked(self, name: str) -> Any:
        import h5py

        named = self._within + name
        refuse_link(self._path, named, self._file.get(name, getlink=True))
        dataset = self._file[name]
        if not isinstance(dataset, h5py.Dataset):
            raise InputError(f"{self._path}: {named!r} is a group, not a data set; is this a file of another kind?")
        refuse_elsewhere(self._path, named, dataset)
        return dataset

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
