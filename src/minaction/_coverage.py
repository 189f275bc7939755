"""How far a state is from what was recorded, by a sample of recorded states that is stored with a model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import KDTree

from ._image_axes import is_image
from ._mapped import read_rows
from .trajectories import Trajectories, at_rest

_MOST_STATES, _MOST_BYTES = 16_000, 1_000_000  # of a sample
_GLANCE, _GLANCE_NUMBERS = 40_000, 10_000_000
_CLOSE = 0.95  # of the recorded states that are not in the sample are not further from it than `spacing`
_NEVER = 1e-3  # of its range: the typical change of an input that changes in no episode, such as a task number


@dataclass(frozen=True, eq=False)
class Coverage:
    """A sample of recorded states and the scale on which the distance to it is measured.

    Every input is divided by its typical change in a step, so that a typical step has the length `step`. Recorded
    states that are not in the sample are about `spacing` away from it, so that distances up to that count as 0.

    In states of many numbers an unusual combination of fast ones is lost among their changes in a step. So distances
    are also measured with every input divided by its standard deviation over the sample, and the larger one counts.
    All pixels of images share one unit: most of them hardly ever change, and by a level or two if they do.
    """

    states: np.ndarray  # (m, *shape), as recorded
    unit: np.ndarray  # (D,) the typical change of every input in a step
    step: float
    spacing: float

    @classmethod
    def of(cls, data: Trajectories) -> Coverage:
        """A sample of `data`: every distinct state if there are few, otherwise random ones."""
        random = np.random.default_rng(0)
        glance = min(_GLANCE, max(100, _GLANCE_NUMBERS // int(np.prod(data.state_shape))))
        rows = random.choice(data.num_states, min(glance, data.num_states), replace=False)
        seen = read_rows(data.states, rows)
        _, first = np.unique(flat(seen), axis=0, return_index=True)
        seen = seen[np.sort(first)]  # in the order in which they were drawn
        most = max(2, min(_MOST_STATES, _MOST_BYTES // seen[:1].nbytes))
        unit, step = _typical_step(data, rows)
        sample = cls(seen[:most], unit, step, 0.0)
        beside = sample.away(seen[most : most + 1_000])
        return cls(sample.states, unit, step, float(np.quantile(beside, _CLOSE)) if len(beside) else 0.0)

    def away(self, states: np.ndarray) -> np.ndarray:
        """The distance of each of `states` (n, *shape) from the nearest one of the sample, (n,), in typical steps."""
        return self._tree.query(flat(states) / self.unit)[0] / self.step

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """How many typical steps each of `states` (n, *shape) is from what was recorded, (n,); 0 for recorded ones."""
        away = self.away(states)
        if self.spacing > 0:
            away = np.maximum(away, self.spacing * self._by_spread.away(states))
        return np.maximum(away - self.spacing, 0.0)

    def as_tensors(self, prefix: str) -> dict[str, np.ndarray]:
        """Arrays by name for a file; every name starts with `prefix`."""
        scale = np.array([self.step, self.spacing])
        return {f"{prefix}states": self.states, f"{prefix}unit": self.unit, f"{prefix}scale": scale}

    @classmethod
    def from_tensors(cls, tensors: dict[str, np.ndarray], prefix: str, shape: tuple[int, ...]) -> Coverage | None:
        """The inverse of `as_tensors` for states of `shape`; None if the arrays, which it removes, are not there."""
        states, unit, scale = (tensors.pop(f"{prefix}{name}", None) for name in ("states", "unit", "scale"))
        if states is None or unit is None or scale is None:
            return None
        fits = len(states) > 0 and states.shape[1:] == shape and unit.shape == (math.prod(shape),)
        if not fits or not (unit > 0).all() or not np.isfinite(flat(states) / unit).all():
            raise ValueError("the sample of recorded states does not fit the others")
        return cls(states, unit, *map(float, scale))

    @cached_property
    def _by_spread(self) -> Coverage:
        """The same sample in standard deviations; 1 is how far recorded states are from the others of the sample."""
        rows = flat(self.states)
        spread = rows.std(axis=0)
        unit = _shared(np.where(spread > 0, spread, self.unit), self.states.shape[1:])
        alone = KDTree(rows / unit).query(rows[:1_000] / unit, 2)[0][:, 1]
        return Coverage(self.states, unit, float(np.quantile(alone, _CLOSE)) or 1.0, 0.0)

    @cached_property
    def _tree(self) -> KDTree:
        return KDTree(flat(self.states) / self.unit)


def flat(states: np.ndarray) -> np.ndarray:
    """States (n, *shape) as rows of numbers, (n, D) float64."""
    return np.asarray(states, np.float64).reshape(len(states), int(np.prod(np.shape(states)[1:])))


def _typical_step(data: Trajectories, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """The typical change of every input in a step, and the length of a typical step in these units."""
    rows = rows[~np.isin(rows, data.offsets[1:] - 1)]  # the last state of an episode has no successor
    before, after = flat(read_rows(data.states, rows)), flat(read_rows(data.states, rows + 1))
    change = np.abs(after - before)
    change = change[~at_rest(change)]
    unit = np.array([np.median(column[column > 0]) if (column > 0).any() else 0.0 for column in change.T])
    spread = np.ptp(before, axis=0)
    unit = np.where(unit > 0, unit, _NEVER * np.where(spread > 0, spread, np.maximum(np.abs(before[:1]).max(0), 1.0)))
    unit = _shared(unit, data.state_shape)
    lengths = np.linalg.norm(change / unit, axis=1)
    return unit, float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 1.0


def _shared(unit: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """One unit for all pixels of images, and for all other states their own."""
    return np.full_like(unit, np.sqrt((unit**2).mean())) if is_image(shape) else unit
