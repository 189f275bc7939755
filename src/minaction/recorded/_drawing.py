"""Pictures of states that were never recorded: what moves in a recorded frame, moved to where it would be seen.

The graph of a recording knows that a state exists between others, or with a key that was not held there, and how far it
is from all of them. A model of images can be taught that only by an image.
"""

from __future__ import annotations

import numpy as np

from .._image_axes import images_of, states_of
from .._mapped import read_rows
from ..trajectories import Trajectories
from ._distance import RecordedDistance
from ._sightings import Sightings

_AT_A_TIME = 256
_OFF = 0.5  # pixels, at most, between where a thing was to be and where it is seen in the picture


def drawn(how: Sightings, graph: RecordedDistance, data: Trajectories, most: int) -> np.ndarray:
    """Images (m, *shape) of states that `graph`, made of what is seen in `data`, takes to exist; at most `most`.

    A thing is cut out of the nearest recorded frame with the same background and put elsewhere on that background. What
    is then seen must be what was to be seen: a thing cut off by the edge, or two that would have to move apart, are not
    drawn.
    """
    wanted = np.random.default_rng(0).permutation(graph.unseen)[:most]
    found = [data.states[:0]]
    for start in range(0, len(wanted), _AT_A_TIME):
        part = wanted[start : start + _AT_A_TIME]
        nearest = graph.nearest_node(part).node
        frames = images_of(read_rows(data.states, graph.rows[nearest]))
        shift = np.rint(part - graph.nodes[nearest])[:, 1:3].astype(int)
        pictures = [
            _moved(frame, scene.background.astype(frame.dtype), by)
            for frame, scene, by in zip(frames, how.scenes_of(part), shift, strict=True)
        ]
        states = states_of(np.stack(pictures), data.state_shape)
        off = how(states) - part
        found.append(states[(off[:, 0] == 0) & (np.abs(off[:, 1:]) <= _OFF).all(axis=1)])
    return np.unique(np.concatenate(found), axis=0)


def _moved(frame: np.ndarray, background: np.ndarray, by: np.ndarray) -> np.ndarray:
    """What differs from `background` (height, width, channels), moved by rows and columns."""
    thing = (frame != background).any(axis=2, keepdims=True)
    return np.where(np.roll(thing, by, (0, 1)), np.roll(frame, by, (0, 1)), background)
