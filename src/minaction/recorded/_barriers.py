"""Barriers where moves are free: small discs that nobody passed, although many could have, as at a thin wall.

Recorded states say nothing of a wall that is thinner than they lie apart; the moves do, none of which crosses it. A
shortest path goes wherever there is a leak, so barriers overlap many times: each is found from the moves around one
place, and what one place misses, its neighbours see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from ._neighbours import neighbours

NEAR = 256
"""The moves around a place that tell of a barrier there.

With 128, walls leak where few pass: a wall in mud .80 instead of .996 (Pearson by the graph).
"""
RADIUS = 0.5
"""Of a disc, as a share of how far off these moves typically lie: more closes doors, less is passed by too few."""
EXPECTED = 5.0
"""So many passages, both ways together, have to be expected where there is none.

By chance nobody passes at one place in 150 then, which costs nothing where many ways lead on (an open box has .9990
with barriers and without); with 6, a maze of small cells has .92 instead of .99.
"""
SLACK = 0.25
"""So far from a place a barrier is looked for, as a share of a fast move."""
VISIT = 8
"""Moves fewer rows apart are of the same visit, and go the same way."""
INPUTS = 2
"""In three dimensions discs look too many ways: a box with a wall took a minute, and leaked with 200,000 states."""
_PLACES = 60_000  # that are asked for barriers
_AT_A_TIME = 1_000
_FEW = 16  # moves, which in open country are enough to see that a place can be passed
_CANDIDATES = 16  # discs near a way that are looked at
_LONGEST = 64  # radii: longer ways lead to states far from anything recorded, and are not looked at


@dataclass(frozen=True)
class Barriers:
    """Discs that straight ways do not pass."""

    tree: KDTree  # of their centres (b, k or more)
    normals: np.ndarray  # (b, k)
    radius: float

    @classmethod
    def none(cls, size: int) -> Barriers:
        """No barriers between places of so many numbers."""
        return cls(KDTree(np.empty((0, size))), np.empty((0, size)), 1.0)

    def bar(self, start: np.ndarray, way: np.ndarray) -> np.ndarray:
        """Which straight ways (m, k or more) from `start` (m, k or more) pass a disc, (m,) bool."""
        barred = np.zeros(len(start), bool)
        if self.tree.n == 0:
            return barred
        # Long ways are cut into pieces, or discs on them would not be among the nearest of their middle.
        length = np.linalg.norm(way, axis=1) / self.radius
        pieces = np.where(length <= _LONGEST, np.ceil(length / 2), 0).astype(int)
        for piece in range(pieces.max(initial=0)):
            some = np.flatnonzero((pieces > piece) & ~barred)
            step = way[some] / pieces[some, None]
            begin = start[some] + piece * step
            barred[some] = self._bar(begin, step)
        return barred

    def _bar(self, start: np.ndarray, way: np.ndarray) -> np.ndarray:
        barred = np.zeros(len(start), bool)
        away, disc = neighbours(self.tree, start + way / 2, _CANDIDATES, 2 * self.radius)
        row, column = np.nonzero(np.isfinite(away))
        disc, size = disc[row, column], self.normals.shape[1]
        from_centre, normal = (start[row] - self.tree.data[disc])[:, :size], self.normals[disc]
        way = way[:, :size]
        before, ahead = np.sum(from_centre * normal, axis=1), np.sum(way[row] * normal, axis=1)
        passes = (before <= 0) != (before + ahead <= 0)
        row, from_centre, before, ahead = row[passes], from_centre[passes], before[passes], ahead[passes]
        meets = from_centre - (before / ahead)[:, None] * way[row]
        barred[row[np.sum(meets**2, axis=1) <= self.radius**2]] = True
        return barred


def barriers_of(start: np.ndarray, shift: np.ndarray, rows: np.ndarray) -> Barriers:
    """The barriers between recorded moves from `start` (m, k or more) by `shift` (m, k), recorded at `rows` (m,)."""
    size = shift.shape[1]
    if size > INPUTS:
        return Barriers.none(size)
    asked = start[:: max(1, -(-len(start) // _PLACES))]
    away, near = neighbours(KDTree(start), asked, NEAR)
    start, shift = start[:, :size].astype(np.float32), shift.astype(np.float32)
    radius = RADIUS * float(np.median(away[:, -1]))
    if radius == 0:  # most moves begin at one and the same place
        return Barriers.none(size)
    slack = SLACK * float(np.quantile(np.linalg.norm(shift, axis=1), 0.95))
    found = []
    for begin in range(0, len(asked), _AT_A_TIME):
        some = slice(begin, begin + _AT_A_TIME)
        around = _Around.of(start[near[some]] - asked[some, None, :size].astype(np.float32), shift[near[some]])
        visits = 1 + np.sum(np.diff(np.sort(rows[near[some]], axis=1), axis=1) > VISIT, axis=1)
        for normal in _normals(size).astype(np.float32):
            place, where, expected = _closed(around, visits, normal, radius, slack)
            centres = asked[some][place]
            centres[:, :size] += where[:, None] * normal
            found.append((centres, np.broadcast_to(normal, (len(place), size)), expected))
    centres, normals, expected = (np.concatenate(part) for part in zip(*found, strict=True))
    return _thinned(centres, normals, expected, radius)


def _normals(size: int) -> np.ndarray:
    """Directions that lie evenly on half a circle."""
    if size == 1:
        return np.ones((1, 1))
    angle = np.pi * np.arange(16) / 16
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


class _Around(NamedTuple):
    """The nearest moves (n, c) of n places: where they begin, as seen from there, and how they go on."""

    offset: np.ndarray  # (n, c, k)
    shift: np.ndarray  # (n, c, k)
    away: np.ndarray  # (n, c) the squared length of the offset
    ahead: np.ndarray  # (n, c) the scalar product of offset and shift
    length: np.ndarray  # (n, c) the squared length of the shift

    @classmethod
    def of(cls, offset: np.ndarray, shift: np.ndarray) -> _Around:
        """With the squares and products that every normal needs."""
        away, ahead, length = (np.einsum("nck,nck->nc", *two) for two in ((offset,) * 2, (offset, shift), (shift,) * 2))
        return cls(offset, shift, away, ahead, length)

    def along(self, normal: np.ndarray, radius: float) -> _Seen:
        """Seen along a normal, (k,)."""
        first, lead = self.offset @ normal, self.shift @ normal
        share = np.clip(-first / np.where(lead == 0, 1, lead), 0, 1)
        meets = self.away + share * (2 * self.ahead + share * self.length) - (first + share * lead) ** 2
        return _Seen(first, lead, self.away - first**2 <= radius**2, meets <= radius**2)


class _Seen(NamedTuple):
    """Moves (n, c) around n places, as seen along a normal: where they begin and how far they lead.

    Those that begin within the radius of the line along the normal are inside, and those pass that cross it there.
    """

    first: np.ndarray
    lead: np.ndarray
    inside: np.ndarray
    passes: np.ndarray

    def pass_by(self, slack: float) -> np.ndarray:
        """Which of the places (n,) some move passes, from beyond the slack to beyond it on the other side."""
        last = self.first + self.lead
        across = (np.minimum(self.first, last) < -slack) & (np.maximum(self.first, last) > slack)
        return np.any(across & self.passes, axis=1)


def _closed(
    around: _Around, visits: np.ndarray, normal: np.ndarray, radius: float, slack: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places that nobody passes along a normal although many could: which, how far along it, how many could.

    `visits` (n,) are those that the moves around each place belong to: each can pass once.
    """
    few = _Around(*(part[:, :_FEW] for part in around))
    place = np.flatnonzero(~few.along(normal, radius).pass_by(slack))
    seen = _Around(*(part[place] for part in around)).along(normal, radius)
    closed = ~seen.pass_by(slack)
    place, seen = place[closed], _Seen(*(part[closed] for part in seen))
    where, width = _widest_gap(seen, slack)
    expected = visits[place] * (1 - np.exp(-_chance(seen, where) / visits[place]))
    sure = (width > 0) & (expected >= EXPECTED)
    return place[sure], where[sure], expected[sure]


