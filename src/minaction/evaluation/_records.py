"""`Evaluation`: one comparison of a model with a truth, as it is kept on disk."""

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

    `agreement` has the measures of `Agreement` by name, None for one that has no value. `low` and `high` are given
    where only pairs whose true distance lies between them count.

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
    """A model beside every truth, overall; then the same apart for each quarter of the longest true distance.

    The model is asked once, whatever is made of its answers.
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
