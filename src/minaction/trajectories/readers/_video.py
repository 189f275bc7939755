"""Video files: every file is an episode, every frame a state at the time at which it is shown (the extra `video`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...errors import InputError, MissingExtra
from .._dataset import Trajectories
from ._assembly import as_unit
from ._checks import parsing
from ._frames import Frame, Size, decoded
from ._order import by_number

SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".gif")
_SHORTEST = 0.9  # of the length that a file says it has: less was cut off


def video_files(folder: Path) -> list[Path]:
    """The video files in a folder."""
    try:
        found = [file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file()]
    except OSError:  # a folder that may not be looked into
        return []
    return sorted(found, key=by_number)


def read_video(path: Path, resize: Size | None, unit: str | None, memory_map: bool) -> Trajectories:
    """The frames of a video, or of all videos in a folder, in RGB, with their times; `unit` may say to count frames."""
    counted = "s" if unit is None else as_unit(unit)
    if counted not in ("", "s"):
        raise InputError(f"The clock of {path}, a film, counts seconds, not {unit}; leave out --unit, or say frames.")
    try:
        import av  # noqa: F401
    except ImportError:
        raise MissingExtra(f"Reading {path}", "video") from None
    data = decoded(
        path, [[file] for file in (video_files(path) if path.is_dir() else [path])], frames_of, resize, memory_map
    )
    if data.times is None and counted:
        without = f"{path} does not say when each frame is shown"
        if unit is not None:
            raise InputError(f"{without}; leave out --unit, and frames are counted instead.")
        warnings.warn(f"{without}, so that frames are counted instead of seconds.", stacklevel=2)
    return data if counted else replace(data, times=None, time_unit="")


def frames_of(file: Path, resize: Size | None) -> Iterator[Frame]:
    """The frames of a video one after the other, in RGB; one that was cut off is refused at its end."""
    import av
    from av.video.reformatter import Interpolation

    count, end = 0, 0.0
    with parsing(file, "a video"), av.open(str(file)) as container:
        if not container.streams.video:
            raise InputError(f"{file} has no pictures, only sound; give a video.")
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        height, width = resize or (None, None)
        for frame in container.decode(stream):
            yield frame.reformat(width, height, "rgb24", interpolation=Interpolation.AREA).to_ndarray(), frame.time
            count, end = count + 1, frame.time or 0.0
        length = (container.duration or 0) / av.time_base
        started = (container.start_time or 0) / av.time_base
    if count < _SHORTEST * stream.frames or (not stream.frames and end - started < _SHORTEST * length - 1.0):
        says = f"{stream.frames} frames" if stream.frames else f"{length:.0f} seconds"
        raise InputError(
            f"{file} ends after {count} frames but says that it has {says}; it is truncated, copy it again."
        )
