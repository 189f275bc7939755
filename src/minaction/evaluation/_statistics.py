"""Statistics over seeds and tasks: the spread of a few runs, the inter-quartile mean, the probability of improvement.

Intervals are percentile bootstraps, stratified by task: seeds are resampled within every task, tasks are not. This is
what Agarwal et al. (2021), "Deep Reinforcement Learning at the Edge of the Statistical Precipice", recommend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import trim_mean

from ..errors import InputError

RESAMPLES = 2000
CONFIDENCE = 0.95


class Spread(NamedTuple):
    """What the paper's curves show of several seeds: mean, minimum and maximum."""

    mean: float
    low: float
    high: float
    runs: int


class Estimate(NamedTuple):
    """A statistic and its bootstrap interval."""

    value: float
    low: float
    high: float


def spread(values: Sequence[float | None] | np.ndarray) -> Spread:
    """Mean, minimum and maximum of the values that are neither None nor NaN; NaN if there are none."""
    usable = _usable(values)
    if usable.size == 0:
        return Spread(np.nan, np.nan, np.nan, 0)
    return Spread(float(usable.mean()), float(usable.min()), float(usable.max()), int(usable.size))


def interquartile_mean(tasks: Sequence[Sequence[float | None] | np.ndarray], seed: int = 0) -> Estimate:
    """The mean of the middle half of all runs, with its interval; `tasks` has the scores of each task's seeds."""
    scores = _checked(tasks)
    return _bootstrap([scores], lambda drawn: trim_mean(np.concatenate(drawn[0], axis=1), 0.25, axis=1), seed)


def probability_of_improvement(
    first: Sequence[Sequence[float | None] | np.ndarray],
    second: Sequence[Sequence[float | None] | np.ndarray],
    seed: int = 0,
) -> Estimate:
    """The probability that a run of the first method scores higher than one of the second; a tie counts half.

    Both have the scores of each task's seeds, with tasks in the same order; the probability is averaged over tasks.
    """
    if len(first) != len(second):
        raise InputError(f"Two methods are compared on the same tasks, not on {len(first)} and {len(second)}.")

    def probability(drawn: list[list[np.ndarray]]) -> np.ndarray:
        by_task = []
        for x, y in zip(*drawn, strict=True):
            difference = x[:, :, None] - y[:, None, :]
            by_task.append(((difference > 0) + 0.5 * (difference == 0)).mean(axis=(1, 2)))
        return np.mean(by_task, axis=0)

    return _bootstrap([_checked(first), _checked(second)], probability, seed)


def _bootstrap(
    methods: list[list[np.ndarray]], statistic: Callable[[list[list[np.ndarray]]], np.ndarray], seed: int
) -> Estimate:
    """The statistic of the scores, and its percentiles over resampled seeds.

    `statistic` takes an array (samples, seeds) for every method and task and returns an array (samples,).
    """
    random = np.random.default_rng(seed)
    redrawn = [
        [scores[random.integers(scores.size, size=(RESAMPLES, scores.size))] for scores in tasks] for tasks in methods
    ]
    value = statistic([[scores[None] for scores in tasks] for tasks in methods])[0]
    low, high = np.quantile(statistic(redrawn), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(value), float(low), float(high))


def _checked(tasks: Sequence[Sequence[float | None] | np.ndarray]) -> list[np.ndarray]:
    scores = [_usable(values) for values in tasks]
    if not scores or any(values.size == 0 for values in scores):
        raise InputError("Statistics over runs need at least one task, and at least one value for every task.")
    return scores


def _usable(values: Sequence[float | None] | np.ndarray) -> np.ndarray:
    """The values that are neither None nor NaN."""
    numbers = np.array(values, dtype=np.float64).ravel()
    return numbers[np.isfinite(numbers)]
