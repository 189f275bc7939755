"""Lengths of shortest paths from and to landmarks: what the graph of a recording teaches."""

from __future__ import annotations

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from ..recorded import RecordedDistance
from ._sampling import AnyArray


class Paths(eqx.Module):
    """Lengths of shortest paths between landmarks and nodes, both given as rows of the recorded states.

    Lengths are in typical steps, infinite where there is no path. Counts are arrays, so that tables of several data
    sets can be padded and stacked.
    """

    landmarks: Int[AnyArray, " landmarks"]
    nodes: Int[AnyArray, " nodes"]
    to_landmarks: Float[AnyArray, "nodes landmarks"]
    from_landmarks: Float[AnyArray, "nodes landmarks"]
    num_landmarks: Int[AnyArray, ""]
    num_nodes: Int[AnyArray, ""]
    mean: Float[AnyArray, ""]
    longest: Float[AnyArray, ""]
    """The mean and the greatest length of the paths that there are."""


def shortest_paths(
    graph: RecordedDistance, unseen: np.ndarray, num_states: int, num_landmarks: int, num_nodes: int
) -> Paths:
    """The paths between some landmarks of `graph` and some of its nodes, landmarks among them.

    States that were not recorded but probably exist, `unseen` (m, D), are nodes too, numbered from `num_states` on.
    """
    rows = np.concatenate([graph.rows, num_states + np.arange(len(unseen))])
    chosen = np.random.default_rng(0).permutation(len(rows))[:num_nodes]
    landmarks = chosen[:num_landmarks]
    if graph.repeats:
        states = np.concatenate([graph.nodes, unseen])
        away = graph.pairwise(states[landmarks], states[chosen]).T
        back = graph.pairwise(states[chosen], states[landmarks])
    else:
        # To arrive near a state is not enough here: then distances would not add up, and no quasimetric could fit.
        away, back = (lengths.T for lengths in graph.both_ways(landmarks, chosen))
    step_time = graph.typical_time / graph.steps
    away, back = (np.ascontiguousarray(lengths / step_time, dtype=np.float32) for lengths in (away, back))
    return Paths(
        landmarks=rows[landmarks].astype(np.int32),
        nodes=rows[chosen].astype(np.int32),
        to_landmarks=back,  # type: ignore[arg-type]
        from_landmarks=away,  # type: ignore[arg-type]
        num_landmarks=np.asarray(len(landmarks), np.int32),
        num_nodes=np.asarray(len(chosen), np.int32),
        mean=np.asarray(away.mean(where=np.isfinite(away)) if np.isfinite(away).any() else 0.0, np.float32),
        longest=np.asarray(away.max(initial=1.0, where=np.isfinite(away)), np.float32),
    )
