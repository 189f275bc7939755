"""A single picture, or a single frame of a video, as a state to ask a model about."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np

from ..._files import check_regular
from ...errors import InputError, MissingExtra
from . import _image_folder as pictures
from . import _video as videos
from ._frames import Size


def read_frame(path: Path, number: int | None, size: Size) -> np.ndarray:
    """The picture at `path`, or the frame `number` (from 0) of the video there, with this height and width."""
    if not path.exists():
        raise InputError(f"There is no file {path}; check the path.")
    check_regular(path)
    if path.suffix.lower() in pictures.SUFFIXES:
        if number is not None:
            raise InputError(f"{path} is a single picture; leave out the {number} behind it.")
        return next(pictures.frames_of(path, size))[0]
    if path.suffix.lower() not in videos.SUFFIXES:
        known = ", ".join((*pictures.SUFFIXES, *videos.SUFFIXES))
        raise InputError(f"{path} is neither a number nor a picture nor a video ({known}).")
    if number is None or number < 0:
        raise InputError(f"{path} is a video; say which of its frames, from 0 on: {path} 0.")
    try:
        import av  # noqa: F401
    except ImportError:
        raise MissingExtra(f"Reading {path}", "video") from None
    found = next(islice(videos.frames_of(path, size), number, None), None)
    if found is None:
        raise InputError(f"{path} has no frame {number}; frames are counted from 0.")
    return found[0]
