"""Barriers where moves are free: small discs that nobody passed, although many could have, as at a thin wall.

Recorded states say nothing of a wall that is thinner than they lie apart; the moves do, none of which crosses it. A
shortest path goes wherever there is a leak, so barriers overlap many times: each is found from the moves around one
place, and what one place misses, its neighbours see.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

from .._cores import core_count
from ._nearness import APART
from ._neighbours import neighbours

RADIUS = 0.5
"""Of a disc, as a share of how far off these moves typically lie: more closes doors, less is passed by too few."""
SLACK = 0.25
"""So far from a place a barrier is looked for, as a share of a fast move."""
VISIT = 8
"""Moves fewer rows apart are of the same visit, and go the same way."""
BACK = 0.5
"""Of those expected to pass a ledge the other way, at least this share has to have done so."""
INPUTS = 2
"""In three dimensions discs look too many ways: a box with a wall took a minute, and leaked with 200,000 states."""
_AT_A_TIME = 1_000
_STILL = 0.1  # of a fast move: what goes no further in any direction stands still
_CANDIDATES = 16  # discs near a way that are looked at
_LONGEST = 64  # radii: longer ways lead to states far from anything recorded, and are not looked at


@dataclass(frozen=True)
class Search:
    """How barriers of one kind are looked for."""

    near: int
    """The moves around a place that tell of a barrier there."""
    expected: float
    """So many passages have to be expected where there is none."""
    one_way: bool
    """Whether passages along the normal alone are looked at, instead of those both ways together."""
    places: int
    """So many places are asked at most."""
    few: int
    """Moves, which in open country are enough to see that a place can be passed."""


WALLS = Search(near=256, expected=5.0, one_way=False, places=60_000, few=16)
"""With 128 moves, walls leak where few pass: a wall in mud .80 instead of .996 (Pearson by the graph).

At one place in 150 nobody passes by mere chance, which costs nothing where many ways lead on (an open box has .9990
with barriers and without); with 6 expected, a maze of small cells has .92 instead of .99.
"""
LEDGES = Search(near=1024, expected=8.0, one_way=True, places=20_000, few=128)
"""One way alone fewer pass, so that it takes more moves to see that nobody does.

