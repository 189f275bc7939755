"""Judging by several truths: each with its own states, in the right direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from minaction.evaluation import agreement, agreement_by_range, evaluate, evaluate_by_range
from minaction.tasks import Truth


@dataclass(frozen=True)
class Downhill:
    """An asymmetric distance on the line: going up costs more than going down."""

    up: float

    def pairwise(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        rise = targets[None, :, 0] - sources[:, None, 0]
        return np.where(rise > 0, self.up * rise, -rise).astype(np.float32)


def truths() -> list[Truth]:
    states = np.arange(5, dtype=np.float32)[:, None]
    few = np.array([[0.0], [3.0]], dtype=np.float32)
    exact = Downhill(2.0)
    return [
        Truth.between("true", "steps", states, exact.pairwise(states, states).astype(np.float64)),
        Truth("some", "steps", few, states, exact.pairwise(few, states).astype(np.float64)),
    ]


def test_a_model_is_judged_by_each_truth_at_its_own_states() -> None:
    results = evaluate(Downhill(2.0), truths())
    assert list(results) == ["true", "some"]
    assert [result.pairs for result in results.values()] == [20, 8]
    assert all(result.mean_absolute_error == 0 for result in results.values())
    assert all(result.pearson == pytest.approx(1) for result in results.values())


def test_a_model_is_asked_once_about_the_same_states() -> None:
    asked = []

    class Counting(Downhill):
        def pairwise(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
            asked.append((len(sources), len(targets)))
            return super().pairwise(sources, targets)

    everywhere, some = truths()
    elsewhere = Truth("elsewhere", "steps", some.sources + 9, some.targets, some.distances)
    backwards = Truth.between("backwards", "steps", everywhere.sources[::-1], everywhere.distances[::-1, ::-1])
    judged = [everywhere, some, elsewhere, backwards]
    results = evaluate(Counting(3.0), judged)
    assert asked == [(5, 5), (2, 5)]
    for truth in judged:
        expected = agreement(Downhill(3.0).pairwise(truth.sources, truth.targets), truth.distances)
        assert str(results[truth.name]) == str(expected)


def test_direction_matters() -> None:
    (truth, _) = truths()
    model = Downhill(0.5)  # cheap where it should be dear
    (result,) = evaluate(model, [truth]).values()
    assert result == agreement(model.pairwise(truth.sources, truth.targets), truth.distances)
    assert result.pearson < 0.9


def test_by_range_is_the_agreement_of_each_range() -> None:
    (truth, _) = truths()
    model = Downhill(3.0)
    predicted = model.pairwise(truth.sources, truth.targets)
    expected = agreement_by_range(predicted, truth.distances)
    results = evaluate_by_range(model, [truth])["true"]
    assert [str(part) for part in results] == [str(part) for part in expected]
    assert len(results) == 4
