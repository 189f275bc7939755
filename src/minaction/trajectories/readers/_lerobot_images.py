"""What a camera of a LeRobot data set saw: videos below videos/, or pictures inside the Parquet files.

::

    videos/chunk-000/KEY/episode_000000.mp4           version 2: an episode to a file
    videos/KEY/chunk-000/file-000.mp4                 version 3: many episodes to a file, one after the other
    meta/episodes/chunk-000/file-000.parquet          version 3: in which file each is, and from which moment on

Either way the frames of all files, one after the other, are the rows of the Parquet files.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..._files import check_regular
from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from . import _video
from ._frames import Frame, Size, decoded
from ._image_folder import frame_of
from ._parquet import open_files, read_columns

_ROWS_AT_ONCE = 64


def is_seen(feature: Mapping[str, Any]) -> bool:
    """Whether a key of the data set is a camera."""
    return feature.get("dtype") in ("video", "image")


def read_images(folder: Path, key: str, dtype: str, files: list[Path], resize: Size | None) -> Trajectories:
    """All frames of a camera as one episode; `files` are the data set's Parquet files, in order."""
    if dtype == "image":
        return decoded(folder / key, [files], partial(_stored, key=key), resize, memory_map=False)
    try:
        import av  # noqa: F401
    except ImportError:
        raise MissingExtra(f"Reading the videos of {folder}", "video") from None
    videos = [path for path in (folder / "videos").rglob("*.mp4") if key in path.parts]
    if not videos:
        raise InputError(f"There are no videos of {key!r} below videos/; download the data set again, with its videos.")
    for path in videos:
        check_regular(path)
    _refuse_another_order(folder, key)
    return decoded(folder / key, [sorted(videos, key=partial(_place, key=key))], _video.frames_of, resize, False)


def _place(path: Path, key: str) -> list[int]:
    """Chunk and file by number, wherever the name of the camera, which may have numbers too, stands between them."""
    below = [part for part in path.with_suffix("").parts[-3:] if part != key]
    return [int(number) for part in below for number in re.findall(r"\d+", part)]


def _refuse_another_order(folder: Path, key: str) -> None:
    """Version 3 says where the video of an episode begins, which after some editing may be anywhere."""
    begins = [f"videos/{key}/{name}" for name in ("chunk_index", "file_index", "from_timestamp")]
    files = sorted((folder / "meta" / "episodes").rglob("*.parquet"))
    if not files:  # version 2 has an episode to a file
        return
    columns = read_columns(files, ["episode_index", *begins]).columns
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    places = [place for _, *place in sorted(rows)]
    if places != sorted(places):
        raise InputError(f"The videos of {key!r} are not in the order of the episodes; write the data set anew.")


def _stored(file: Path, resize: Size | None, *, key: str) -> Iterator[Frame]:
    """The pictures in a column of a Parquet file, a struct of bytes and a path."""
    row = 0
    for batch in open_files([file], [key])[0].iter_batches(_ROWS_AT_ONCE, columns=[key]):
        for cell in batch.column(0):
            content = cell["bytes"].as_py()
            if content is None:
                raise InputError(f"Row {row} of {file} has no picture in {key!r}; download the data set again.")
            yield frame_of(io.BytesIO(content), f"{key} in row {row} of {file}", resize), None
            row += 1
