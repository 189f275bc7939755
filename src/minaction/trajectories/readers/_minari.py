"""Minari data sets: a folder on disk, or an id that Minari finds locally or downloads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._files import check_regular
from ...errors import InputError, MissingExtra
from .._arrays import kept_type
from .._dataset import Trajectories
from ._checks import naming, parsing, refuse_if_too_large
from ._d4rl import refuse_elsewhere, refuse_link
from ._parquet import import_arrow, unpacked_sizes

if TYPE_CHECKING:
    import gymnasium

_ID = re.compile(r"[-\w]+(/[-\w]+)*-v\d+")
_TABLES = ("arrow", "parquet")  # in which Minari keeps a file for every episode
_GOAL_KEYS = {"observation", "achieved_goal", "desired_goal"}


def looks_like_minari_id(source: str) -> bool:
    """Whether `source` has the form of a Minari id, such as D4RL/pointmaze/umaze-v2."""
    return _ID.fullmatch(source) is not None


def minari_folder(path: Path) -> Path | None:
    """The folder with a Minari data set's `metadata.json`: `path` or the `data` inside it; otherwise None."""
    return next((folder for folder in (path / "data", path) if (folder / "metadata.json").is_file()), None)


def local_minari_folder(dataset_id: str) -> Path | None:
    """The folder of the data set `dataset_id` on this machine, or None if Minari has no local copy."""
    try:
        from minari.storage import get_dataset_path
    except ImportError:
        return None
    try:
        return minari_folder(get_dataset_path(dataset_id))
    except OSError:  # Minari creates its folder when asked for it, which it may not be allowed to
        return None


def read_minari_id(dataset_id: str, keep_actions: bool) -> Trajectories:
    """The data set with that id: the local copy, or else one that Minari downloads."""
    if not looks_like_minari_id(dataset_id):
        raise InputError(f"{dataset_id!r} is no Minari id; give one such as minari:D4RL/pointmaze/umaze-v2.")
    try:
        import minari
    except ImportError:
        raise MissingExtra(f"Reading the Minari data set {dataset_id}", "minari") from None
    folder = local_minari_folder(dataset_id)
    if folder is None:
        try:
            minari.download_dataset(dataset_id)
        except Exception as error:  # from the network, the cloud's client or Minari: all mean the same here
            reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
            raise InputError(
                f"The Minari data set {dataset_id} is not on this machine and could not be downloaded "
                f"({reason}); check the id and the network, or download it elsewhere and give its folder."
            ) from error
        folder = local_minari_folder(dataset_id)
    if folder is None:
        raise InputError(f"Minari downloaded {dataset_id}, but its data is not where it should be; try again.")
    return read_minari(folder, keep_actions)


def read_minari(folder: Path, keep_actions: bool) -> Trajectories:
    """Episodes of a Minari data set in `folder`, which holds its `metadata.json`.

    Observations of a `Box`, images among them, keep their shape and type. All others are flattened as by Gymnasium: a
    choice among n becomes n numbers, one of them 1. Of a goal-conditioned observation only the `observation` part is
    the state.
    """
    try:
        import minari
    except ImportError:
        raise MissingExtra(f"Reading the Minari data set in {folder}", "minari") from None
    with parsing(folder, "a Minari data set"):
        metadata = json.loads((folder / "metadata.json").read_text("utf-8"))
        if not all(isinstance(metadata.get(key), str) for key in ("observation_space", "action_space")):
            # Without these Minari would build the environment that the file names, which can be any program.
            raise InputError(f"{folder}: the metadata lacks the spaces; write it again with a newer Minari.")
        data_format = metadata.get("data_format")
        if data_format == "hdf5":
            _refuse_too_large(folder)
        elif data_format in _TABLES:
            _refuse_too_large_tables(folder, data_format)
        dataset = minari.MinariDataset(str(folder))
        return episodes_of_minari(dataset, str(folder), keep_actions)


def episodes_of_minari(dataset: Any, name: str, keep_actions: bool) -> Trajectories:
    """The episodes of an opened data set."""
    episodes, actions, num_bytes = [], [], 0
    for episode in dataset.iterate_episodes():
        where = f"{name}: episode {episode.id}"
        episodes.append(as_states_of(dataset.observation_space, episode.observations, where))
        if keep_actions:
            taken = as_numbers_of(dataset.action_space, episode.actions, f"{where} (actions)")
            actions.append(np.concatenate([taken, np.zeros((1, taken.shape[1]), dtype=np.float32)]))
            num_bytes += actions[-1].nbytes
        num_bytes += episodes[-1].nbytes
        refuse_if_too_large(name, "the data set", 2 * num_bytes, 2 * num_bytes)  # they are joined in the end
    with naming(name):
        found = Trajectories.from_episodes(episodes, actions=actions if keep_actions else None)
        steps = found.num_states - len(episodes)
        if steps != dataset.total_steps:  # of a table Minari reads the first 131,072 rows
            raise InputError(
                f"The metadata counts {dataset.total_steps} steps, but Minari reads {steps}; make or download it "
                "again, as HDF5 if episodes are that long."
            )
        return found


