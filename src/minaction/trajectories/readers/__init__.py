"""One front door for recorded data, `read`: a task's name, a file of a format below, or a Minari data set."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...errors import InputError, MissingExtra
from .._cache import cached
from .._dataset import Trajectories
from ._arrays import read_npy, read_npz
from ._d4rl import read_hdf5
from ._minari import local_folder, looks_like_id, minari_folder, read_minari, read_minari_id
from ._tables import read_csv, read_parquet

_FORMATS = {
    ".safetensors": "safetensors",
    ".npz": "npz",
    ".npy": "npy",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_BEGINNINGS = {b"PK\x03\x04": "npz", b"\x93NUMPY": "npy", b"\x89HDF": "hdf5", b"PAR1": "parquet"}
_READERS = {"npz": read_npz, "hdf5": read_hdf5, "csv": read_csv, "parquet": read_parquet}


def read(
    source: str | Path,
    *,
    keep_actions: bool = False,
    memory_map: bool = False,
    seed: int = 0,
    episodes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Recorded episodes from `source`, without actions and rewards.

    `source` is the name of a task (whose data, of `episodes` episodes, is made with `seed` and cached), a path, or a
    Minari id (`minari:ID` downloads it if need be). `keep_actions` keeps the actions, which planning needs.
    `memory_map` leaves the states in the file and reads them as they are used: for `.safetensors`, float32 `.npy`, and
    tasks. `progress` is called with the episodes made so far and their total.
    """
    try:
        path = Path(source).expanduser()
        is_file, exists = path.is_file(), path.exists()
    except (OSError, RuntimeError) as error:  # a name too long, a closed folder, a home that nobody has
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{str(source)[:200]!r} cannot be looked up ({reason}); check the path.") from error
    if is_file or (isinstance(source, Path) and exists):
        return _read_path(path, keep_actions, memory_map)
    if isinstance(source, Path):
        raise _not_found(str(source), path, None)
    if source.startswith("minari:"):
        _refuse_mapping(source, memory_map)
        return read_minari_id(source.removeprefix("minari:"), keep_actions)
    try:
        return _read_task(source, keep_actions, memory_map, seed, episodes, progress)
    except _UnknownTask as error:
        unknown = error
    if exists:  # a folder; one that happens to be called like a task does not hide the task
        return _read_path(path, keep_actions, memory_map)
    if looks_like_id(source) and local_folder(source) is not None:
        _refuse_mapping(source, memory_map)
        return read_minari_id(source, keep_actions)
    raise _not_found(source, path, unknown)


class _UnknownTask(InputError):
    pass


def _read_task(
    name: str,
    keep_actions: bool,
    memory_map: bool,
    seed: int,
    episodes: int | None,
    progress: Callable[[int, int], None] | None,
) -> Trajectories:
    from ...tasks._registry import get_task

    try:
        task = get_task(name)
    except MissingExtra:
        raise
    except InputError as error:
        raise _UnknownTask(str(error)) from error
    count = task.default_episodes if episodes is None else episodes
    data = cached(
        task.name,
        seed,
        count,
        lambda: task.trajectories(seed, count, progress, keep_actions=True),
        task.recipe_version,
        memory_map=memory_map,
    )
    return _without_actions(data, keep_actions)


def _read_path(path: Path, keep_actions: bool, memory_map: bool) -> Trajectories:
    folder = path.parent if path.name == "main_data.hdf5" else path
    if path.is_dir() or folder is not path:
        folder = minari_folder(folder)
        if folder is not None:
            _refuse_mapping(path, memory_map)
            return read_minari(folder, keep_actions)
    if path.is_dir():
        raise InputError(f"{path} is a folder but not a Minari data set; give the file inside it.")
    kind = _format(path)
    if kind == "safetensors":
        return _without_actions(Trajectories.load(path, memory_map=memory_map), keep_actions)
    if kind == "npy":
        return read_npy(path, memory_map)
    _refuse_mapping(path, memory_map)
    return _READERS[kind](path, keep_actions)


def _format(path: Path) -> str:
    kind = _FORMATS.get(path.suffix.lower())
    if kind is not None:
        return kind
    try:
        with open(path, "rb") as file:
            beginning = file.read(8)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}); check that you may read it.") from error
    for mark, kind in _BEGINNINGS.items():
        if beginning.startswith(mark):
            return kind
    raise InputError(f"{path} is of an unknown kind; known are {', '.join(_FORMATS)} and Minari folders.")


def _without_actions(data: Trajectories, keep_actions: bool) -> Trajectories:
    return data if keep_actions or data.actions is None else replace(data, actions=None)


def _refuse_mapping(source: str | Path, memory_map: bool) -> None:
    if memory_map:
        raise InputError(f"{source} cannot be mapped into memory; convert it to .safetensors first.")


def _not_found(source: str, path: Path, unknown_task: InputError | None) -> InputError:
    try:
        beside = [other.name for other in path.parent.iterdir()]
    except (OSError, ValueError):
        beside = []
    near = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.7)
    hint = f" (did you mean {str(path.parent / near[0])!r}?)" if near else ""
    if unknown_task is None or path.suffix.lower() in _FORMATS or len(path.parts) > 1:
        fetch = f"; for a Minari data set give 'minari:{source}'" if looks_like_id(source) else "; check the path"
        return InputError(f"There is no file {str(path)!r}{hint}{fetch}.")
    message = str(unknown_task)
    return InputError(f"There is no file {source!r}{hint}, and {message[:1].lower()}{message[1:]}")
