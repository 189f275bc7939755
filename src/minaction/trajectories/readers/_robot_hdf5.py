"""HDF5 as robots write it: many demonstrations in a file (robomimic), or a file for every episode (ALOHA).

::

    data/demo_0/obs/robot0_eef_pos (T, 3), ...      robomimic: the vectors among the observations are the
    data/demo_0/actions (T, A)                      state, in the order of their names

    observations/qpos (T, D), action (T, A)         ALOHA: the positions of the joints are the state
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from .._dataset import Trajectories
from ._checks import list_names, refuse_if_too_large
from ._order import by_number

if TYPE_CHECKING:
    from ._d4rl import HDF5Arrays

_EPISODE_FILE = re.compile(r"episode_\d+\.(hdf5|h5)")


class Demonstrations:
    """The states and actions of episodes, as they are found one after the other."""

    def __init__(self, path: Path, keep_actions: bool) -> None:
        self._path, self._keep_actions, self._bytes = path, keep_actions, 0
        self._states: list[np.ndarray] = []
        self._actions: list[np.ndarray] = []
        self._columns: tuple[str, ...] = ()

    def take(self, arrays: HDF5Arrays) -> bool:
        """Add the episodes of a file; False if it is neither robomimic's nor ALOHA's."""
        observations = arrays.group("observations")
        if observations is not None and "qpos" in observations:
            self._add({"qpos": observations["qpos"]}, arrays, "action", "the file")
            return True
        demos = arrays.group("data")
        names = [] if demos is None else [name for name in demos if name.startswith("demo")]
        if observations is not None or demos is None or not names:
            return False
        for name in sorted(names, key=lambda name: by_number(Path(name))):
            demo = demos.group(name)
            seen = None if demo is None else demo.group("obs")
            if demo is None or seen is None:
                raise InputError(
                    f"There is no group 'data/{name}/obs', in which robomimic keeps observations; write the file again."
                )
            vectors = {key: seen[key] for key in sorted(seen) if 0 < seen.axes(key) < 3}
            if not vectors:
                raise InputError(
                    f"The observations of {name!r} are images alone ({list_names(seen)}); record vectors beside them, "
                    "or give the images as arrays (Trajectories.from_episodes)."
                )
            self._add(vectors, demo, "actions", repr(name))
        return True

    def joined(self) -> Trajectories:
        """All episodes."""
        return Trajectories.from_episodes(self._states, actions=self._actions or None, columns=self._columns)

    def _add(self, vectors: dict[str, np.ndarray], arrays: HDF5Arrays, actions: str, where: str) -> None:
        parts = {name: vector.reshape(len(vector), -1) for name, vector in vectors.items()}
        if len({len(part) for part in parts.values()}) != 1:
            raise InputError(f"The observations of {where} have different lengths; write the file again.")
        columns = tuple(
            name if part.shape[1] == 1 else f"{name}[{k}]" for name, part in parts.items() for k in range(part.shape[1])
        )
        if other := sorted({*columns} ^ {*(self._columns or columns)}):
            raise InputError(
                f"The observations of {where} differ from those before it in {list_names(other)}; record the same ones."
            )
        self._columns = columns
        self._states.append(np.concatenate(list(parts.values()), axis=1))
        self._bytes += self._states[-1].nbytes
        if self._keep_actions and actions in arrays:
            self._actions.append(arrays[actions])
        refuse_if_too_large(self._path, "the data set", 2 * self._bytes, 2 * self._bytes)  # they are joined in the end


def episode_files(folder: Path) -> list[Path]:
    """ALOHA's files in a folder, in the order of their numbers."""
    try:
        return sorted((file for file in folder.iterdir() if _EPISODE_FILE.fullmatch(file.name.lower())), key=by_number)
    except OSError:  # no folder, or one that may not be looked into
        return []
