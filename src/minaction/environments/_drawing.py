"""Minimal drawing for grid worlds, on arrays; lengths are in cells, (0, 0) is the top left."""

from __future__ import annotations

import numpy as np

PIXELS_PER_CELL = 32
_SUBPIXELS = 4  # per direction: edges of discs are antialiased by counting how many are covered

PAPER = (250, 249, 245)
LINE = (221, 218, 208)
INK = (40, 42, 54)
AGENT = (38, 98, 190)
START = (221, 231, 245)
GOAL = (121, 189, 126)
CLIFF = (134, 97, 74)
DOOR = (166, 118, 84)
KEY = (233, 181, 44)

Colour = tuple[int, int, int]


def empty_grid(columns: int, rows: int) -> np.ndarray:
    """An empty grid with a thin line around every cell, (height, width, 3) uint8."""
    picture = np.empty((rows * PIXELS_PER_CELL + 1, columns * PIXELS_PER_CELL + 1, 3), np.uint8)
    picture[:] = PAPER
    picture[::PIXELS_PER_CELL] = LINE
    picture[:, ::PIXELS_PER_CELL] = LINE
    return picture


def fill_cell(picture: np.ndarray, column: int, row: int, colour: Colour) -> None:
    """Colour one cell inside its lines."""
    top, left = row * PIXELS_PER_CELL, column * PIXELS_PER_CELL
    picture[top + 1 : top + PIXELS_PER_CELL, left + 1 : left + PIXELS_PER_CELL] = colour


def rectangle(picture: np.ndarray, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
    """Fill a rectangle, rounded to whole pixels."""
    left, top, right, bottom = (round(length * PIXELS_PER_CELL) for length in (left, top, right, bottom))
    picture[max(top, 0) : bottom, max(left, 0) : right] = colour


def disc(picture: np.ndarray, x: float, y: float, radius: float, colour: Colour) -> None:
    """Fill a disc with smooth edges, clipped to the picture."""
    height, width = picture.shape[:2]
    first_row, last_row = (int(np.clip((y + r) * PIXELS_PER_CELL, 0, height)) for r in (-radius, radius + 0.1))
    first_column, last_column = (int(np.clip((x + r) * PIXELS_PER_CELL, 0, width)) for r in (-radius, radius + 0.1))
    rows = _subpixel_centres(first_row, last_row) - y * PIXELS_PER_CELL
    columns = _subpixel_centres(first_column, last_column) - x * PIXELS_PER_CELL
    inside = rows[:, None] ** 2 + columns[None, :] ** 2 <= (radius * PIXELS_PER_CELL) ** 2
    blocks = inside.reshape(last_row - first_row, _SUBPIXELS, last_column - first_column, _SUBPIXELS)
    cover = blocks.mean(axis=(1, 3))[..., None]
    under = picture[first_row:last_row, first_column:last_column]
    picture[first_row:last_row, first_column:last_column] = np.rint(cover * np.array(colour) + (1 - cover) * under)


def _subpixel_centres(first: int, last: int) -> np.ndarray:
    return first + (np.arange((last - first) * _SUBPIXELS) + 0.5) / _SUBPIXELS
