"""`Evaluation`: one comparison of a model with a truth, as it is stored on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..tasks import Truth
from ._agreement import agreement, agreement_by_range
from ._protocol import HasPairwise, predictions


@dataclass(frozen=True)
class Evaluation:
    """How a model agreed with one truth at one step of its training.

    Attributes:
        step: the training step.
        seed: the seed of the model.
        truth: the name of the truth.
        unit: the unit of the true distances.
        agreement: the measures of `Agreement` by name; None for one without a value.
        low: if given, only pairs with low < d <= high count.
        high: likewise.

    >>> import minaction as ma
    >>> ma.Evaluation(step=100, seed=0, truth="true", unit="steps", agreement={"pearson": 0.98}).agreement["pearson"]
    0.98
    """

    step: int
    seed: int
    truth: str
    unit: str
    agreement: Mapping[str, float | None]
    low: float | None = None
    high: float | None = None


def judge(
    model: HasPairwise, truths: Sequence[Truth], *, step: int, seed: int, by_range: bool = True
) -> list[Evaluation]:
    """Compares a model with every truth, over all pairs and, with `by_range`, for each quarter of the longest distance.

    Distances are computed once for both.
    """
    overall, parts = [], []
    for truth, found in predictions(model, truths):
        measures = agreement(found, truth.distances).as_dict()
        overall.append(Evaluation(step, seed, truth.name, truth.unit, measures))
        parts += _by_range(found, truth, step, seed) if by_range else []
    return overall + parts


def _by_range(found: np.ndarray, truth: Truth, step: int, seed: int) -> list[Evaluation]:
    return [
        Evaluation(step, seed, truth.name, truth.unit, part.agreement.as_dict(), part.low, part.high)
        for part in agreement_by_range(found, truth.distances)
    ]
