"""Lengths of shortest paths from and to landmarks: what the graph of a recording teaches."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

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
    add_up: Bool[AnyArray, ""]
    """Whether no length exceeds that of a detour; through states that were never recorded there are no paths."""
    share: Float[AnyArray, ""]
    """Of the pairs that have a path."""
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
        add_up=np.asarray(len(unseen) == 0),
        share=np.asarray(0.5 * (np.isfinite(away).mean() + np.isfinite(back).mean()), np.float32),
        mean=np.asarray(away.mean(where=np.isfinite(away)) if np.isfinite(away).any() else 0.0, np.float32),
        longest=np.asarray(away.max(initial=1.0, where=np.isfinite(away)), np.float32),
    )


class Lengths(NamedTuple):
    """What the lengths of paths can be: both the same where they are known, infinite where there is no path."""

    least: Float[Array, "goals nodes"]
    most: Float[Array, "goals nodes"]

    def beside(self, others: Lengths) -> Lengths:
        """These and those of further goals."""
        return Lengths(*(jnp.concatenate(both) for both in zip(self, others, strict=True)))


def lengths_by_landmarks(
    to_landmarks: Float[Array, "nodes landmarks"],
    from_landmarks: Float[Array, "nodes landmarks"],
    goals_to_landmarks: Float[Array, "goals landmarks"],
    goals_from_landmarks: Float[Array, "goals landmarks"],
    num_landmarks: Int[Array, ""],
) -> tuple[Lengths, Lengths]:
    """What paths from nodes to goals, and from goals to nodes, can measure, by what both have to landmarks.

    By the triangle inequality s -> g is at most (s -> k) + (k -> g), and at least (s -> k) - (g -> k) and (k -> g) -
    (k -> s), for every landmark k.
    """
    is_landmark = jnp.arange(to_landmarks.shape[1]) < num_landmarks  # the rest fills up

    def of_goal(goal_to: Array, goal_from: Array) -> tuple[Lengths, Lengths]:
        ahead, behind = to_landmarks - goal_to, goal_from - from_landmarks
        to, back = (_greatest(is_landmark, sign * ahead, sign * behind) for sign in (1, -1))
        there, home = (
            jnp.where(is_landmark, way, jnp.inf).min(axis=1)
            for way in (to_landmarks + goal_from, goal_to + from_landmarks)
        )
        return Lengths(to, jnp.maximum(to, there)), Lengths(back, jnp.maximum(back, home))

    # One goal after the other stays in a CPU's cache (1.7 ms instead of 5.7); a GPU would wait for a loop every step.
    return jax.lax.platform_dependent(
        goals_to_landmarks,
        goals_from_landmarks,
        cpu=lambda *goals: jax.lax.map(lambda goal: of_goal(*goal), goals),
        default=jax.vmap(of_goal),
    )


def _greatest(counts: Array, *differences: Array) -> Array:
    """The greatest of the differences that count, at least 0; inf - inf says nothing."""
    known = [jnp.where(counts & ~jnp.isnan(one), one, 0.0).max(axis=1) for one in differences]
    return jnp.maximum(jnp.maximum(*known), 0.0)
