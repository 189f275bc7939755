"""What can be headed for straight away: where no recorded state lies along the way there may be a wall."""

from __future__ import annotations

import numpy as np

# Of the spacing of nodes, as for the joins of `RecordedDistance`: further from all there may be a wall.
_CLEARANCE = 1.25
_LINED = 6  # clearances: no node lines more of a way
_SAME = 1e-6
_NUMBERS_AT_ONCE = 1 << 20


class Sight:
    """From a place (k,) among nodes (k, n), so far `away` (n,) and with so much `spacing` (n,) around each."""

    def __init__(self, place: np.ndarray, nodes: np.ndarray, away: np.ndarray, spacing: np.ndarray) -> None:
        self._place, self._nodes, self._away = place, nodes, away
        nearest = np.argpartition(away, range(min(2, len(away))))[:2]  # a sort takes half of the time of acting
        self._clearance = _CLEARANCE * max(spacing[nearest[0]], away[nearest[-1]])

    def sees(self, other: np.ndarray) -> bool:
        """Whether nodes line the straight way to another place (k,)."""
        way = other - self._place
        length = float(np.sqrt(way @ way))
        if length <= self._clearance or self._clearance == 0:
            return True
        near = self._nodes[:, self._away <= length + self._clearance]
        if length > _LINED * near.shape[1] * self._clearance:  # where a recording mostly stood still
            return False
        parts, at_once = int(np.ceil(length / self._clearance)), max(1, _NUMBERS_AT_ONCE // near.size)
        for start in range(1, parts, at_once):
            shares = np.arange(start, min(start + at_once, parts)) / parts
            between = self._place[:, None] + way[:, None] * shares
            gaps = ((between[:, :, None] - near[:, None]) ** 2).sum(axis=0).min(axis=1)
            if (gaps > self._clearance**2).any():
                return False
        return True


def spacing_of(nodes: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How far it is from each of the nodes (k, n) to the second nearest other place that an edge leads to, (n,).

    At least what is usual: where somebody stood still or turned round, nodes lie denser than they can tell of walls.
    """
    length = np.sqrt(((nodes[:, start] - nodes[:, end]) ** 2).sum(axis=0))
    order = np.lexsort((length, start))
    order = order[length[order] > _SAME]
    start, length, every = start[order], length[order], np.arange(nodes.shape[1])
    second = np.searchsorted(start, every) + 1
    known = np.searchsorted(start, every, side="right") > second
    found = np.zeros(len(every))
    found[known] = length[second[known]]
    return np.maximum(found, np.median(found))