def _widest_gap(moves: _Seen, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """The middle and the width, (n,), of the widest stretch within `slack` of each place that no move spans."""
    last = moves.first + moves.lead
    low = np.where(moves.passes, np.minimum(moves.first, last), np.inf)
    high = np.where(moves.passes, np.maximum(moves.first, last), -np.inf)
    order = np.argsort(low, axis=1)
    edge = np.full((len(low), 1), np.inf)
    begins = np.column_stack([np.take_along_axis(low, order, axis=1), edge])
    ends = np.take_along_axis(high, order, axis=1)
    covered = np.maximum.accumulate(np.column_stack([-edge, ends]), axis=1)
    begins, covered = np.clip(begins, -slack, slack), np.clip(covered, -slack, slack)
    each, widest = np.arange(len(low)), np.argmax(begins - covered, axis=1)
    begin, end = covered[each, widest], begins[each, widest]
    return (begin + end) / 2, end - begin


def _chance(moves: _Seen, where: np.ndarray) -> np.ndarray:
    """How many moves (n,) would pass `where` (n,) if each had led as far as any other around."""
    needed = where[:, None] - moves.first
    forth = _share_above(moves.lead, np.where(moves.inside & (needed >= 0), needed, np.inf))
    back = _share_above(-moves.lead, np.where(moves.inside & (needed < 0), -needed, np.inf))
    return (forth + back).sum(axis=1)


def _share_above(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """For each row, the share of its `values` (n, c) that lie above each of its `bounds` (n, c)."""
    count = values.shape[1]
    most = float(np.abs(values).max(initial=0.0)) + 1
    row = np.arange(len(values))[:, None]  # apart from each other by so much that all are found in one search
    ordered = (np.sort(values, axis=1) + 2 * most * row).ravel()
    below = np.searchsorted(ordered, (np.minimum(bounds, most) + 2 * most * row).ravel(), side="right")
    return 1 - (below.reshape(bounds.shape) - count * row) / count


def _thinned(centres: np.ndarray, normals: np.ndarray, expected: np.ndarray, radius: float) -> Barriers:
    """One barrier in every cell of a quarter of the radius, that at which most moves were expected."""
    order = np.argsort(-expected, kind="stable")
    kept = order[np.unique(np.floor(centres[order] / (radius / 4)), axis=0, return_index=True)[1]]
    return Barriers(KDTree(centres[kept]), normals[kept].astype(np.float64), radius)
