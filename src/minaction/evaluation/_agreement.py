"""Measures of how well predicted distances agree with true ones: correlations, ratios, errors and AUROC."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InputError

_RANGES = 4  # by default the longest true distance is divided into this many equal ranges


@dataclass(frozen=True)
class Agreement:
    """How well predictions d̂ agree with true distances d, over the pairs with 0 < d < infinity.

    Pairs with d = 0 (the diagonal, and repeated states) count only for `same_state`, and pairs with infinite d only for
    `auroc`. A measure without a value, such as the correlation of a constant, is NaN.

    Attributes:
        pairs: the number of pairs with 0 < d < infinity.
        unreachable: the number of pairs with infinite d.
        pearson: the linear correlation of d̂ and d.
        spearman: the correlation of their ranks; ties have their average rank.
        ratio_cv: the population standard deviation of d̂/d divided by its mean: 0 if d̂ is proportional to d.
        mean_ratio: the mean of d̂/d: 1 if unbiased. Meaningful only if both have the same unit.
        mean_absolute_error: the mean of |d̂ - d|, in the unit of d. Meaningful only if both have the same unit.
        auroc: the probability that d̂ of an unreachable pair exceeds that of a reachable one; a tie counts half.
        same_state: the mean of d̂ over pairs with d = 0 whose observations differ: how much irrelevant input, such as
            noise, affects the distance. NaN if all such pairs are identical states, for which d̂ = 0 by construction.
        asymmetric_pearson: the linear correlation over pairs whose distance in the other direction is different: what a
            symmetric distance cannot represent. NaN if there are none.

    >>> import numpy as np
    >>> import minaction as ma
    >>> true = np.array([[0.0, 1.0, 2.0], [2.0, 0.0, 1.0], [1.0, 2.0, 0.0]])
    >>> found = ma.agreement(1.5 * true, true)
    >>> found.pairs, round(found.pearson, 3), round(found.mean_ratio, 3)
    (6, 1.0, 1.5)
    """

    pairs: int
    unreachable: int
    pearson: float
    spearman: float
    ratio_cv: float
    mean_ratio: float
    mean_absolute_error: float
    auroc: float
    same_state: float = math.nan
    asymmetric_pearson: float = math.nan

    def as_dict(self) -> dict[str, int | float | None]:
        """All measures by name; None for those without a value, as JSON has no NaN."""
        values = dataclasses.asdict(self)
        return {name: None if math.isnan(value) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: dict[str, int | float | None]) -> Agreement:
        """The inverse of `as_dict`: `values` has all measures by name."""
        return cls(**{name: math.nan if value is None else value for name, value in values.items()})  # type: ignore[arg-type]


class RangeAgreement(NamedTuple):
    """The agreement over the pairs with low < d <= high; unreachable pairs are compared with these alone."""

    low: float
    high: float
    agreement: Agreement


def agreement(predicted: np.ndarray, truth: np.ndarray) -> Agreement:
    """How well predicted distances agree with true ones.

    Args:
        predicted: predicted distances, (n, m).
        truth: true distances of the same pairs, (n, m); infinite where a target is unreachable.

    >>> import numpy as np
    >>> import minaction as ma
    >>> true = np.array([[0.0, 1.0], [3.0, 0.0]])
    >>> ma.agreement(true + 0.5, true).mean_absolute_error
    0.5
    """
    predicted, truth = _checked(predicted, truth)
    reachable = (truth > 0) & np.isfinite(truth)
    found = _measure(predicted[reachable], truth[reachable], predicted[np.isinf(truth)])
    same, asymmetric = predicted[truth == 0], _asymmetric(truth)
    return dataclasses.replace(
        found,
        same_state=float(same.mean()) if same.any() else math.nan,
        asymmetric_pearson=_correlation(predicted[asymmetric], truth[asymmetric]),
    )


def agreement_by_range(
    predicted: np.ndarray, truth: np.ndarray, edges: Sequence[float] | None = None
) -> list[RangeAgreement]:
    """The agreement for each range of true distance: edges[k] < d <= edges[k + 1].

    By default the ranges are quarters of the longest true distance. Correlations within a range are lower
    than over all pairs, because distances vary less; what to look at is how the mean ratio and the error
    change with distance. The measures of a range without pairs are NaN.
    """
    predicted, truth = _checked(predicted, truth)
    finite = truth[np.isfinite(truth)]
    if edges is None:
        longest = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
        edges = [longest * k / _RANGES for k in range(_RANGES + 1)]
    limits = [float(edge) for edge in edges]
    if len(limits) < 2 or any(not low < high for low, high in itertools.pairwise(limits)):
        raise InputError(f"The edges of the ranges must be two or more increasing numbers, not {limits}.")
    unreachable = predicted[np.isinf(truth)]
    ranges = []
    for low, high in itertools.pairwise(limits):
        inside = (truth > max(low, 0.0)) & (truth <= high) & np.isfinite(truth)
        ranges.append(RangeAgreement(low, high, _measure(predicted[inside], truth[inside], unreachable)))
    return ranges


def _asymmetric(truth: np.ndarray) -> np.ndarray:
    """Which pairs have another distance in the other direction; none where rows and columns are different states."""
    if truth.shape[0] != truth.shape[1] or truth.diagonal().any():
        return np.zeros(truth.shape, dtype=bool)
    back = truth.T
    both_ways = np.isfinite(truth) & np.isfinite(back)
    return both_ways & ~np.isclose(np.where(both_ways, truth, 0.0), np.where(both_ways, back, 0.0))


def _measure(predicted: np.ndarray, true: np.ndarray, unreachable: np.ndarray) -> Agreement:
    """All measures, from predictions (p,) and their true distances (p,), and predictions for unreachable pairs."""
    # The ratio and the error of a diverged model are NaN, without a warning.
    usable = true.size > 0 and bool(np.isfinite(predicted).all())
    ratio = predicted / true if usable else np.full(1, math.nan)
    mean_ratio = float(ratio.mean())
    return Agreement(
        pairs=int(true.size),
        unreachable=int(unreachable.size),
        pearson=_correlation(predicted, true),
        spearman=_correlation(_ranks(predicted), _ranks(true)),
        ratio_cv=float(ratio.std() / mean_ratio) if mean_ratio else math.nan,
        mean_ratio=mean_ratio,
        mean_absolute_error=float(np.abs(predicted - true).mean()) if usable else math.nan,
        auroc=_auroc(unreachable, predicted),
    )


def _ranks(values: np.ndarray) -> np.ndarray:
    """1, 2, 3, ... by size; ties have their average rank; all NaN if any value is NaN.

    The same as SciPy's `rankdata` in two thirds of its time; and importing scipy.stats takes most of a second.
    """
    if np.isnan(values).any():
        return np.full(values.shape, math.nan)
    _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(ties) - (ties - 1) / 2)[place]


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    if x.size < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return math.nan
    if np.ptp(x) == 0 or np.ptp(y) == 0:  # checked before centring, which leaves rounding errors of a constant
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)), -1.0, 1.0))


def _auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The area under the curve as a rank statistic (Mann-Whitney U over the number of pairs)."""
    if positive.size == 0 or negative.size == 0:
        return math.nan
    ranks = _ranks(np.concatenate([positive, negative]))
    exceeded = ranks[: positive.size].sum() - positive.size * (positive.size + 1) / 2
    return float(exceeded / (positive.size * negative.size))


def _checked(predicted: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    predicted, truth = np.asarray(predicted, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if predicted.shape != truth.shape:
        raise InputError(
            f"Predicted distances have shape {predicted.shape} and true ones {truth.shape}; they must match."
        )
    if np.isnan(truth).any() or (truth < 0).any():
        raise InputError("True distances must be 0 or more, infinite where unreachable; found NaN or less than 0.")
    return predicted, truth
