"""Recorded images as small pictures for a page: one sheet of all of them, of a bounded size."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

import numpy as np

from .._image_axes import images_of

_SIDES = (64, 48, 32, 24, 16, 8)  # pixels along a picture's longer side, the first that fits; the last always does
_MOST_BYTES = 1 << 20  # of the sheet, before it is written as text


def picture_sheet(states: np.ndarray) -> dict[str, Any]:
    """`states` (n, *shape), which are images, side by side in one PNG, and where in it they are found."""
    pictures = as_colours(states)
    tried = (_sheet(pictures, side) for side in _SIDES)
    sheet, size, columns = next(found for found in tried if len(found[0]) <= _MOST_BYTES)
    text = base64.b64encode(sheet).decode()
    return {"sheet": f"data:image/png;base64,{text}", "width": size[0], "height": size[1], "columns": columns}


def as_colours(states: np.ndarray) -> np.ndarray:
    """Images as RGB (n, height, width, 3) uint8: of stacked frames the latest, of other channels the last as grey."""
    images = images_of(states)
    colours = 3 if images.shape[-1] % 3 == 0 else 1
    shown = images[..., -colours:]
    if shown.dtype != np.uint8:
        low, high = float(shown.min()), float(shown.max())
        shown = np.rint((shown.astype(np.float32) - low) * (255 / ((high - low) or 1.0))).astype(np.uint8)
    return np.ascontiguousarray(np.broadcast_to(shown, (*shown.shape[:-1], 3)))


def _sheet(pictures: np.ndarray, side: int) -> tuple[bytes, tuple[int, int], int]:
    """The PNG, the width and height of a picture in it, and how many stand in a row."""
    from PIL import Image

    height, width = pictures.shape[1:3]
    scale = min(1.0, side / max(height, width))
    size = max(1, round(scale * width)), max(1, round(scale * height))
    columns = math.ceil(math.sqrt(len(pictures)))
    whole = Image.new("RGB", (columns * size[0], math.ceil(len(pictures) / columns) * size[1]))
    for k, picture in enumerate(pictures):
        small = Image.fromarray(picture).resize(size, Image.Resampling.BOX)
        whole.paste(small, (k % columns * size[0], k // columns * size[1]))
    out = io.BytesIO()
    whole.save(out, "PNG", optimize=True)
    return out.getvalue(), size, columns
