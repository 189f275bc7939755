"""LeRobot data sets, versions 2 and 3 of their layout: a folder with meta/info.json and Parquet files below data/.

::

    meta/info.json                                    version, number of frames, and what each key holds ("features")
    data/chunk-000/episode_000000.parquet             version 2: an episode to a file
    data/chunk-000/file-000.parquet                   version 3: many episodes to a file

Keys are columns: `observation.state` and the like are lists of numbers. A camera is a state by itself, if named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._files import check_regular
from ..._mapped import read_rows
from ...errors import InputError
from .._dataset import Trajectories
from ._checks import list_names, naming, parsing
from ._columns import Column, Roles, TableOptions
from ._lerobot_images import is_seen, read_images
from ._names import SUCCESS
from ._parquet import import_arrow, read_columns
from ._tables import from_arrow

_INFO = Path("meta") / "info.json"
_NUMBERS = re.compile(r"(float|u?int)\d+|bool")
_OBSERVATION = "observation."
_MOST_NUMBERS = 10_000  # of a key: more are an image


def is_lerobot(path: Path) -> bool:
    """Whether a folder is a LeRobot data set."""
    try:
        check_regular(path / _INFO)
        described = json.loads((path / _INFO).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(described, dict) and "codebase_version" in described


def read_lerobot(folder: Path, keep_actions: bool, options: TableOptions | None) -> Trajectories:
    """The episodes of a data set; unless keys are named, all low-dimensional `observation.*` make the state."""
    with naming(folder), parsing(folder, "a LeRobot data set"):
        import_arrow(folder)
        info = json.loads((folder / _INFO).read_text("utf-8"))
        features = info["features"]
        chosen = _chosen(features, options or TableOptions())
        camera = next((name for name in chosen.states if is_seen(features[name])), None)
        files = sorted((folder / "data").rglob("*.parquet"), key=_place)
        if not files:
            raise InputError("There are no Parquet files below data/; download the data set again.")
        actions = ["action"] if keep_actions and "action" in features else []
        numbers = () if camera else chosen.states
        success = [name for name in ((chosen.success,) if chosen.success else SUCCESS) if name in features][:1]
        table = read_columns(files, ["episode_index", chosen.time or "timestamp", *numbers, *actions, *success])
        if table.num_rows != info.get("total_frames", table.num_rows):
            raise InputError(
                f"meta/info.json counts {info['total_frames']} frames, but the files below data/ hold "
                f"{table.num_rows}; download the data set again."
            )
        if camera is not None:  # the number of each row stands for its picture
            table = table.append_column(camera, [np.arange(table.num_rows, dtype=np.float64)])
        roles = Roles(table.column_names, replace(chosen, unit=chosen.unit or "s"))
        data = from_arrow(table, roles, keep_actions, lambda column: _named(column, features))
        if camera is None:
            return data
        frames = read_images(folder, camera, features[camera]["dtype"], files, chosen.resize)
        if frames.num_states != table.num_rows:
            raise InputError(
                f"The camera {camera!r} has {frames.num_states} frames, but the files below data/ hold "
                f"{table.num_rows}; download the data set again."
            )
        rows = data.states[:, 0].astype(np.int64)
        whole = np.array_equal(rows, np.arange(frames.num_states))
        return replace(data, states=frames.states if whole else read_rows(frames.states, rows), columns=())


def _chosen(features: Mapping[str, Any], options: TableOptions) -> TableOptions:
    """The options with the keys of the state filled in."""
    low = [name for name, feature in features.items() if _is_low_dimensional(feature)]
    seen = [name for name, feature in features.items() if is_seen(feature)]
    states = options.states or tuple(name for name in low if name.startswith(_OBSERVATION) and name not in options.drop)
    choices = list_names([*(name for name in low if name.startswith(_OBSERVATION)), *seen] or low)
    for name in states:
        if name not in (*low, *seen):
            what = f"holds {features[name].get('dtype')}s" if name in features else "is not among its keys"
            raise InputError(f"The key {name!r} {what}; choose among {choices} (--states).")
        if name in seen and len(states) > 1:
            raise InputError(f"The camera {name!r} makes a state by itself; name it alone (--states {name}).")
    if not states:
        raise InputError(f"There is no low-dimensional key 'observation.*'; choose among {choices} (--states).")
    if options.resize is not None and not set(seen) & set(states):
        raise InputError("Only what a camera saw can be resized; choose one (--states), or leave out --resize.")
    return replace(options, episode=("episode_index",), time=options.time or "timestamp", states=states, drop=())


def _is_low_dimensional(feature: Mapping[str, Any]) -> bool:
    size = 1
    for length in feature.get("shape", (1,)):
        size *= int(length)
    return bool(_NUMBERS.fullmatch(str(feature.get("dtype")))) and size <= _MOST_NUMBERS


def _place(path: Path) -> list[int]:
    """Chunk and file by number: names grow longer than their zeros."""
    return [int(number) for part in path.parts[-2:] for number in re.findall(r"\d+", part)]


def _named(column: Column, features: Mapping[str, Any]) -> Column:
    """A column whose parts are called as the data set calls them: a list, or one list below some name."""
    names = features.get(column.name, {}).get("names")
    while isinstance(names, dict) and len(names) == 1:
        names = next(iter(names.values()))
    if not isinstance(names, list) or len(names) != column.values.shape[1]:
        return column
    return replace(column, labels=tuple(f"{column.name}.{name}" for name in names))
