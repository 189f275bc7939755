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

_HELD_BYTES = 2 << 30  # more stay in the file
_VERSION = 1  # of what is kept; raised when the same files would be decoded otherwise


def decoded(
    path: Path,
    episodes: Sequence[Sequence[Path]],
    frames: Callable[[Path, Size | None], Iterator[np.ndarray]],
    resize: Size | None,
    memory_map: bool,
) -> Trajectories:
    """The frames of all files, each of `episodes` being some files that follow each other.

    Args:
        path: what the data set is called.
        episodes: the files of every episode.
        frames: the frames of a file, uint8 of one shape.
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
    frames: Callable[[Path, Size | None], Iterator[np.ndarray]],
    resize: Size | None,
    kept: Path,
) -> None:
    """Write frame by frame to one file, and from it all to `kept`."""
    total, done, lengths = sum(map(len, episodes)), 0, []
    first: tuple[Path, np.ndarray] | None = None
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(dir=kept.parent) as folder,
            open(Path(folder) / "frames", "wb") as out,
            counting_progress(f"reading {path}") as progress,
        ):
            for files in episodes:
                length = 0
                for file in files:
                    for frame in frames(file, resize):
                        first = first or (file, frame)
                        _check_alike(*first, file, frame)
                        out.write(np.ascontiguousarray(frame).data)
                        length += 1
                    done += 1
                    progress(done, total)
                    if first is not None and length <= 1:
                        _check_room(kept.parent, first[1].nbytes * (total - done))
                lengths.append(length)
            out.flush()
            if first is None:
                raise InputError("There is no frame in it; record at least two.")
            if max(lengths) < 2:
                raise InputError("Every episode has a single frame, so there is no transition; record at least two.")
            states = np.memmap(Path(folder) / "frames", np.uint8, "r").reshape(-1, *first[1].shape)
            offsets = np.concatenate([[0], np.cumsum([length for length in lengths if length])])
            write_tensors(kept, "trajectories", {"states": states, "offsets": offsets}, {"made": {"from": str(path)}})
    except OSError as error:
        raise InputError(
            f"The frames cannot be kept in {kept.parent} ({error.strerror or error}); make room there, or let "
            "XDG_CACHE_HOME name another folder."
        ) from error


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
