"""Which states are near each other: inputs measured in typical moves, those that say nothing left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..trajectories import at_rest, turned, typical_change

Embedding = Callable[[np.ndarray], np.ndarray]
"""States (n, D) to places (n, k) whose distances say which states are near, as a learned model's encoder."""

RARE = 0.05
"""An input that changes in fewer moves than this (a key, a task number) must agree exactly."""
MEMORY = 0.5
"""An input whose later value has a smaller correlation with it than this is forgotten, and does not count."""
OWN = 1.0
"""Typical changes: an input that the slower ones foretell up to less can be set right within a step or two.

Measured: beside a place its velocity, heading, speed, the frame before or a poor sensor of it .2 to .8; an ant's place
41 to 80, its heading 12 to 20, its joints 1.0 to 1.3; what CartPole, Pendulum and Acrobot are made of 1.3 and more, but
for CartPole's angular velocity, .4.
"""
COPY = 0.1
"""Typical changes: what slower inputs foretell up to less is the same number again, in another unit perhaps.

With a copy of x in millimetres beside it, thin walls were not looked for: .96 instead of .999.
"""
APART = 1e4
"""Typical moves between states that differ in an exact input: as good as infinitely far."""
_STATES_PER_VALUE = 100  # exact inputs take few values; a sensor that seldom changes but takes thousands is no key


@dataclass(frozen=True)
class Nearness:
    """Turns states into places: one coordinate per input that counts, 1 being its typical change in a move.

    An input that goes round is a circle of two coordinates, so that its ends meet. States that differ in an exact input
    get places `APART` from each other in one more coordinate.
    """

    unit: np.ndarray  # (k,) the typical change of every input that counts
    period: np.ndarray  # (k,) after which it is the same again; infinite if it does not go round
    soft: np.ndarray  # (D,) bool: the inputs that count
    exact: np.ndarray  # (D,) bool: the inputs that must agree
    keys: np.ndarray  # (groups, exact inputs): their values, sorted
    embedding: Embedding | None = None

    @property
    def size(self) -> int:
        """How many coordinates of a place measure distance."""
        return len(self.unit) + int(np.isfinite(self.period).sum())

    def place(self, states: np.ndarray) -> np.ndarray:
        """The places of states, (n, k) or, with exact inputs, (n, k + 1)."""
        inputs = embedded(states, self.embedding)
        places = self._on_circles(inputs[:, self.soft].astype(np.float64))
        if not self.exact.any():
            return places
        return np.column_stack([places, APART * self._groups(inputs[:, self.exact])])

    def measured(self, states: np.ndarray) -> np.ndarray:
        """The coordinates of their places that measure distance, (n, size): without keys."""
        return self.place(states)[:, : self.size]

    def states_at(self, places: np.ndarray) -> np.ndarray | None:
        """The states at places, the inverse of `place`; None where an input does not count, so that it is not known."""
        if self.embedding is not None or not (self.soft | self.exact).all() or np.isfinite(self.period).any():
            return None
        states = np.empty((len(places), len(self.soft)))
        states[:, self.soft] = places[:, : self.size] * self.unit
        if self.exact.any():
            states[:, self.exact] = self.keys[np.round(places[:, -1] / APART).astype(int)]
        return states

    def with_other_keys(self, places: np.ndarray) -> np.ndarray:
        """The same places with every recorded combination of the exact inputs."""
        if not self.exact.any():
            return np.empty((0, places.shape[1]))
        anywhere = np.unique(places[:, : self.size], axis=0)
        keys = APART * np.arange(len(self.keys))
        return np.column_stack([np.repeat(anywhere, len(keys), axis=0), np.tile(keys, len(anywhere))])

    def _on_circles(self, inputs: np.ndarray) -> np.ndarray:
        goes_round = np.isfinite(self.period)
        straight = inputs[:, ~goes_round] / self.unit[~goes_round]
        if not goes_round.any():
            return straight
        angle = 2 * np.pi * inputs[:, goes_round] / self.period[goes_round]
        radius = self.period[goes_round] / (2 * np.pi * self.unit[goes_round])
        return np.column_stack([straight, radius * np.cos(angle), radius * np.sin(angle)])

    def _groups(self, values: np.ndarray) -> np.ndarray:
        known = {row.tobytes(): number for number, row in enumerate(self.keys)}
        different, index = np.unique(values, axis=0, return_inverse=True)
        # A combination that was never recorded is a group of its own, apart from all others.
        numbers = [known.get(row.tobytes(), len(known) + 1 + new) for new, row in enumerate(different)]
        return np.array(numbers, dtype=np.float64)[index.reshape(-1)]


