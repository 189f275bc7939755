"""Numbers that go round, as the angle of a joint or a heading: past the greatest value comes the least."""

from __future__ import annotations

import numpy as np

from ._dataset import Trajectories

FULL_TURNS = (2 * np.pi, 360.0)
"""The periods of angles; a world that goes round by itself may have any other, the range of what was recorded."""
ROUND = 10
"""A number has to go round so often,"""
MOST = 0.5
"""and so many of its long steps have to be ordinary ones around the end, as a ninth is of leaps anywhere."""
SELDOM = 0.1
"""If less of the ordinary steps than this go one way, only one way is passable, and so is the end."""
_SMALL = 1 / 6  # of a period: ordinary steps are at most so long, or nobody could tell which way round they went
_ORDINARY = 0.99  # the quantile of their length that counts
_MOST_NUMBERS = 64  # of a state: what has more is an embedding, or an image flattened


def periods(data: Trajectories) -> np.ndarray:
    """The period of every number of a state, (D,): infinite for those that do not go round."""
    found = np.full(int(np.prod(data.state_shape)), np.inf)
    measured = len(data.state_shape) == 1 and len(found) <= _MOST_NUMBERS and data.states.dtype.kind == "f"
    if measured and not data.is_mapped:
        inside = np.ones(data.num_states - 1, bool)
        inside[data.offsets[1:-1] - 1] = False
        for number, column in enumerate(data.states.T):
            values = column.astype(np.float64)
            found[number] = _period(values, np.diff(values)[inside])
    return found


def turned(values: np.ndarray, reference: np.ndarray | float, period: np.ndarray | float) -> np.ndarray:
    """`values`, so many whole periods further that they are nearest to `reference`; infinite periods change nothing."""
    goes_round = np.isfinite(period)
    if not np.any(goes_round):
        return values  # as they are: truth values cannot be subtracted
    turn = np.where(goes_round, period, 1.0)
    return np.where(goes_round, values + turn * np.round((reference - values) / turn), values)


def _period(values: np.ndarray, change: np.ndarray) -> float:
    span = float(np.ptp(values)) if len(values) else 0.0
    size = np.abs(change)
    if span == 0 or np.count_nonzero(size > span / 2) < ROUND:
        return np.inf
    return next((period for period in (*FULL_TURNS, span) if _goes_round(change, size, span, period)), np.inf)


def _goes_round(change: np.ndarray, size: np.ndarray, span: float, period: float) -> bool:
    """Whether the long steps are ordinary ones around the end, and lead both ways if the others do."""
    long = size > period / 2
    ordinary = change[~long & (size > 0)]
    if not 0.9 * period <= span <= 1.001 * period or np.count_nonzero(long) < ROUND or len(ordinary) == 0:
        return False
    longest = np.quantile(np.abs(ordinary), _ORDINARY)
    around = -np.sign(change[long]) * (period - size[long])
    fits = np.abs(around) <= longest
    if longest > _SMALL * period or fits.mean() < MOST:
        return False
    inside, over = (min(np.mean(steps > 0), np.mean(steps < 0)) > SELDOM for steps in (ordinary, around[fits]))
    return bool(inside == over)
