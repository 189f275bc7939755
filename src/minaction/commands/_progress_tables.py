"""The two tables that `minaction progress` writes, and what they may replace: nothing but such tables."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._files import atomic_write
from .._remaining import Progress
from ..errors import InputError, MissingExtra
from ..trajectories import Trajectories

_OF_STATES = (
    *("index", "episode_index", "frame_index", "time"),
    *("remaining", "done", "waste", "wasted", "progress_sparse"),
)
_OF_EPISODES = ("rank", "episode_index", "episode", "took", "lost", "remaining_at_end", "finished", "finished_at")


def summary_of(out: Path) -> Path:
    """Where the table of episodes is written, beside that of states."""
    return out.with_name(f"{out.stem}-episodes{out.suffix}")


def check_outputs(recording: str, out: Path, figures: Path | None) -> None:
    """Refuse to write in the place of the recording, or of a table that this command did not write."""
    for path, columns in ((out, _OF_STATES), (summary_of(out), _OF_EPISODES)):
        if _is_same(Path(recording), path):
            raise InputError(f"{path} would take the place of the recording; give another name with --out.")
        if path.exists() and _columns_of(path) not in (None, columns):
            raise InputError(
                f"{path} is there and is not a table that `minaction progress` wrote; give another name with --out."
            )
    if figures is not None and _is_same(Path(recording), figures):
        raise InputError(f"{figures} is the recording itself; give another folder with --figures.")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one.expanduser(), other)
    except (OSError, RuntimeError, ValueError):  # one is missing, or the name of a task, or of no user's home
        return False


def _columns_of(path: Path) -> tuple[str, ...] | None:
    """The names of the columns of a table; empty where it is none, and None where the file is empty."""
    if not path.is_file():
        return ()  # a folder, or something that will not be written to
    if path.stat().st_size == 0:
        return None
    if path.suffix.lower() == ".parquet":
        return _columns_of_parquet(path)
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        return tuple(file.readline(10_000).rstrip("\r\n").split(","))


def _columns_of_parquet(path: Path) -> tuple[str, ...]:
    parquet = _pyarrow(path)[1]
    try:
        return tuple(parquet.read_schema(path).names)
    except (OSError, ValueError):  # pyarrow's own errors are both
        return ()


def write_states(path: Path, data: Trajectories, episodes: Sequence[Progress]) -> None:
    """A row for every state; `index`, `episode_index` and `progress_sparse` are what LeRobot's RA-BC reads."""
    done = np.concatenate([one.done for one in episodes])
    columns = (
        np.arange(data.num_states),
        np.repeat(np.arange(len(data)), data.lengths),
        np.concatenate([np.arange(length) for length in data.lengths]),
        np.concatenate([one.times for one in episodes]),
        np.concatenate([one.remaining for one in episodes]),
        done,
        np.concatenate([one.waste for one in episodes]),
        np.concatenate([one.wasted for one in episodes]).astype(np.int8),
        done.astype(np.float32),
    )
    _write(path, dict(zip(_OF_STATES, columns, strict=True)))


def write_episodes(path: Path, episodes: Sequence[Progress], order: Sequence[int], names: Sequence[str]) -> None:
    """A row for every episode, the best first."""
    chosen = [episodes[k] for k in order]
    columns = (
        np.arange(1, len(order) + 1),
        np.array(order),
        np.array([names[k] for k in order]),
        np.array([one.times[-1] - one.times[0] for one in chosen]),
        np.array([one.lost for one in chosen]),
        np.array([one.remaining[-1] for one in chosen], np.float64),
        np.array([one.finished for one in chosen]).astype(np.int8),
        np.array([-1 if one.finished_at is None else one.finished_at for one in chosen]),
    )
    _write(path, dict(zip(_OF_EPISODES, columns, strict=True)))


def _write(path: Path, columns: dict[str, np.ndarray]) -> None:
    if path.suffix.lower() == ".parquet":
        arrow, parquet = _pyarrow(path)
        with atomic_write(path) as file:
            parquet.write_table(arrow.table(columns), file)
        return
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(columns)
    rows.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(f"Writing {path}", "tables") from None
    return pyarrow, pyarrow.parquet
