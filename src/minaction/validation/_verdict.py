"""What the numbers of a `Health` mean, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .._health import NO_PROBLEM, Health

_SHORT, _LONG = 0.8, 1.5  # of a single step: outside, single steps are not what they should be
_FEWEST_NOVEL = 30  # pairs; fewer say little
_EXCESS = 0.1  # a tenth more than the time in which it was done
_OVERLAP = 0.2  # fewer held-out states than that are known from training
_AGREEMENT = 0.98  # correlation with shortest paths over the recording: what a trained model has
_SHORTER, _LONGER = 0.85, 1.15  # than these paths
_FLAT = 1.5  # random pairs are hardly further than single steps


def verdict(health: Health) -> Health:
    """`health` with its verdict."""
    return replace(health, verdict=list(_sentences(health)) or [NO_PROBLEM])


def _sentences(health: Health) -> Iterator[str]:
    single, random, excess = health.single_step, health.random_pairs, health.novel_excess
    # Where recorded steps are of different lengths, most are shorter than the fastest, and measure less than 1.
    if single is not None and not _SHORT <= single <= _LONG and not _agrees(health):
        yield (
            f"undertrained: recorded single steps measure {single:.2f} where they take 1; train longer, or record more "
            "if that gains nothing"
        )
    if single is not None and random is not None and random < _FLAT * single and random > 0:
        yield (
            f"flat: random pairs measure {random / single:.1f} times a single step; either every state is a step or "
            "two from every other, or nothing was learned"
        )
    if excess is None or (health.novel_pairs or 0) < _FEWEST_NOVEL:
        excess = health.excess
    if excess is not None and excess > _EXCESS:
        yield (
            f"distances are too long for pairs that training did not cover: they measure {100 * excess:.0f}% more "
            "than the time in which they were done; record more, or train longer"
        )
    if health.agreement is not None and health.agreement < _AGREEMENT:
        yield (
            f"distances and shortest paths over the recording disagree (their correlation is {health.agreement:.2f}): "
            "train longer, record more, or compare with minaction.recorded_distance"
        )
    if health.path_ratio is not None and not _SHORTER <= health.path_ratio <= _LONGER:
        yield (
            f"distances are {health.path_ratio:.2f} times as long as shortest paths over the recording: "
            "train longer, record more, or compare with minaction.recorded_distance"
        )
    if health.recorded_share is not None and health.recorded_share < _OVERLAP:
        yield (
            f"recordings hardly overlap: {100 * health.recorded_share:.0f}% of the held-out states lie near one of "
            "another episode, so that distances between episodes are guesses"
        )


def _agrees(health: Health) -> bool:
    """Whether distances are those of shortest paths over the recording."""
    if health.agreement is None or health.path_ratio is None:
        return False
    return health.agreement >= _AGREEMENT and _SHORTER <= health.path_ratio <= _LONGER
