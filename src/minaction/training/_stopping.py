"""When a training that is left to itself has learned what it can: held-out episodes say so at its pauses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._model import DistanceModel
from ..trajectories import Trajectories
from ..validation import validate

SCORE = "held_out_excess"
"""The name of the score among the terms of a measurement."""
_WORTH = 0.001  # of the time that held-out pairs took: a cycle that gains less is the last


def held_out_scores(models: Sequence[DistanceModel], held_out: Sequence[Trajectories | None]) -> list[float | None]:
    """How far each model exceeds the times of its held-out pairs (`Health.excess`); None if there are none."""
    pairs = zip(models, held_out, strict=True)
    return [None if episodes is None else validate(model, episodes).excess for model, episodes in pairs]


def has_stalled(scores: Sequence[Sequence[float | None]]) -> bool:
    """Whether the last of these scores, one per seed at each pause, are hardly better than those before."""
    if len(scores) < 2 or None in scores[-1] or None in scores[-2]:
        return False
    before, now = (float(np.mean(one)) for one in scores[-2:])  # type: ignore[arg-type]
    return before - now < _WORTH


def stopped_early(step: int, steps: int) -> str:
    """What to tell whoever waits for `steps` steps; nothing if there were as many."""
    return "" if step >= steps else f"stopped after {step:,} of {steps:,} steps: held-out episodes show no further gain"
