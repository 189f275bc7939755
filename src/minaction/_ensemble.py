"""`DistanceEnsemble`: several models as one, and how much they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from ._model import DistanceModel
from .errors import InputError


class Spread(NamedTuple):
    """The mean over several models, and how far off it may be."""

    mean: np.ndarray
    spread: np.ndarray


class DistanceEnsemble:
    """Models of the same world, trained with different seeds; distances are their means.

    The spread is the standard deviation over the models. Where they disagree, do not rely on any of them; where they
    agree, they may still be wrong together. If episodes were held out of their training, the spread is multiplied by
    `Health.spread_factor`, so that nine of ten shortest paths over the recording lie within two spreads.

    Args:
        models: one or more, all for states of the same shape.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=5)
    >>> both = ma.DistanceEnsemble(ma.fit(data, steps=2, seeds=[0, 1], progress=False))
    >>> mean, spread = both.distance(data.states[0], data.states[:3], spread=True)
    >>> mean.shape, spread.shape
    ((3,), (3,))
    """

    def __init__(self, models: Sequence[DistanceModel]) -> None:
        self.models = list(models)
        if not self.models or any(one.state_shape != self.models[0].state_shape for one in self.models):
            raise InputError("An ensemble takes one model or more, all for states of the same shape.")

    def __len__(self) -> int:
        return len(self.models)

    @overload
    def distance(self, states: ArrayLike, goals: ArrayLike, *, spread: Literal[False] = False) -> np.ndarray: ...
    @overload
    def distance(self, states: ArrayLike, goals: ArrayLike, *, spread: Literal[True]) -> Spread: ...
    def distance(self, states: ArrayLike, goals: ArrayLike, *, spread: bool = False) -> np.ndarray | Spread:
        """The mean d(s, g) for `states` and `goals` (..., *state_shape), whose leading axes broadcast.

        With `spread`, the spread as well.
        """
        return self._together([np.asarray(one.distance(states, goals)) for one in self.models], spread)

    @overload
    def pairwise(self, states: ArrayLike, goals: ArrayLike, *, spread: Literal[False] = False) -> np.ndarray: ...
    @overload
    def pairwise(self, states: ArrayLike, goals: ArrayLike, *, spread: Literal[True]) -> Spread: ...
    def pairwise(self, states: ArrayLike, goals: ArrayLike, *, spread: bool = False) -> np.ndarray | Spread:
        """The mean distances (n, m) from all `states` (n, *state_shape) to all `goals` (m, *state_shape).

        With `spread`, the spread as well.
        """
        return self._together([one.pairwise(states, goals) for one in self.models], spread)

    def coverage(self, states: ArrayLike) -> np.ndarray:
        """How far `states` are from what was recorded; see `DistanceModel.coverage`."""
        return np.min([one.coverage(states) for one in self.models], axis=0)

    def _together(self, values: Sequence[np.ndarray], spread: bool) -> np.ndarray | Spread:
        mean = np.mean(values, axis=0)
        return Spread(mean, self._spread_factor * np.std(values, axis=0)) if spread else mean

    @property
    def _spread_factor(self) -> float:
        known = [one.health.spread_factor for one in self.models if one.health is not None]
        return float(np.mean([factor for factor in known if factor is not None] or [1.0]))
