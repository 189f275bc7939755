"""`recorded_distance`: a recording as a graph, and the distances between states that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .._image_axes import is_image
from ..errors import InputError
from ..trajectories import Trajectories, as_trajectories
from ..trajectories._arrays import as_states
from ._build import Built, build
from ._ends import Arrivals, Ends, arrivals, ends_of
from ._nearness import APART, Embedding
from ._neighbours import nearest
from ._paths import paths_from, paths_of_both, with_entries, with_exits

_SOURCES_AT_A_TIME = 64
_PAIRS_AT_A_TIME = 200_000
_BESIDE, _FAR = 0.25, 32.0  # in typical moves from a recorded state: the same state, and too far to be guessed at
_MOST_KEYS = 16


class NearestNode(NamedTuple):
    """The recorded state nearest to each of several, and how far away it is."""

    node: np.ndarray  # (n,) indices of `RecordedDistance.nodes`
    away: np.ndarray  # (n,) in typical moves; infinite where an input that must agree has a value never recorded


@dataclass(frozen=True, eq=False)
class RecordedDistance:
    """Shortest paths over what was recorded, what near states lend, and straight joins where moves go every way.

    Made by `recorded_distance`. Distances are elapsed times: numbers of actions where the recording has no times.
    Where moves are not free (inertia, one-way worlds), to arrive means to come within half a typical move.

    >>> import minaction as ma
    >>> data = ma.read("cliffwalking", episodes=20)
    >>> recorded = ma.recorded_distance(data)
    >>> recorded.pairwise(data.states[:3], data.states[:5]).shape
    (3, 5)
    """

    _built: Built = field(repr=False)

    @property
    def nodes(self) -> np.ndarray:
        """The recorded states that are the graph's nodes, (n, D)."""
        return self._built.nodes

    @property
    def rows(self) -> np.ndarray:
        """Where in the recording each node was first seen, (n,)."""
        return self._built.rows

    @property
    def graph(self) -> csr_array:
        """The cost of every edge, (n, n); where there is none, nothing is stored."""
        return self._built.graph

    @property
    def steps(self) -> int:
        """How many recorded steps make a move: 1 where states lie dense enough."""
        return self._built.steps

    @property
    def typical_time(self) -> float:
        """The typical duration of a move: `steps`, or the median of the recorded times."""
        return self._built.tick

    @property
    def straight_time(self) -> float | None:
        """The time of a typical change straight ahead at the fastest recorded pace; None where moves are not free."""
        ground = self._built.ground
        return None if ground is None else float(1 / ground.norm.pace.max())

    @property
    def unit(self) -> np.ndarray:
        """The typical change in a move of every input that counts for nearness (`counts`)."""
        return self._built.nearness.unit

    @property
    def counts(self) -> np.ndarray:
        """Which inputs count for nearness, (D,) bool; noise and what is forgotten within a move do not."""
        return self._built.nearness.soft

    @property
    def must_agree(self) -> np.ndarray:
        """Which inputs must agree, because they hardly ever change (a key, a task number), (D,) bool."""
        return self._built.nearness.exact

    @property
    def repeats(self) -> bool:
        """Whether recorded states repeat, so that the nodes are the different ones."""
        return self._built.repeats

    @property
    def free(self) -> bool:
        """Whether recorded moves go every way, so that straight joins are used."""
        return self._built.ground is not None

    def __len__(self) -> int:
        return len(self.nodes)

    def pairwise(self, states: ArrayLike, goals: ArrayLike | None = None) -> np.ndarray:
        """The distances (n, m) from `states` (n, D) to `goals` (m, D), or to the states themselves; inf if no path."""
        starts = self._ends(states, "the states")
        targets = starts if goals is None else self._ends(goals, "the goals")
        distances = np.empty((len(starts), len(targets)))
        rows = max(1, min(_SOURCES_AT_A_TIME, _PAIRS_AT_A_TIME // max(1, len(targets))))
        for begin in range(0, len(starts), rows):
            block = slice(begin, begin + rows)
            some = starts[block]
            entered = with_entries(self.graph, some.nodes, some.out_of)
            reached = paths_from(entered, len(self) + np.arange(len(some)))
            distances[block] = with_exits(reached, targets)
            distances[block] = np.minimum(distances[block], some.straight_to(targets, self._built.ground))
        return distances

    def reachable(self, states: ArrayLike, goals: ArrayLike | None = None) -> np.ndarray:
        """Whether some path leads from each of `states` to each of `goals`, (n, m) bool."""
        return np.isfinite(self.pairwise(states, goals))

    def from_nodes(self, indices: ArrayLike, *, meet: bool = False) -> np.ndarray:
        """The distances (k, n) from the nodes with these indices to all nodes.

        With `meet` a path has to end at the very node, which keeps the triangle inequality; else, where moves are not
        free, it has arrived within half a typical move.
        """
        reached = paths_from(self.graph, self._checked(indices))
        return reached if meet or self._arrivals is None else self._arrivals.least(reached)

    def to_nodes(self, indices: ArrayLike, *, meet: bool = False) -> np.ndarray:
        """The distances (k, n) from all nodes to the nodes with these `indices`: row k, column i is i to indices[k].

        With `meet`, paths end exactly at the node, not merely near it.
        """
        indices = self._checked(indices)
        if meet or self._arrivals is None:
            return paths_from(self._backward, indices)
        near = self._arrivals.near[indices]
        entered = with_entries(self._backward, near, np.where(near < len(self), 0.0, np.inf))
        return paths_from(entered, len(self) + np.arange(len(indices)))[:, : len(self)]

    def both_ways(self, indices: ArrayLike, others: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The distances (k, m) from the nodes with these `indices` to the `others`, and those back from the others.

        Paths end exactly at a node, as with `meet`. On two cores it takes half as long as one after the other.
        """
        return paths_of_both(self.graph, self._backward, self._checked(indices), self._checked(others))

    def nearest_node(self, states: ArrayLike) -> NearestNode:
        """The recorded state nearest to each of `states` (m, D), and how far away it is in typical moves."""
        away, node = nearest(self._built.tree, self._place(states, "the states"))
        return NearestNode(node, np.where(away < APART / 2, away, np.inf))

    @cached_property
    def unseen(self) -> np.ndarray:
        """States (m, D) that were never recorded but probably exist, where states repeat: none elsewhere.

        They lie in gaps that nobody had much of a chance to visit, or differ from recorded states in a key alone.
        `pairwise` knows their distances, so that a model can be taught them.
        """
        none = np.empty((0, *self.nodes.shape[1:]), self.nodes.dtype)
        nearness = self._built.nearness
        if not self.repeats or len(nearness.keys) > _MOST_KEYS:
            return none
        places = np.concatenate([self._built.gaps, nearness.with_other_keys(nearness.place(self.nodes))])
        if len(places) == 0:
            return none
        away, _ = nearest(self._built.tree, places)
        places = np.unique(np.round(places[(away > _BESIDE) & (away < _FAR)], 6), axis=0)
        states = nearness.states_at(places)
        return none if states is None else states.astype(self.nodes.dtype)

    @cached_property
    def parts(self) -> np.ndarray:
        """The part of the graph that every node belongs to, (n,): between different parts no path leads either way."""
        return connected_components(self.graph, connection="weak")[1]

    @cached_property
    def _backward(self) -> csr_array:
        return csr_array(self.graph.T)

    @cached_property
    def _arrivals(self) -> Arrivals | None:
        return None if self.free or self.repeats else arrivals(self._built.tree)

    def _place(self, states: ArrayLike, where: str) -> np.ndarray:
        rows = as_states(states, where).astype(self.nodes.dtype, copy=False)  # keys are compared bit by bit
        if self.nodes.ndim == 2:
            rows = rows.reshape(len(rows), -1)
        if rows.shape[1] != self.nodes.shape[1]:
            raise InputError(
                f"The rows of {where} have {rows.shape[1]} numbers and the recorded ones {self.nodes.shape[1]}; "
                "give states as they were recorded."
            )
        if not np.isfinite(rows).all():
            raise InputError(f"The rows of {where} hold NaN or infinity; remove or repair them.")
        return self._built.nearness.place(rows)

    def _ends(self, states: ArrayLike, where: str) -> Ends:
        built = self._built
        return ends_of(self._place(states, where), built.tree, built.spacing, built.ground, self.repeats)

    def _checked(self, indices: ArrayLike) -> np.ndarray:
        found = np.atleast_1d(np.asarray(indices))
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise InputError("Nodes are named by integer indices; find them with nearest_node.")
        if len(found) and (found.min() < 0 or found.max() >= len(self)):
            wrong = int(found[(found < 0) | (found >= len(self))][0])
            raise InputError(f"There is no node {wrong}: nodes are 0 to {len(self) - 1}; find one with nearest_node.")
        return found

    def __repr__(self) -> str:
        kinds = ["free moves" if self.free else "directed moves", *(["repeated states"] if self.repeats else [])]
        return (
            f"RecordedDistance({len(self)} nodes, {self.graph.nnz} edges, {', '.join(kinds)}, {self.steps}-step moves)"
        )


def recorded_distance(
    data: Any,
    embedding: Embedding | None = None,
    *,
    max_nodes: int | None = None,
    seed: int = 0,
    even: bool = False,
) -> RecordedDistance:
    """The distance that a recording itself tells of, in seconds and without learning.

    Nodes are the different states where states repeat, else recorded states (a sample of very many). Edges are recorded
    steps at their elapsed time; *borrowed* ones, because what a near state did can probably be done here as well; and,
    where recorded moves go every way, *straight* ones at the fastest recorded pace. Nothing leads where nobody was
    recorded, so walls stay walls and parts that do not connect stay apart. Readings that failed are mended first, and
    the inside of pauses is left out.

    `data` are `Trajectories`, or whatever else `fit` takes but a name; `read` turns a name into them.
    `embedding` turns states (n, D) into places (n, k) by whose distances nearness is judged, for states of many
    numbers: a learned model's encoder, or a projection on the inputs that matter. `max_nodes` bounds memory and time;
    by default 200,000, and 60,000 where moves are free. `seed` draws nodes and joins. With `even`, nodes of a large
    recording are drawn alike everywhere, and not as often as a place was visited.

    >>> import minaction as ma
    >>> data = ma.Trajectories.from_episodes([[[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]]] * 5)
    >>> ma.recorded_distance(data).pairwise([[0.0]], [[2.0]]).tolist()
    [[2.0]]
    """
    if max_nodes is not None and max_nodes < 2:
        raise InputError(f"A graph of {max_nodes} nodes has no distances; let max_nodes be 2 or more.")
    return RecordedDistance(build(_in_rows(as_trajectories(data), embedding), embedding, max_nodes, seed, even))


def _in_rows(data: Trajectories, embedding: Embedding | None) -> Trajectories:
    """The same episodes with the numbers of every state in one row, whatever its shape."""
    if embedding is not None or len(data.state_shape) == 1:
        return data
    if is_image(data.state_shape):
        raise InputError("Single pixels do not say which images are near each other; give an embedding of them.")
    return Trajectories.from_flat(data.states.reshape(data.num_states, -1), data.offsets, times=data.times)
