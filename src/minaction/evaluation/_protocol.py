"""Judging a model by every truth that its task offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..tasks import Truth
from ._agreement import Agreement, RangeAgreement, agreement, agreement_by_range


class HasPairwise(Protocol):
    """Whatever predicts the distances between all of some states and all of others."""

    def pairwise(self, sources: Any, targets: Any, /) -> Any:
        """(n, *shape) and (m, *shape) to an array (n, m)."""
        ...


def evaluate(model: HasPairwise, truths: Sequence[Truth]) -> dict[str, Agreement]:
    """The agreement of the model's distances with each truth, by the truth's name.

    >>> import minaction as ma
    >>> model = ma.fit("cliffwalking", steps=1, progress=False)
    >>> found = ma.evaluate(model, ma.get_task("cliffwalking").truths())
    >>> -1 <= next(iter(found.values())).pearson <= 1
    True
    """
    return {truth.name: agreement(found, truth.distances) for truth, found in predictions(model, truths)}


def evaluate_by_range(model: HasPairwise, truths: Sequence[Truth]) -> dict[str, list[RangeAgreement]]:
    """As `evaluate`, apart for each quarter of the longest true distance."""
    return {truth.name: agreement_by_range(found, truth.distances) for truth, found in predictions(model, truths)}


def predictions(model: HasPairwise, truths: Sequence[Truth]) -> list[tuple[Truth, np.ndarray]]:
    """What the model says to each truth. It is asked once where truths look at the same states, or at some of them."""
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


def _places(states: np.ndarray, among: np.ndarray) -> list[int] | None:
    """Where each of `states` stands among others; None if one does not."""
    place = {row.tobytes(): k for k, row in enumerate(among)}
    found = [place.get(row.tobytes()) for row in states]
    return None if None in found else found  # type: ignore[return-value]
