"""A trained model as one offline page to ask it in: sliders for two states, and a map coloured by distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._pages import Pages
from ..errors import InputError
from ._file import Stored
from .javascript import SCRIPT, describe

_PAGES = Pages(SCRIPT.parent)
_MOST_NUMBERS = 64  # of a state: a field for each
_MOST_STATES = 500  # recorded states that the page shows as dots and starts from


@dataclass(frozen=True)
class Facts:
    """What a page says about a model beside its answers."""

    title: str
    subtitle: str
    columns: tuple[str, ...]
    unit: str
    recorded: np.ndarray | None = None
    """A sample of recorded states (m, *state_shape), from which the range of every slider is taken."""


def page(stored: Stored, facts: Facts) -> str:
    """The text of the page."""
    described = describe(stored)
    if described["size"] > _MOST_NUMBERS:
        raise InputError(
            f"A page has a field for each of at most {_MOST_NUMBERS} numbers of a state, and this model's have "
            f"{described['size']}; export it to an .onnx file instead."
        )
    states = _recorded(stored, facts.recorded)
    columns = list(facts.columns) or [f"x{k + 1}" for k in range(described["size"])]
    data = {
        "model": described,
        "columns": [_column(name, values) for name, values in zip(columns, states.T, strict=True)],
        "whole": np.dtype(stored.state_dtype).kind != "f",
        "recorded": [[float(f"{number:.6g}") for number in state] for state in states[:_MOST_STATES]],
        "unit": facts.unit or "actions",
    }
    words = {"title": facts.title, "subtitle": facts.subtitle, "columns": columns}
    return str(_PAGES.page("ask.html", data, [SCRIPT, "ask.js"], ["ask.css"], **words))


def _recorded(stored: Stored, sample: np.ndarray | None) -> np.ndarray:
    size = int(np.prod(stored.state_shape, dtype=np.int64))
    if sample is None or not len(sample):  # an old file, or a model that was made by hand: some range has to be shown
        centre = np.zeros(size) if stored.origin is None else stored.origin.ravel()
        return np.stack([centre - 1, centre + 1])
    return np.asarray(sample, np.float64).reshape(len(sample), size)


def _column(name: str, values: np.ndarray) -> dict[str, Any]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 1, high + 1
    return {"name": name, "low": low, "high": high}
