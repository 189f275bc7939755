"""Every measure against its definition written out by hand, and against SciPy where it has one."""

from __future__ import annotations

import itertools
import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from minaction.errors import InputError
from minaction.evaluation import Agreement, agreement, agreement_by_range


def example(seed: int, shape: tuple[int, int] = (9, 7)) -> tuple[np.ndarray, np.ndarray]:
    """Integer truth with ties, zeros and unreachable pairs; predictions are rounded, so that they tie too."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 8, shape).astype(np.float64)
    truth[rng.random(shape) < 0.2] = np.inf
    guess = np.where(np.isinf(truth), 6.0, truth) * 1.3
    return np.abs(np.round(guess + rng.normal(0, 1.5, shape), 1)), truth


def counted(predicted: np.ndarray, truth: np.ndarray) -> list[tuple[float, float]]:
    pairs = zip(predicted.ravel().tolist(), truth.ravel().tolist(), strict=True)
    return [(guess, true) for guess, true in pairs if 0 < true < math.inf]


def average_ranks(values: list[float]) -> list[float]:
    return [sum(v < value for v in values) + (sum(v == value for v in values) + 1) / 2 for value in values]


def correlation(x: list[float], y: list[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covariance / math.sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))


@pytest.mark.parametrize("seed", range(6))
def test_every_measure_is_its_definition(seed: int) -> None:
    predicted, truth = example(seed)
    guesses, trues = (list(part) for part in zip(*counted(predicted, truth), strict=True))
    result = agreement(predicted, truth)
    assert result.pairs == len(trues) < truth.size
    assert result.unreachable == int(np.isinf(truth).sum()) > 0
    assert result.pearson == pytest.approx(correlation(guesses, trues))
    assert result.spearman == pytest.approx(correlation(average_ranks(guesses), average_ranks(trues)))
    ratios = [guess / true for guess, true in zip(guesses, trues, strict=True)]
    mean = sum(ratios) / len(ratios)
    assert result.mean_ratio == pytest.approx(mean)
    deviation = math.sqrt(sum((ratio - mean) ** 2 for ratio in ratios) / len(ratios))
    assert result.ratio_cv == pytest.approx(deviation / mean)
    errors = [abs(guess - true) for guess, true in zip(guesses, trues, strict=True)]
    assert result.mean_absolute_error == pytest.approx(sum(errors) / len(errors))
    far = predicted[np.isinf(truth)].tolist()
    wins = sum((a > b) + 0.5 * (a == b) for a, b in itertools.product(far, guesses))
    assert result.auroc == pytest.approx(wins / (len(far) * len(guesses)))


@pytest.mark.parametrize("seed", range(3))
def test_the_correlations_agree_with_scipy(seed: int) -> None:
    predicted, truth = example(seed, (30, 30))
    guesses, trues = np.array(counted(predicted, truth)).T
    result = agreement(predicted, truth)
    assert result.pearson == pytest.approx(stats.pearsonr(guesses, trues)[0])
    assert result.spearman == pytest.approx(stats.spearmanr(guesses, trues)[0])


@given(seed=st.integers(0, 10_000), scale=st.floats(1e-3, 1e3))
@settings(max_examples=50, deadline=None)
def test_a_proportional_prediction_is_perfect_but_for_its_scale(seed: int, scale: float) -> None:
    _, truth = example(seed)
    result = agreement(np.where(np.isinf(truth), 8.0, truth) * scale, truth)
    assert result.pearson == pytest.approx(1.0)
    assert result.spearman == pytest.approx(1.0)
    assert result.ratio_cv == pytest.approx(0.0, abs=1e-9)
    assert result.mean_ratio == pytest.approx(scale)
    assert result.auroc == 1.0


def test_a_monotone_prediction_has_perfect_ranks_but_no_perfect_line() -> None:
    truth = np.arange(1.0, 10.0)[None]
    result = agreement(np.exp(truth), truth)
    assert result.spearman == pytest.approx(1.0)
    assert result.pearson < 0.9


def test_what_is_predicted_for_the_same_state_is_a_measure_of_its_own_and_changes_no_other() -> None:
    truth = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [4.0, 2.0, 0.0]])
    leaking = agreement(truth * 1.1 + np.diag([0.1, 0.2, 0.6]), truth)
    clean = agreement(truth * 1.1, truth)
    assert leaking.same_state == pytest.approx(0.3)
    assert math.isnan(clean.same_state), "a state beside itself says nothing"
    assert replace(leaking, same_state=0.0) == replace(clean, same_state=0.0)


def test_without_unreachable_pairs_there_is_no_auroc() -> None:
    result = agreement(np.ones((2, 2)), np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert math.isnan(result.auroc)
    assert result.as_dict()["auroc"] is None


@pytest.mark.parametrize(
    ("predicted", "truth", "without_value"),
    [
        ([0.1, 0.1, 0.1], [1.0, 2.0, 3.0], {"pearson", "spearman", "auroc"}),
        ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], {"pearson", "spearman", "auroc", "ratio_cv"}),
        ([1.0, 2.0, 3.0], [4.0, 4.0, 4.0], {"pearson", "spearman", "auroc"}),
        ([1.0], [4.0], {"pearson", "spearman", "auroc"}),
        (
            [np.nan, 1.0, 2.0],
            [1.0, 2.0, np.inf],
            {"pearson", "spearman", "auroc", "ratio_cv", "mean_ratio", "mean_absolute_error"},
        ),
        (
            [np.inf, 1.0, 2.0],
            [1.0, 2.0, 3.0],
            {"pearson", "auroc", "ratio_cv", "mean_ratio", "mean_absolute_error"},
        ),
        (
            [5.0, 1.0],
            [0.0, np.inf],
            {"pearson", "spearman", "auroc", "ratio_cv", "mean_ratio", "mean_absolute_error"},
        ),
    ],
)
def test_a_measure_without_a_value_is_none_and_warns_of_nothing(
    predicted: list[float], truth: list[float], without_value: set[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = agreement(np.array([predicted]), np.array([truth])).as_dict()
    same_state = {"same_state", "asymmetric_pearson"} if 0 not in truth else {"asymmetric_pearson"}
    assert {name for name, value in values.items() if value is None} == without_value | same_state


def test_it_goes_through_json_and_back() -> None:
    result = agreement(*example(3))
    assert Agreement.from_dict(json.loads(json.dumps(result.as_dict(), allow_nan=False))) == result
    bare = agreement(np.ones((1, 1)), np.ones((1, 1)))
    again = Agreement.from_dict(json.loads(json.dumps(bare.as_dict(), allow_nan=False)))
    assert math.isnan(again.pearson)
    assert again.mean_ratio == 1.0


def test_the_ranges_partition_the_pairs_and_measure_each_part_alone() -> None:
    predicted, truth = example(11, (20, 20))
    ranges = agreement_by_range(predicted, truth)
    assert [(low, high) for low, high, _ in ranges] == [(0, 1.75), (1.75, 3.5), (3.5, 5.25), (5.25, 7.0)]
    assert sum(part.pairs for _, _, part in ranges) == agreement(predicted, truth).pairs
    for low, high, part in ranges:
        alone = np.where((truth > low) & (truth <= high) | np.isinf(truth), truth, 0.0)
        assert part.as_dict() == {**agreement(predicted, alone).as_dict(), "same_state": None}


def test_a_distance_on_an_edge_belongs_to_the_range_below_it() -> None:
    truth = np.array([[1.0, 2.0, 3.0, 4.0, np.inf]])
    ranges = agreement_by_range(truth, truth, edges=[1, 3, 9, 20])
    assert [part.pairs for _, _, part in ranges] == [2, 1, 0]
    assert ranges[2].agreement.as_dict()["mean_ratio"] is None
    assert all(part.unreachable == 1 for _, _, part in ranges)


@pytest.mark.parametrize("edges", [[1.0], [], [1.0, 1.0], [2.0, 1.0], [0.0, math.nan]])
def test_edges_that_do_not_increase_are_refused(edges: list[float]) -> None:
    with pytest.raises(InputError, match="increasing"):
        agreement_by_range(np.ones((2, 2)), np.ones((2, 2)), edges)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"\(2, 3\)"):
        agreement(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(InputError, match="0 or more"):
        agreement(np.ones((1, 2)), np.array([[np.nan, 1.0]]))
    with pytest.raises(InputError, match="0 or more"):
        agreement(np.ones((1, 2)), np.array([[-1.0, 1.0]]))


def test_asymmetric_pairs_are_judged_apart():
    truth = np.array([[0, 1, 2.0], [4, 0, 1], [2, 1, 0]])  # of three, only the way from 0 to 1 and back differs
    symmetric = (truth + truth.T) / 2
    exact, averaged = agreement(truth, truth), agreement(symmetric, truth)
    assert exact.asymmetric_pearson == pytest.approx(1)
    assert math.isnan(averaged.asymmetric_pearson)  # a symmetric distance says the same for both
    assert averaged.pearson > 0


def test_without_asymmetric_pairs_there_is_no_such_correlation():
    truth = np.array([[0, 1], [np.inf, 0]])  # no way back is not another length
    assert math.isnan(agreement(truth, truth).asymmetric_pearson)
    assert math.isnan(agreement(np.ones((2, 3)), np.ones((2, 3))).asymmetric_pearson)
