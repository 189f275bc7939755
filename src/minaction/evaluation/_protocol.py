"""Comparing a model with every truth of its task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..tasks import Truth
from ._agreement import Agreement, RangeAgreement, agreement, agreement_by_range


class HasPairwise(Protocol):
    """Anything that predicts the distances from each of some states to each of others."""

    def pairwise(self, sources: Any, targets: Any, /) -> Any:
        """The distances (n, m) from sources (n, *shape) to targets (m, *shape)."""
        ...


def evaluate(model: HasPairwise, truths: Sequence[Truth]) -> dict[str, Agreement]:
    """The agreement of a model's distances with each truth, by the name of the truth.

    Args:
        model: a `DistanceModel`, or any object with a method `pairwise(sources, targets)`.
        truths: what to compare with, such as the truths of a task.

    >>> import minaction as ma
    >>> model = ma.fit("cliffwalking", steps=1, progress=False)
    >>> found = ma.evaluate(model, ma.get_task("cliffwalking").truths())
    >>> -1 <= next(iter(found.values())).pearson <= 1
    True
    """
    return {truth.name: agreement(found, truth.distances) for truth, found in predictions(model, truths)}


def evaluate_by_range(model: HasPairwise, truths: Sequence[Truth]) -> dict[str, list[RangeAgreement]]:
    """The same as `evaluate`, for each quarter of the longest true distance."""
    return {truth.name: agreement_by_range(found, truth.distances) for truth, found in predictions(model, truths)}


def predictions(model: HasPairwise, truths: Sequence[Truth]) -> list[tuple[Truth, np.ndarray]]:
    """The model's distances for each truth, computed once where truths share their states, or some of them."""
    found: list[tuple[Truth, np.ndarray]] = []
    for truth in truths:
        for earlier, distances in found:
            rows, columns = _places(truth.sources, earlier.sources), _places(truth.targets, earlier.targets)
            if rows is not None and columns is not None:
                found.append((truth, distances[np.ix_(rows, columns)]))
                break
        else:
            found.append((truth, np.asarray(model.pairwise(truth.sources, truth.targets))))
    return found


def _places(states: np.ndarray, others: np.ndarray) -> list[int] | None:
    """The index of each of `states` in `others`; None if one is missing."""
    place = {row.tobytes(): k for k, row in enumerate(others)}
    found = [place.get(row.tobytes()) for row in states]
    return None if None in found else found  # type: ignore[return-value]
