"""When a training that is left to itself has learned what it can: held-out episodes say so at its pauses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._model import DistanceModel
from ..trajectories import Trajectories
from ..validation._questions import Paths, recorded_paths

SCORE = "agreement"
"""The name of the score among the terms of a measurement."""
_WORTH = 0.001  # of correlation: a cycle that gains less is the last


class PathJudge:
    """Scores models by their correlation with shortest paths between held-out states (`Health.agreement`).

    The paths, over the whole recording, are found once, when the first models are judged.
    """

    def __init__(self, data: Sequence[Trajectories], held_out: Sequence[Trajectories | None]) -> None:
        self._data, self._held_out = data, held_out
        self._paths = dict[int, Paths | None]()

    def __call__(self, models: Sequence[DistanceModel]) -> list[float | None]:
        """The score of each seed's model; None if too few paths are known."""
        return [self._score(model, k) for k, model in enumerate(models)]

    def _score(self, model: DistanceModel, k: int) -> float | None:
        held_out = self._held_out[k]
        if held_out is not None and id(held_out) not in self._paths:
            self._paths[id(held_out)] = recorded_paths(held_out, self._data[k], np.random.default_rng(0))
        paths = self._paths.get(id(held_out))
        return None if paths is None else paths.agreement(model)


def has_stalled(scores: Sequence[Sequence[float | None]]) -> bool:
    """Whether the last of these scores, one per seed at each pause, are hardly better than those before."""
    if len(scores) < 2 or None in scores[-1] or None in scores[-2]:
        return False
    before, now = (float(np.mean(one)) for one in scores[-2:])  # type: ignore[arg-type]
    return now - before < _WORTH


def stopped_early(step: int, steps: int) -> str:
    """What to tell whoever waits for `steps` steps; nothing if there were as many."""
    return "" if step >= steps else f"stopped after {step:,} of {steps:,} steps: held-out episodes show no further gain"
