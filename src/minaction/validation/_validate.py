"""`validate`: scores a model on held-out episodes, without the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from .._coverage import Coverage, flat
from .._health import Health
from .._model import DistanceModel
from ..errors import InputError
from ..trajectories import Trajectories
from ._bounds import RecordedBounds, states_repeat
from ._verdict import verdict

_PAIRS = 4_000
_CANDIDATES = 100_000  # pairs among which novel ones are looked for, where they are rare
_PATHS = 4_000_000  # shortest paths that are found for it: a few seconds
_STARTS = 400
_NEIGHBOURS = 100_000  # training states among which near ones are looked for
_NEAR = 2.0  # typical steps
_GAPS = (1, 2, 10, 100)  # the first number of steps of every range


@dataclass(frozen=True)
class _Pairs:
    """Pairs of states of the same episode, the second `gap` steps and the time `bound` after the first."""

    first: np.ndarray  # (n,) rows
    second: np.ndarray
    gap: np.ndarray
    bound: np.ndarray


def validate(model: DistanceModel, held_out: Trajectories, training: Trajectories | None = None) -> Health:
    """Validate a model on episodes that it was not trained on; true distances are not needed.

    Args:
        model: the distance to validate.
        held_out: episodes of the same world.
        training: the episodes that it was trained on. With them, pairs that they bound already are distinguished from
            *novel* ones. If states repeat, these bounds are the shortest paths along recorded steps. If not, no
            recorded path leads from one held-out state to another, and all pairs are novel.

    Returns:
        The numbers and what they mean; see `Health`.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=20)
    >>> health = ma.validate(ma.fit(data.first(15), "maddist", steps=2, progress=False), data)
    >>> health.fine
    False
    """
    for name, data in (("held-out", held_out), ("training", training)):
        if data is not None and data.state_shape != model.state_shape:
            raise InputError(
                f"The {name} states have shape {data.state_shape} and the model's {model.state_shape}; "
                "give episodes of the world that it was trained on."
            )
    random = np.random.default_rng(0)
    step = 1.0 if held_out.times is None else float(np.median(_steps(held_out).bound))
    pairs, steps = _pairs(held_out, random), _moving(held_out, _steps(held_out), random)
    distances = _distances(model, held_out, pairs.first, pairs.second)
    ranges = _by_gap(pairs.gap)
    repeats = states_repeat(held_out if training is None else training)
    novel = None if training is None else _novel(held_out, training, random) if repeats else pairs
    found = Health(
        episodes=held_out.num_episodes,
        pairs=len(pairs.gap),
        excess=_excess(distances, pairs.bound),
        excess_by_gap={name: _excess(distances[own], pairs.bound[own]) or 0.0 for name, own in ranges.items()},
        novel_pairs=None if novel is None else len(novel.gap),
        novel_excess=None
        if novel is None
        else _excess(_distances(model, held_out, novel.first, novel.second), novel.bound),
        single_step=_mean(_distances(model, held_out, steps.first, steps.second) / steps.bound),
        random_pairs=_mean(_distances(model, held_out, *_random_pairs(held_out, repeats, random)) / step),
        recorded_share=None if training is None else _recorded_share(held_out, training, repeats, random),
    )
    return verdict(found)


def _distances(model: DistanceModel, data: Trajectories, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(model.distance(data.states[first], data.states[second]), np.float64)


def _excess(distances: np.ndarray, bounds: np.ndarray) -> float | None:
    return float(np.maximum(distances - bounds, 0.0).mean() / bounds.mean()) if len(bounds) else None


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _steps(data: Trajectories) -> _Pairs:
    """All single steps."""
    rows = np.delete(np.arange(data.num_states), data.offsets[1:] - 1)
    return _of_rows(data, rows, rows + 1)


def _moving(data: Trajectories, steps: _Pairs, random: np.random.Generator) -> _Pairs:
    """Some of the steps in which the state changes."""
    some = random.permutation(len(steps.first))[:_PAIRS]
    changed = (flat(data.states[steps.first[some]]) != flat(data.states[steps.second[some]])).any(axis=1)
    return _of_rows(data, steps.first[some[changed]], steps.second[some[changed]])


def _pairs(data: Trajectories, random: np.random.Generator, count: int = _PAIRS, starts: int = _STARTS) -> _Pairs:
    """Random pairs with gaps of every order of magnitude."""
    last = np.repeat(data.offsets[1:], data.lengths) - 1
    rows = np.flatnonzero(last > np.arange(data.num_states))
    first = random.choice(random.permutation(rows)[:starts], count)
    gaps = np.exp(random.uniform(0, np.log(last[first] - first + 1))).astype(int)
    return _of_rows(data, first, np.minimum(first + gaps, last[first]))


def _of_rows(data: Trajectories, first: np.ndarray, second: np.ndarray) -> _Pairs:
    gap = second - first
    return _Pairs(
        first, second, gap, gap.astype(float) if data.times is None else data.times[second] - data.times[first]
    )


def _by_gap(gap: np.ndarray) -> Mapping[str, np.ndarray]:
    """Which pairs are in each range of gaps; ranges without pairs are left out."""
    ends = [*(low - 1 for low in _GAPS[1:]), None]
    named = {
        f"{low} or more" if high is None else f"{low} to {high}" if high > low else f"{low}": (low, high)
        for low, high in zip(_GAPS, ends, strict=True)
    }
    ranges = {name: (gap >= low) & (gap <= (high or gap.max())) for name, (low, high) in named.items()}
    return {name: own for name, own in ranges.items() if own.any()}


def _novel(held_out: Trajectories, training: Trajectories, random: np.random.Generator) -> _Pairs:
    """Pairs that took less time than the bounds of the training data; rare in a well-covered world."""
    starts = max(_STARTS, _PATHS // len(training.distinct))
    drawn = _pairs(held_out, random, _CANDIDATES, starts)
    pairs = _of_rows(held_out, *np.unique([drawn.first, drawn.second], axis=1))
    known = RecordedBounds(training).between(held_out.states[pairs.first], held_out.states[pairs.second])
    some = random.permutation(np.flatnonzero(known > pairs.bound))[:_PAIRS]
    return _of_rows(held_out, pairs.first[some], pairs.second[some])


def _random_pairs(data: Trajectories, repeats: bool, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random pairs of which the second is reachable from the first: by recorded paths, or later in an episode."""
    if repeats:
        starts = random.choice(data.num_states, min(_STARTS, data.num_states), replace=False)
        first, second = random.choice(starts, _PAIRS), random.choice(data.num_states, _PAIRS)
        reached = RecordedBounds(data).between(data.states[first], data.states[second])
        kept = np.isfinite(reached) & (reached > 0)
        return first[kept], second[kept]
    last = np.repeat(data.offsets[1:], data.lengths) - 1
    first = random.choice(np.flatnonzero(last > np.arange(data.num_states)), _PAIRS)
    return first, first + 1 + (random.uniform(size=_PAIRS) * (last[first] - first)).astype(int)


def _recorded_share(
    held_out: Trajectories, training: Trajectories, repeats: bool, random: np.random.Generator
) -> float:
    """The share of held-out states that are also training states or, if states never repeat, near one."""
    asked = held_out.states[random.permutation(held_out.num_states)[:_PAIRS]]
    if repeats:
        return float((RecordedBounds(training).places(asked) >= 0).mean())
    scale = Coverage.of(training)
    known = training.states[np.sort(random.permutation(training.num_states)[:_NEIGHBOURS])]
    away = KDTree(flat(known) / scale.unit).query(flat(asked) / scale.unit)[0] / scale.step
    return float((away <= _NEAR).mean())
