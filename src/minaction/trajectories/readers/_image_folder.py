"""Folders of pictures: one folder with the frames of one episode, or a folder of such folders, one per episode."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ...errors import InputError
from .._dataset import Trajectories
from ._assembly import as_unit
from ._checks import parsing
from ._frames import Frame, Size, decoded
from ._order import by_number

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
_FORMATS = ("PNG", "JPEG", "BMP")


def is_image_folder(path: Path) -> bool:
    """Whether `path` is a folder of pictures, or one of folders of them."""
    return path.is_dir() and bool(_pictures(path) or any(_pictures(folder) for folder in _folders(path)))


def read_image_folder(path: Path, resize: Size | None, unit: str | None, memory_map: bool) -> Trajectories:
    """The pictures as frames, in the order of the numbers in their names, RGB or grey."""
    if unit is not None and as_unit(unit):
        raise InputError(f"{path} holds pictures, which are counted in steps and have no clock; leave out --unit.")
    here, folders = _pictures(path), [pictures for folder in _folders(path) if (pictures := _pictures(folder))]
    if here and folders:
        raise InputError(
            f"{path} holds pictures as well as folders of them; give one folder for each episode, or a single folder."
        )
    return decoded(path, [here] if here else folders, frames_of, resize, memory_map)


def frames_of(file: Path, resize: Size | None) -> Iterator[Frame]:
    """The picture in a file, RGB or grey, as the only frame."""
    yield frame_of(file, str(file), resize), None


def frame_of(content: Path | BinaryIO, named: str, resize: Size | None) -> np.ndarray:
    """A picture, RGB or grey, which errors call `named`."""
    from PIL import Image

    with parsing(named, "a picture"), Image.open(content, formats=_FORMATS) as image:
        image.load()
        if image.mode == "P":
            image = image.convert("RGBA" if "transparency" in image.info else "RGB")
        if image.mode in ("LA", "RGBA"):
            if image.getchannel("A").getextrema() != (255, 255):
                raise InputError(
                    f"{named} has four channels, the last of which is transparency; save it before a background, "
                    "as RGB."
                )
            image = image.convert(image.mode[:-1])
        if image.mode not in ("1", "L", "RGB"):
            raise InputError(
                f"{named} is a picture of mode {image.mode}; save it with 8 bits per channel, grey or RGB."
            )
        image = image.convert("L") if image.mode == "1" else image
        if resize is not None:
            image = image.resize((resize[1], resize[0]), Image.Resampling.BOX)
        return np.asarray(image)


def _pictures(folder: Path) -> list[Path]:
    found = [file for file in _entries(folder) if file.suffix.lower() in SUFFIXES and file.is_file()]
    return sorted(found, key=by_number)


def _folders(path: Path) -> list[Path]:
    return sorted((entry for entry in _entries(path) if entry.is_dir()), key=by_number)


def _entries(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    except OSError:  # a folder that may not be looked into
        return []
