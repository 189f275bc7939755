"""Judging a model by every truth that its task offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..tasks.base import Truth
from .agreement import Agreement, RangeAgreement, agreement, agreement_by_range


class HasPairwise(Protocol):
    """Whatever predicts the distances between all of some states and all of others."""

    def pairwise(self, sources: Any, targets: Any, /) -> Any:
        """(n, D) and (m, D) to an array (n, m)."""
        ...


def evaluate(model: HasPairwise, truths: Sequence[Truth]) -> dict[str, Agreement]:
    """The agreement of the model's distances with each truth, by the truth's name."""
    return {truth.name: agreement(_predictions(model, truth), truth.distances) for truth in truths}


def evaluate_by_range(model: HasPairwise, truths: Sequence[Truth]) -> dict[str, list[RangeAgreement]]:
    """As `evaluate`, apart for each quarter of the longest true distance."""
    return {truth.name: agreement_by_range(_predictions(model, truth), truth.distances) for truth in truths}


def _predictions(model: HasPairwise, truth: Truth) -> np.ndarray:
    return np.asarray(model.pairwise(truth.sources, truth.targets))
