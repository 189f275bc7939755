"""Statistics over seeds and tasks, against plain loops and SciPy's own bootstrap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, mannwhitneyu, trim_mean

from minaction.errors import InputError
from minaction.evaluation._statistics import interquartile_mean, probability_of_improvement, spread

numbers = st.floats(-5, 5)
tasks = st.lists(st.lists(numbers, min_size=1, max_size=6), min_size=1, max_size=4)


def test_a_spread_is_mean_least_and_greatest_of_what_has_a_value() -> None:
    assert spread([0.5, None, 1.5, float("nan"), 0.1]) == pytest.approx((0.7, 0.1, 1.5, 3))
    nothing = spread([None])
    assert nothing.runs == 0
    assert np.isnan(nothing.mean)


@settings(deadline=None, max_examples=60)
@given(tasks)
def test_the_interquartile_mean_is_the_mean_of_the_middle_half(scores: list[list[float]]) -> None:
    everything = sorted(itertools.chain(*scores))
    cut = len(everything) // 4
    middle = everything[cut : len(everything) - cut]
    found = interquartile_mean(scores)
    assert found.value == pytest.approx(sum(middle) / len(middle), abs=1e-9)
    assert min(everything) - 1e-9 <= found.low <= found.high <= max(everything) + 1e-9


@settings(deadline=None, max_examples=60)
@given(tasks, st.data())
def test_the_probability_of_improvement_counts_pairs(first: list[list[float]], data: st.DataObject) -> None:
    values = st.lists(st.one_of(numbers, st.sampled_from(first[0])), min_size=1, max_size=5)
    second = [data.draw(values) for _ in first]
    by_task = [
        np.mean([1.0 if x > y else 0.5 if x == y else 0.0 for x, y in itertools.product(mine, other)])
        for mine, other in zip(first, second, strict=True)
    ]
    there, back = probability_of_improvement(first, second), probability_of_improvement(second, first)
    assert there.value == pytest.approx(np.mean(by_task))
    assert there.value + back.value == pytest.approx(1.0)
    statistics = [mannwhitneyu(x, y).statistic / (len(x) * len(y)) for x, y in zip(first, second, strict=True)]
    assert there.value == pytest.approx(np.mean(statistics))


def test_the_interval_of_one_task_is_scipys_percentile_bootstrap() -> None:
    scores = np.random.default_rng(3).normal(size=40)
    theirs = bootstrap(
        (scores,),
        lambda sample, axis: trim_mean(sample, 0.25, axis=axis),
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    ours = interquartile_mean([scores])
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.04)


def test_resampling_is_stratified_by_task() -> None:
    """Seeds that agree leave nothing to vary, however far tasks are apart; an unstratified bootstrap would vary."""
    same = interquartile_mean([[0.2] * 4, [0.8] * 4])
    assert same.low == same.value == same.high
    assert probability_of_improvement([[1.0, 1.0], [0.0]], [[0.0, 0.0], [1.0]]) == (0.5, 0.5, 0.5)


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        found = interquartile_mean([random.normal(size=20), random.normal(2.0, size=20)])
        covered += found.low <= 1.0 <= found.high
    assert 0.86 <= covered / 100 <= 0.99


def test_the_same_seed_gives_the_same_interval() -> None:
    scores = list(np.random.default_rng(0).normal(size=(2, 7)))
    assert interquartile_mean(scores) == interquartile_mean(scores)
    assert interquartile_mean(scores) != interquartile_mean(scores, seed=1)


@pytest.mark.parametrize("bad", [[], [[]], [[1.0], [None]]])
def test_nothing_to_compare_is_refused(bad: list) -> None:
    with pytest.raises(InputError, match="at least one"):
        interquartile_mean(bad)
    with pytest.raises(InputError):
        probability_of_improvement(bad, [[1.0]])