def remembered(before: np.ndarray, after: np.ndarray, embedding: Embedding | None, period: np.ndarray) -> np.ndarray:
    """Which inputs still say something about what they were, some time later, (D,) bool; noise never does."""
    first, second = (embedded(states, embedding).astype(np.float64) for states in (before, after))
    on_circles = np.cos(2 * np.pi * (second - first) / period).mean(axis=0)
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    spread = np.sqrt((first**2).mean(axis=0) * (second**2).mean(axis=0))
    return np.where(np.isfinite(period), on_circles >= MEMORY, (first * second).mean(axis=0) >= MEMORY * spread)


def slowness(before: np.ndarray, after: np.ndarray, embedding: Embedding | None) -> np.ndarray:
    """Of every input, how many typical changes make its spread, (D,); 0 where it never changes. Noise has .6."""
    first, second = (embedded(states, embedding).astype(np.float64) for states in (before, after))
    return first.std(axis=0) / _typical(second - first)


def independent(
    before: np.ndarray, after: np.ndarray, slow: np.ndarray, embedding: Embedding | None, own: float = OWN
) -> np.ndarray:
    """Which inputs say more than can be set right in a step or two, beside slower ones that say the same, (D,) bool.

    Beside a place its reading by another sensor, the frame before or the velocity of what can turn at once say nothing
    that takes time to change. Inputs that hardly ever change are keys, and left alone.
    """
    first, second = (embedded(states, embedding).astype(np.float64) for states in (before, after))
    typical, kept = _typical(second - first), np.ones((len(first), 1))
    found = (first != second).mean(axis=0) < RARE
    for number in np.argsort(-slow):
        if found[number]:
            continue
        column = first[:, number]
        rest = column - kept @ np.linalg.lstsq(kept, column, rcond=None)[0]
        if rest.std() >= own * typical[number]:
            found[number] = True
            kept = np.column_stack([kept, column])
    return found if found.any() else np.ones_like(found)


def _typical(change: np.ndarray) -> np.ndarray:
    typical = typical_change(change)
    return np.where(typical > 0, typical, np.inf)


def fit_nearness(
    before: np.ndarray,
    after: np.ndarray,
    lasting: np.ndarray,
    embedding: Embedding | None,
    period: np.ndarray,
    ignored: np.ndarray | None = None,
) -> Nearness:
    """The nearness by the `lasting` inputs that moves from states `before` to `after`, both (m, D), call for.

    `period` (D,) is that of inputs that go round. Inputs `ignored` (D,) neither count nor have to agree.
    """
    first, second = embedded(before, embedding), embedded(after, embedding)
    change = np.abs(turned(second, first, period) - first).astype(np.float64)
    changes = (change > 0).mean(axis=0)
    values = np.array([len(np.unique(column)) for column in first.T])
    few = (changes < RARE) & (values * _STATES_PER_VALUE <= len(first))
    exact = ((changes == 0) | few) & (embedding is None)
    if ignored is not None:
        exact &= ~ignored
    soft = (changes > 0) & ~exact & lasting
    if not soft.any():  # nothing but noise or keys: better every input that changes than none
        soft, exact = changes > 0, exact & (changes == 0)
    if not soft.any():
        raise InputError("No state ever changes, so nothing can be said about distances; record states that move.")
    moved = change[:, soft][~at_rest(change[:, soft])]
    unit = np.array([np.median(column[column > 0]) for column in moved.T])
    keys = np.unique(np.concatenate([first, second])[:, exact], axis=0)
    return Nearness(unit, period[soft], soft, exact, keys, embedding)


def embedded(states: np.ndarray, embedding: Embedding | None) -> np.ndarray:
    """What nearness is measured on: the states themselves, -0.0 made 0.0, or what `embedding` makes of them."""
    if embedding is None:
        return states + np.float32(0)
    places = np.asarray(embedding(states))
    if places.ndim != 2 or len(places) != len(states) or not np.isfinite(places).all():
        raise InputError(
            f"The embedding made an array of shape {places.shape} of {len(states)} states; "
            "it must return one row of finite numbers per state."
        )
    return places