It has to be seen on the way, too: that nobody passes means nothing where all go the other way or come back to where
they want to be, as goal-seekers in dead ends of a maze do. What is stopped stands still instead of turning back. Of
those who could have passed but did not, 6% to 30% more than usual stand still in boxes with random actions; in mazes of
goal-seekers 1%, and 8% to 42% more turn back. So ledges are looked for in the former kind alone. What passes beside a
door does not stand still: with all that lead nowhere across it counted, experts in rooms had ledges in every door.
"""


@dataclass(frozen=True)
class Barriers:
    """Discs of one size that straight ways do not pass, or not along the normal of a disc that is passed one way."""

    tree: KDTree  # of their centres (b, k or more)
    normals: np.ndarray  # (b, k)
    radius: float
    one_way: bool = False

    @classmethod
    def none(cls, size: int) -> Barriers:
        """No barriers between places of so many numbers."""
        return cls(KDTree(np.empty((0, size))), np.empty((0, size)), 1.0)

    def bar(self, start: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which straight ways (m, k or more) from `start` (m, k or more) it does not let pass, and which back: (m,)."""
        forth, back = np.zeros(len(start), bool), np.zeros(len(start), bool)
        if self.tree.n == 0:
            return forth, back
        # Long ways are cut into pieces, or discs on them would not be among the nearest of their middle.
        length = np.linalg.norm(way, axis=1) / self.radius
        pieces = np.where(length <= _LONGEST, np.ceil(length / 2), 0).astype(int)
        for piece in range(pieces.max(initial=0)):
            some = np.flatnonzero((pieces > piece) & ~(forth & back))
            step = way[some] / pieces[some, None]
            row, along = self._met(start[some] + piece * step, step)
            forth[some[row[along]]] = True
            back[some[row[~along]]] = True
        return forth, back

    def _met(self, start: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ways that pass a disc, and whether it bars them along this way or back; both of a two-way barrier."""
        away, disc = neighbours(self.tree, start + way / 2, _CANDIDATES, 2 * self.radius)
        row, column = np.nonzero(np.isfinite(away))
        disc, size = disc[row, column], self.normals.shape[1]
        from_centre, normal = (start[row] - self.tree.data[disc])[:, :size], self.normals[disc]
        way = way[:, :size]
        before, ahead = np.sum(from_centre * normal, axis=1), np.sum(way[row] * normal, axis=1)
        passes = (before <= 0) != (before + ahead <= 0)
        row, from_centre, before, ahead = row[passes], from_centre[passes], before[passes], ahead[passes]
        meets = from_centre - (before / ahead)[:, None] * way[row]
        inside = np.sum(meets**2, axis=1) <= self.radius**2
        row, along = row[inside], ahead[inside] > 0
        if self.one_way:
            return row, along
        return np.repeat(row, 2), np.tile([True, False], len(row))


def barriers_of(start: np.ndarray, shift: np.ndarray, rows: np.ndarray, search: Search) -> Barriers:
    """The barriers between recorded moves from `start` (m, k or more) by `shift` (m, k), recorded at `rows` (m,)."""
    size = shift.shape[1]
    if size > INPUTS:
        return Barriers.none(size)
    asked, tree = start[:: max(1, -(-len(start) // search.places))], KDTree(start)
    chunks = -(-len(asked) // _AT_A_TIME)
    parts = [asked[first::chunks] for first in range(chunks)]  # each of them from all over the recording
    radius = RADIUS * float(np.median(neighbours(tree, parts[0], search.near).away[:, -1]))
    if not 0 < radius < APART / 4:  # most moves begin at one and the same place, or too few with the same key
        return Barriers.none(size)
    slack = SLACK * float(np.quantile(np.linalg.norm(shift, axis=1), 0.95))
    normals = _normals(size).astype(np.float32)
    if search.one_way:
        normals = np.concatenate([normals, -normals])
    begin, shift = start[:, :size].astype(np.float32), shift.astype(np.float32)

    def looked_for(some: np.ndarray) -> _Discs:
        near = neighbours(tree, some, search.near).node
        around = _Around.of(begin[near] - some[:, None, :size].astype(np.float32), shift[near])
        visits = 1 + np.sum(np.diff(np.sort(rows[near], axis=1), axis=1) > VISIT, axis=1)
        return _joined([_closed(some, around, visits, normal, radius, slack, search) for normal in normals])

    found = [looked_for(parts[0])]
    if search.one_way and found[0].stopped.sum() <= 0:
        return Barriers.none(size)
    with ThreadPoolExecutor(core_count()) as pool:  # NumPy lets go of Python's lock
        discs = _joined([*found, *pool.map(looked_for, parts[1:])])
    if search.one_way:  # what is passed neither way is a wall, whose ends are seen better by smaller discs
        discs = _Discs(*(part[discs.passed_back >= BACK * search.expected] for part in discs))
    kept = _thinned(discs, radius)
    return Barriers(KDTree(discs.centres[kept]), discs.normals[kept].astype(np.float64), radius, search.one_way)


class _Discs(NamedTuple):
    """Places that nobody passes, although many could."""

    centres: np.ndarray  # (m, k or more)
    normals: np.ndarray  # (m, k)
    expected: np.ndarray  # (m,) how many could
    stopped: np.ndarray  # (m,) how many more of these stand still than turn back, if ways are looked at one by one
    passed_back: np.ndarray  # (m,) how many pass the other way, likewise


def _joined(parts: list[_Discs]) -> _Discs:
    return _Discs(*(np.concatenate(part) for part in zip(*parts, strict=True)))


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

    def along(self, normal: np.ndarray, radius: float, one_way: bool) -> _Seen:
        """Seen along a normal, (k,); if `one_way`, only who goes along it passes."""
        first, lead = self.offset @ normal, self.shift @ normal
        share = np.clip(-first / np.where(lead == 0, 1, lead), 0, 1)
        meets = self.away + share * (2 * self.ahead + share * self.length) - (first + share * lead) ** 2
        passes = meets <= radius**2
        forth, back = (passes & (lead > 0), passes & (lead < 0)) if one_way else (passes, passes)
        return _Seen(first, lead, self.away - first**2 <= radius**2, forth, back, self.length)


class _Seen(NamedTuple):
    """Moves (n, c) around n places, as seen along a normal: where they begin and how far they lead.

    Those that begin within the radius of the line along the normal are inside, and those pass that cross it there.
    """

    first: np.ndarray
    lead: np.ndarray
    inside: np.ndarray
    passes: np.ndarray
    back: np.ndarray
    """Those that pass the other way, if ways are looked at one by one."""
    length: np.ndarray
    """The squared length of the whole move."""

    def pass_by(self, slack: float) -> np.ndarray:
        """Which of the places (n,) some move passes, from beyond the slack to beyond it on the other side."""
        last = self.first + self.lead
        across = (np.minimum(self.first, last) < -slack) & (np.maximum(self.first, last) > slack)
        return np.any(across & self.passes, axis=1)


def _closed(
    asked: np.ndarray,
    around: _Around,
    visits: np.ndarray,
    normal: np.ndarray,
    radius: float,
    slack: float,
    search: Search,
) -> _Discs:
    """The discs across a normal that nobody passes although many could, one beside each of the places `asked` at most.

    `visits` (n,) are those that the moves around each place belong to: each can pass once.
    """
    few = _Around(*(part[:, : search.few] for part in around))
    place = np.flatnonzero(~few.along(normal, radius, search.one_way).pass_by(slack))
    seen = _Around(*(part[place] for part in around)).along(normal, radius, search.one_way)
    closed = ~seen.pass_by(slack)
    place, seen = place[closed], _Seen(*(part[closed] for part in seen))
    where, width = _widest_gap(seen, slack)
    stopped, passed_back = np.zeros((2, len(place)))
    if search.one_way:
        chance, stopped = _chance_along(seen, where, slack / SLACK)
        spans = (seen.first > where[:, None]) & (seen.first + seen.lead < where[:, None])
        passed_back = (seen.back & spans).sum(axis=1)
    else:
        chance = _chance(seen, where)
    expected = visits[place] * (1 - np.exp(-chance / visits[place]))
    sure = (width > 0) & (expected >= search.expected)
    centres = asked[place[sure]]
    centres[:, : len(normal)] += where[sure, None] * normal
    normals = np.broadcast_to(normal, (len(centres), len(normal)))
    return _Discs(centres, normals, expected[sure], stopped[sure], passed_back[sure])


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


def _chance_along(moves: _Seen, where: np.ndarray, fast: float) -> tuple[np.ndarray, np.ndarray]:
    """Of moves that begin a fast move or less before `where` (n,): how many would pass it if they had led as far as
    those that begin up to two before it, and how many more of them than of those stand still and do not turn back.
    """
    needed = where[:, None] - moves.first
    free = moves.inside & (needed > fast) & (needed <= 2 * fast)
    held = moves.inside & (needed >= 0) & (needed <= fast)
    all_free = np.maximum(free.sum(axis=1), 1)
    share = held.sum(axis=1) / all_free
    lead = np.where(free, moves.lead, moves.lead.min(initial=0.0))
    chance = _share_above(lead, np.where(held, needed, np.inf)).sum(axis=1) * lead.shape[1] / all_free
    still, back = moves.length < (_STILL * fast) ** 2, moves.lead <= -_STILL * fast
    more_still, more_back = ((held & how).sum(axis=1) - share * (free & how).sum(axis=1) for how in (still, back))
    return chance, more_still - np.maximum(more_back, 0)  # that fewer turn back is no sign of anything


def _share_above(values: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """For each row, the share of its `values` (n, c) that lie above each of its `bounds` (n, c)."""
    count = values.shape[1]
    most = float(np.abs(values).max(initial=0.0)) + 1
    row = np.arange(len(values))[:, None]  # apart from each other by so much that all are found in one search
    ordered = (np.sort(values, axis=1) + 2 * most * row).ravel()
    below = np.searchsorted(ordered, (np.minimum(bounds, most) + 2 * most * row).ravel(), side="right")
    return 1 - (below.reshape(bounds.shape) - count * row) / count


def _thinned(discs: _Discs, radius: float) -> np.ndarray:
    """One disc in every cell of a quarter of the radius, that which most could have passed: which are kept."""
    order = np.argsort(-discs.expected, kind="stable")
    return order[np.unique(np.floor(discs.centres[order] / (radius / 4)), axis=0, return_index=True)[1]]
