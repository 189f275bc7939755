"""What a model is asked when no truth is known: pairs of held-out states, and what the recording says of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from .._coverage import Coverage, flat
from .._image_axes import is_image
from .._model import DistanceModel
from ..recorded import recorded_distance, sighted
from ..trajectories import Trajectories, at_rest
from ._bounds import RecordedBounds, states_repeat

_PAIRS = 4_000
_CANDIDATES = 100_000  # pairs among which novel ones are looked for, where they are rare
_PATHS = 4_000_000  # shortest paths that are found for it: a few seconds
_STARTS = 400
_NEIGHBOURS = 100_000  # training states among which near ones are looked for
_NEAR = 2.0  # typical steps
_NODES = 20_000  # of the graph that a model is compared with: a second or two
_SOURCES, _TARGETS = 40, 200  # states between which paths are found
_FEWEST_PATHS = 30


@dataclass(frozen=True)
class Pairs:
    """Pairs of states of the same episode, the second `gap` steps and the time `bound` after the first."""

    first: np.ndarray  # (n,) rows
    second: np.ndarray
    gap: np.ndarray
    bound: np.ndarray


@dataclass(frozen=True)
class Paths:
    """Pairs of states, and the lengths of the shortest paths between them over the whole recording."""

    first: np.ndarray  # (n, *shape)
    second: np.ndarray
    length: np.ndarray  # (n,)

    def distances(self, model: DistanceModel) -> np.ndarray:
        """What a model says of these pairs, (n,)."""
        return np.asarray(model.distance(self.first, self.second), np.float64)

    def agreement(self, model: DistanceModel) -> float:
        """Pearson's correlation of a model's distances with the lengths: 0 if it says the same of all pairs."""
        distances = self.distances(model)
        return float(np.corrcoef(distances, self.length)[0, 1]) if np.ptp(distances) > 0 else 0.0


@dataclass(frozen=True)
class Questions:
    """All that models of the same data are asked; rows are of the held-out episodes."""

    pairs: Pairs
    steps: Pairs  # single ones, in which the state changes
    novel: Pairs | None  # that the training data does not bound already; None where it is not known
    reachable: tuple[np.ndarray, np.ndarray]  # rows of random pairs, the second reachable from the first
    paths: Paths | None  # None where the training data is not known, or hardly any path leads anywhere
    step: float  # the duration of a typical step
    recorded_share: float | None


def questions(held_out: Trajectories, training: Trajectories | None) -> Questions:
    """What to ask models that were trained on `training`."""
    random = np.random.default_rng(0)
    pairs, steps = _pairs(held_out, random), _moving(held_out, _steps(held_out), random)
    repeats = states_repeat(held_out if training is None else training)
    return Questions(
        pairs=pairs,
        steps=steps,
        novel=None if training is None else _novel(held_out, training, random) if repeats else pairs,
        reachable=_random_pairs(held_out, repeats, random),
        paths=None if training is None else recorded_paths(held_out, training, random),
        step=1.0 if held_out.times is None else float(np.median(_steps(held_out).bound)),
        recorded_share=None if training is None else _recorded_share(held_out, training, repeats, random),
    )


def _steps(data: Trajectories) -> Pairs:
    """All single steps."""
    rows = np.delete(np.arange(data.num_states), data.offsets[1:] - 1)
    return _of_rows(data, rows, rows + 1)


def _moving(data: Trajectories, steps: Pairs, random: np.random.Generator) -> Pairs:
    """Some of the steps in which the state changes, by more than noise in a pause."""
    some = random.permutation(len(steps.first))[:_PAIRS]
    change = flat(data.states[steps.second[some]]) - flat(data.states[steps.first[some]])
    changed = (change != 0).any(axis=1) & ~at_rest(change)
    return _of_rows(data, steps.first[some[changed]], steps.second[some[changed]])


def _pairs(data: Trajectories, random: np.random.Generator, count: int = _PAIRS, starts: int = _STARTS) -> Pairs:
    """Random pairs with gaps of every order of magnitude."""
    last = np.repeat(data.offsets[1:], data.lengths) - 1
    rows = np.flatnonzero(last > np.arange(data.num_states))
    first = random.choice(random.permutation(rows)[:starts], count)
    gaps = np.exp(random.uniform(0, np.log(last[first] - first + 1))).astype(int)
    return _of_rows(data, first, np.minimum(first + gaps, last[first]))


def _of_rows(data: Trajectories, first: np.ndarray, second: np.ndarray) -> Pairs:
    gap = second - first
    return Pairs(
        first, second, gap, gap.astype(float) if data.times is None else data.times[second] - data.times[first]
    )


def _novel(held_out: Trajectories, training: Trajectories, random: np.random.Generator) -> Pairs:
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


def recorded_paths(held_out: Trajectories, training: Trajectories, random: np.random.Generator) -> Paths | None:
    """Shortest paths over the whole recording. Where states repeat, each counts once, however often it was visited."""
    whole = training + held_out
    seen = sighted(whole) if is_image(whole.state_shape) else whole
    if is_image(whole.state_shape) and not np.ptp(seen.states, axis=0).any():
        return None  # nothing stands out from a still background
    graph = recorded_distance(seen, max_nodes=_NODES)
    asked = graph.rows if graph.repeats else np.arange(training.num_states, whole.num_states)
    source, target = random.permutation(asked)[:_SOURCES], random.permutation(asked)[:_TARGETS]
    lengths = graph.pairwise(seen.states[source], seen.states[target])
    known = np.isfinite(lengths) & (lengths > 0)
    if known.sum() < _FEWEST_PATHS or np.ptp(lengths[known]) == 0:
        return None
    first, second = np.nonzero(known)
    return Paths(whole.states[source[first]], whole.states[target[second]], lengths[known])


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
