"""Data sets in the user's cache folder: verified when they are read, made again when in doubt."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import platformdirs

from .._files import map_tensors
from .._mapped import row_blocks
from ..errors import InputError
from ..trajectories import Trajectories

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where data sets are cached; it can be deleted at any time."""
    return Path(platformdirs.user_cache_dir("minaction")) / "data"


def cache_path(task_name: str, seed: int, episodes: int | None) -> Path:
    """The file in the cache that holds this data set, if any does."""
    plain_name = re.sub(r"[^\w.-]", "_", task_name)
    size = "" if episodes is None else f"-episodes{episodes}"
    return cache_folder() / f"{plain_name}{size}-seed{seed}.safetensors"


def cached(
    task_name: str,
    seed: int,
    episodes: int | None,
    make: Callable[[], Trajectories],
    recipe_version: int | str,
    *,
    memory_map: bool = False,
) -> Trajectories:
    """The data set of a task: from the cache if it is there, intact and of this recipe, otherwise from `make`.

    `episodes` is part of the identity (None: the task has one size only). `recipe_version` changes whenever `make`
    would give different data, so it may include the version of a simulator. Where the cache folder cannot be written,
    the data is made and not kept.
    """
    path = cache_path(task_name, seed, episodes)
    identity = {"task": task_name, "seed": seed, "episodes": episodes, "recipe": str(recipe_version)}
    kept = _load(path, identity, memory_map)
    if kept is not None:
        return kept
    data = make()
    try:
        data.save(path, {**identity, "checksum": _checksum(data)})
    except InputError as error:
        _log.warning("The data of %s was made but could not be cached: %s", task_name, error)
        return data
    return Trajectories.load(path, memory_map=True) if memory_map else data


def _load(path: Path, identity: dict[str, object], memory_map: bool) -> Trajectories | None:
    """What the cache holds, or None where it is missing, different or damaged."""
    try:
        _, header = map_tensors(path, "trajectories")
        made = header["made"]
        different = [key for key, value in identity.items() if made.get(key) != value]
        if different == ["recipe"]:
            _log.warning(
                "The cached data of %s was made by recipe %s; this is recipe %s, so it is made again.",
                *(identity["task"], made.get("recipe"), identity["recipe"]),
            )
        if different:
            return None
        data = Trajectories.load(path, memory_map=memory_map)
        if _checksum(data) != made.get("checksum"):
            return None
    except (InputError, AttributeError, KeyError):
        return None
    return data


def _checksum(data: Trajectories) -> str:
    """Covers every array with its type and shape; unlike the fingerprint, the actions too."""
    digest = hashlib.sha256()
    for name in ("states", "offsets", "times", "actions"):
        array: np.ndarray | None = getattr(data, name)
        if array is None:
            continue
        digest.update(f"{name} {array.dtype} {array.shape};".encode())
        for rows in row_blocks(array):
            digest.update(np.ascontiguousarray(rows).data)
    return digest.hexdigest()
