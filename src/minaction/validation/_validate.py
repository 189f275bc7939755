"""`validate`: scores a model on held-out episodes, without the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._health import Health
from .._model import DistanceModel
from ..errors import InputError
from ..trajectories import Trajectories, as_trajectories
from ._questions import Paths, Questions, questions
from ._verdict import verdict

_TRUSTED, _SPREADS = 0.9, 2.0  # the share of path lengths that lie within so many spreads
_GAPS = (1, 2, 10, 100)  # the first number of steps of every range


def validate(model: DistanceModel, held_out: Any, training: Any = None) -> Health:
    """Validate a model on episodes that it was not trained on; true distances are not needed.

    Args:
        model: the distance to validate.
        held_out: episodes of the same world, as `recorded_distance` takes them.
        training: the episodes that it was trained on. With them, pairs that they bound already are distinguished from
            *novel* ones. If states repeat, these bounds are the shortest paths along recorded steps. If not, no
            recorded path leads from one held-out state to another, and all pairs are novel.

    Returns:
        The numbers and what they mean; see `Health`.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=20)
    >>> health = ma.validate(ma.fit(data.first(15), steps=2, progress=False), data, data.first(15))
    >>> health.fine
    False
    """
    known = None if training is None else as_trajectories(training)
    return validate_seeds([model], as_trajectories(held_out), known)[0]


def validate_seeds(
    models: Sequence[DistanceModel], held_out: Trajectories, training: Trajectories | None = None
) -> list[Health]:
    """`validate` for models of the same data that differ in their seed alone, and how much they disagree."""
    for name, data in (("held-out", held_out), ("training", training)):
        if data is not None and data.state_shape != models[0].state_shape:
            raise InputError(
                f"The {name} states have shape {data.state_shape} and the model's {models[0].state_shape}; "
                "give episodes of the world that it was trained on."
            )
    asked = questions(held_out, training)
    found = [_health(model, held_out, asked) for model in models]
    if len(models) > 1:
        together = {"disagreement": _disagreement(models, held_out, asked)}
        if asked.paths is not None:
            together["spread_factor"] = _spread_factor(models, asked.paths)
        found = [replace(one, **together) for one in found]
    return [verdict(one) for one in found]


def _health(model: DistanceModel, held_out: Trajectories, asked: Questions) -> Health:
    pairs, steps, novel = asked.pairs, asked.steps, asked.novel
    distances = _distances(model, held_out, pairs.first, pairs.second)
    return Health(
        episodes=held_out.num_episodes,
        pairs=len(pairs.gap),
        excess=_excess(distances, pairs.bound),
        excess_by_gap={
            name: _excess(distances[own], pairs.bound[own]) or 0.0 for name, own in _by_gap(pairs.gap).items()
        },
        novel_pairs=None if novel is None else len(novel.gap),
        novel_excess=None
        if novel is None
        else _excess(_distances(model, held_out, novel.first, novel.second), novel.bound),
        single_step=_mean(_distances(model, held_out, steps.first, steps.second) / steps.bound),
        random_pairs=_mean(_distances(model, held_out, *asked.reachable) / asked.step),
        agreement=None if asked.paths is None else asked.paths.agreement(model),
        path_ratio=None if asked.paths is None else _path_ratio(model, asked.paths),
        recorded_share=asked.recorded_share,
    )


def _distances(model: DistanceModel, data: Trajectories, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(model.distance(data.states[first], data.states[second]), np.float64)


def _excess(distances: np.ndarray, bounds: np.ndarray) -> float | None:
    return float(np.maximum(distances - bounds, 0.0).mean() / bounds.mean()) if len(bounds) else None


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _by_gap(gap: np.ndarray) -> Mapping[str, np.ndarray]:
    """Which pairs are in each range of gaps; ranges without pairs are left out."""
    ends = [*(low - 1 for low in _GAPS[1:]), None]
    named = {
        f"{low} or more" if high is None else f"{low} to {high}" if high > low else f"{low}": (low, high)
        for low, high in zip(_GAPS, ends, strict=True)
    }
    ranges = {name: (gap >= low) & (gap <= (high or gap.max())) for name, (low, high) in named.items()}
    return {name: own for name, own in ranges.items() if own.any()}


def _path_ratio(model: DistanceModel, paths: Paths) -> float:
    return float(paths.distances(model).mean() / paths.length.mean())


def _disagreement(models: Sequence[DistanceModel], held_out: Trajectories, asked: Questions) -> float | None:
    """The mean standard deviation over models of the distances of random pairs, relative to their mean."""
    first, second = asked.reachable
    if not len(first):
        return None
    found = np.stack([_distances(model, held_out, first, second) for model in models])
    return float(found.std(axis=0).mean() / found.mean()) if found.any() else 0.0


def _spread_factor(models: Sequence[DistanceModel], paths: Paths) -> float:
    """What to multiply the standard deviation over models by for it to say how far off they are."""
    found = np.stack([paths.distances(model) for model in models])
    spread = np.maximum(found.std(axis=0), 1e-9 * paths.length)
    return float(np.quantile(np.abs(found.mean(axis=0) - paths.length) / spread, _TRUSTED) / _SPREADS)
