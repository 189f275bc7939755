"""States as a person gives them to a command: numbers, a picture, or a frame of a video."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from .._image_axes import arrangement, is_image
from .._model import DistanceModel
from ..errors import InputError
from ..trajectories import shape_in_words
from ..trajectories.readers import read_frame

_FAR = 3.0  # typical steps from anything recorded
_LARGEST = float(np.finfo(np.float32).max)


def state_of(model: DistanceModel, option: str, given: tuple[str, ...]) -> np.ndarray:
    """The state that is meant: numbers, or what a picture or a frame of a video shows, in the size of the model's."""
    shape = model.state_shape
    if None not in map(as_number, given):
        numbers = numbers_of(option, given)
        if len(numbers) != math.prod(shape):  # a person has to know which numbers a state has, and in which order
            size, named = " x ".join(map(str, shape)), f" ({', '.join(model.columns)})" if model.columns else ""
            raise InputError(f"A state of this model has {size} numbers{named}, but {option} gives {len(numbers)}.")
        return numbers
    if not is_image(shape) or arrangement(shape)[0][:2] != (0, 1):
        odd = next(word for word in given if as_number(word) is None)
        blanks = ", which are separated by blanks" if "," in odd or ";" in odd else ""
        raise InputError(f"{odd!r} is not a number; this model takes states of {shape_in_words(shape)}{blanks}.")
    path, *number = given
    if len(number) > 1 or not all(word.isdecimal() for word in number):
        raise InputError(f"Give one picture, or a video and the number of a frame, not {' '.join(given)!r}.")
    height, width, *_ = shape
    return read_frame(Path(path), int(number[0]) if number else None, (height, width))


def numbers_of(option: str, given: tuple[str, ...]) -> np.ndarray:
    """The numbers that are written, refused where a model cannot compute with them."""
    for word in given:
        number = float(word)
        if not math.isfinite(number):
            raise InputError(f"{option} gives {word}, but a state has finite numbers alone; give one.")
        if abs(number) > _LARGEST:
            raise InputError(f"{option} gives {word}, but models compute with numbers up to {_LARGEST:.1e}; check it.")
    return np.array(given, np.float64)


def warn_if_far(model: DistanceModel, name: str, state: np.ndarray) -> None:
    """Say so where a state is far from everything that the model knows."""
    away = model.coverage(state).item() if model.recorded is not None else 0.0
    if away > _FAR:
        print(f"warning: the {name} is {away:.1f} typical steps from anything recorded; its distances are guesses")


def as_number(word: str) -> float | None:
    """The number that is written; None where it is none."""
    try:
        return None if "_" in word else float(word)  # Python would read 1_2 as 12
    except ValueError:
        return None