def as_states_of(space: gymnasium.Space, values: Any, where: str) -> np.ndarray:
    """The states of an episode, (T, *shape)."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict) and space.spaces.keys() >= _GOAL_KEYS:  # goals are chosen: no part of the state
        return as_states_of(space["observation"], values["observation"], where)
    if isinstance(space, spaces.Box) and space.shape:
        array = _numbers(values, where)
        return array.reshape(len(array), *(array.shape[1:] or (1,))).astype(kept_type(array.dtype), copy=False)
    return as_numbers_of(space, values, where)


def as_numbers_of(space: gymnasium.Space, values: Any, where: str) -> np.ndarray:
    """One row of float32 per step, as `gymnasium.spaces.flatten` would give for each."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        if space.spaces.keys() >= _GOAL_KEYS:
            return as_numbers_of(space["observation"], values["observation"], where)
        return np.concatenate([as_numbers_of(part, values[name], where) for name, part in space.items()], axis=1)
    if isinstance(space, spaces.Tuple):
        return np.concatenate([as_numbers_of(part, values[k], where) for k, part in enumerate(space)], axis=1)
    array = _numbers(values, where)
    if isinstance(space, spaces.Discrete):
        return _one_hot(array.reshape(-1) - int(space.start), int(space.n), where)
    if isinstance(space, spaces.MultiDiscrete):
        choices = array.reshape(len(array), -1) - space.start.ravel()
        parts = [_one_hot(choices[:, k], int(n), where) for k, n in enumerate(space.nvec.ravel())]
        return np.concatenate(parts, axis=1)
    width = array.size // len(array) if len(array) else int(np.prod(space.shape or (1,)))
    return array.reshape(len(array), width).astype(np.float32)


def _numbers(values: Any, where: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim == 0:
        raise InputError(f"{where} holds {array.dtype}, not numbers; states must be numbers.")
    return array


def _one_hot(choices: np.ndarray, count: int, where: str) -> np.ndarray:
    if ((choices < 0) | (choices >= count)).any():
        raise InputError(f"{where} holds a choice that is not among its {count}; write the data set again.")
    num_bytes = 4 * len(choices) * count
    refuse_if_too_large(where, f"a choice among {count} at every step", num_bytes, num_bytes)
    rows = np.zeros((len(choices), count), dtype=np.float32)
    rows[np.arange(len(choices)), choices.astype(np.int64)] = 1.0
    return rows


def _refuse_too_large(folder: Path) -> None:
    import h5py

    path = folder / "main_data.hdf5"
    check_regular(path)
    num_bytes = stored_bytes = 0
    datasets: list[tuple[str, Any]] = []

    def add(name: str, item: Any) -> None:
        nonlocal num_bytes, stored_bytes
        if isinstance(item, h5py.Dataset):  # rewards and the like too, since Minari reads all of them
            datasets.append((name, item))
            num_bytes += item.nbytes
            stored_bytes += item.id.get_storage_size()

    with h5py.File(path, "r") as file:
        # What is raised while HDF5 visits comes out as something else, so it is raised afterwards.
        found = file.visititems_links(lambda name, link: None if isinstance(link, h5py.HardLink) else (name, link))
        if found is not None:
            refuse_link(path, *found)
        file.visititems(add)
        for name, item in datasets:
            refuse_elsewhere(path, name, item)
        _refuse_unequal(path, {name: item.shape[:1] for name, item in datasets})
    refuse_if_too_large(path, "the data set", num_bytes, stored_bytes)


def _refuse_too_large_tables(folder: Path, data_format: str) -> None:
    """Look at what the columns of all episodes need before Minari reads them."""
    import_arrow(folder)
    import pyarrow.dataset as dataset
    import pyarrow.parquet as parquet

    num_bytes = stored_bytes = 0
    for path in folder.rglob("*"):
        check_regular(path)
        if path.is_dir() or path.name == "metadata.json":
            continue
        stored_bytes += path.stat().st_size
        if data_format == "parquet":
            file = parquet.ParquetFile(path)
            num_bytes += max(unpacked_sizes({path: file}, file.schema_arrow.names))
            refuse_if_too_large(folder, "the data set", num_bytes, stored_bytes)
        else:
            table = dataset.dataset(path, format=data_format)
            num_bytes += table.count_rows() * sum(_width(field.type) for field in table.schema)
            refuse_if_too_large(folder, "the data set", num_bytes, stored_bytes)
            table.to_table().validate(full=True)  # else a damaged length would end the process


def _width(kind: Any) -> int:
    """How many bytes a value of an Arrow type takes, at least."""
    from pyarrow.types import is_fixed_size_list, is_primitive, is_struct

    if is_fixed_size_list(kind):
        return kind.list_size * _width(kind.value_type)
    if is_struct(kind):
        return sum(_width(part.type) for part in kind)
    return -(-kind.bit_width // 8) if is_primitive(kind) else 1


def _refuse_unequal(path: Path, lengths: dict[str, tuple[int, ...]]) -> None:
    """Of every step there is one reward and one end: a damaged length would have Minari look for millions of them."""
    for name, length in lengths.items():
        episode, _, part = name.rpartition("/")
        rewards = lengths.get(f"{episode}/rewards", length)
        if part in ("terminations", "truncations") and length != rewards:
            raise InputError(f"{path}: {name} has {length} numbers for {rewards} rewards; make or download it again.")
