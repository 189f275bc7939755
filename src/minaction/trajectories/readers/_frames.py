"""Frames that are decoded one after the other into a file of ours in the cache folder: never all of them in memory.

The file is made again when one that it was made from changes.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import platformdirs

from ..._files import write_tensors
from ..._progress import counting_progress
from ...errors import InputError
from .._dataset import Trajectories
from ._checks import naming

Size = tuple[int, int]
"""Height and width."""
Frame = tuple[np.ndarray, float | None]
"""The pixels, uint8, and the time in seconds at which they are shown, where the file has one."""

_HELD_BYTES = 2 << 30  # more stay in the file
_VERSION = 2  # of what is kept; raised when the same files would be decoded otherwise
_TICK = 0.01  # seconds: the coarsest clock of a common format, that of GIF, to which times are rounded


def decoded(
    path: Path,
    episodes: Sequence[Sequence[Path]],
    frames: Callable[[Path, Size | None], Iterator[Frame]],
    resize: Size | None,
    memory_map: bool,
) -> Trajectories:
    """The frames of all files, each of `episodes` being some files that follow each other.

    They have times, in seconds, if every frame has one and times increase in every episode.

    Args:
        path: what the data set is called.
        episodes: the files of every episode.
        frames: the frames of a file, all of one shape.
        resize: the height and width to give them; as recorded if None.
        memory_map: whether to leave frames in the file that take little memory.
    """
    kept = _kept_path(path, [file for files in episodes for file in files], resize)
    try:
        Trajectories.load(kept, memory_map=True)
    except InputError:  # not there, or damaged
        with naming(path):
            _keep(path, episodes, frames, resize, kept)
    return Trajectories.load(kept, memory_map=memory_map or kept.stat().st_size > _HELD_BYTES)


def _keep(
    path: Path,
    episodes: Sequence[Sequence[Path]],
    frames: Callable[[Path, Size | None], Iterator[Frame]],
    resize: Size | None,
    kept: Path,
) -> None:
    """Write frame by frame to one file, and from it all to `kept`."""
    total, done = sum(map(len, episodes)), 0
    times: list[list[float | None]] = []  # one for each frame
    first: tuple[Path, np.ndarray] | None = None
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(dir=kept.parent) as folder,
            open(Path(folder) / "frames", "wb") as out,
            counting_progress(f"reading {path}") as progress,
        ):
            for files in episodes:
                times.append([])
                for file in files:
                    for frame, time in frames(file, resize):
                        first = first or (file, frame)
                        _check_alike(*first, file, frame)
                        out.write(np.ascontiguousarray(frame).data)
                        times[-1].append(time)
                    done += 1
                    progress(done, total)
                    if first is not None and len(times[-1]) <= 1:
                        _check_room(kept.parent, first[1].nbytes * (total - done))
            out.flush()
            if first is None:
                raise InputError("There is no frame in it; record at least two.")
            if max(map(len, times)) < 2:
                raise InputError("Every episode has a single frame, so there is no transition; record at least two.")
            states = np.memmap(Path(folder) / "frames", np.uint8, "r").reshape(-1, *first[1].shape)
            offsets = np.concatenate([[0], np.cumsum([len(episode) for episode in times if episode])])
            clock = _clock(times)
            timed, unit = ({}, "") if clock is None else ({"times": clock}, "s")
            header = {"made": {"from": str(path)}, "time_unit": unit}
            write_tensors(kept, "trajectories", {"states": states, "offsets": offsets, **timed}, header)
    except OSError as error:
        raise InputError(
            f"The frames cannot be kept in {kept.parent} ({error.strerror or error}); make room there, or let "
            "XDG_CACHE_HOME name another folder."
        ) from error


def _clock(times: Sequence[Sequence[float | None]]) -> np.ndarray | None:
    """The times of all frames one after the other; None where one has none, or shows up before the one before it."""
    episodes = [np.array(episode, np.float64) for episode in times]  # None becomes NaN, which does not increase
    if not all(np.isfinite(episode).all() and (np.diff(episode) > 0).all() for episode in episodes):
        return None
    return np.concatenate([_evened(episode) for episode in episodes])


def _evened(times: np.ndarray) -> np.ndarray:
    """Times of a constant rate that were rounded to the clock of a format, as they were before: the same step each.

    Matroska's clock counts milliseconds, GIF's hundredths of a second: at 30 frames a second, steps of 30 and of 40 ms.
    The shortest of several ways would be made of short steps.
    """
    if len(times) < 2:
        return times
    even, step = np.linspace(times[0], times[-1], len(times), retstep=True)
    return even if np.abs(even - times).max() <= min(1.001 * _TICK, step / 2) else times


def _check_alike(first_file: Path, first: np.ndarray, file: Path, frame: np.ndarray) -> None:
    if frame.shape != first.shape:
        raise InputError(
            f"{file} is {_in_words(frame)} and {first_file} {_in_words(first)}; give them one size (--resize HEIGHT "
            "WIDTH), all grey or all in colour."
        )


def _in_words(frame: np.ndarray) -> str:
    return f"{frame.shape[0]} x {frame.shape[1]} pixels {'in colour' if frame.ndim == 3 else 'grey'}"


def _check_room(folder: Path, num_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if 2 * num_bytes > free:
        raise InputError(
            f"The frames take {num_bytes / 2**30:.1f} GiB twice over, and {folder} has {free / 2**30:.1f} GiB left; "
            "give a smaller size (--resize HEIGHT WIDTH), or let XDG_CACHE_HOME name another folder."
        )


def _kept_path(path: Path, files: Sequence[Path], resize: Size | None) -> Path:
    """Where frames are kept: a name that changes with their files and with their size."""
    try:
        seen = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    digest = hashlib.sha256(repr((_VERSION, seen, resize)).encode()).hexdigest()[:16]
    return Path(platformdirs.user_cache_dir("minaction")) / "frames" / f"{path.name}-{digest}.safetensors"
