"""PathDist: our own objective, and the default. Learn the shortest paths of the recording as a graph.

`minaction.recorded` turns a recording into a graph of recorded, borrowed and straight steps, whose shortest paths are
the best known answer about recorded states. A network that learns them answers about any state, at once, and
keeps the laws of a quasimetric. docs/research-graph.md has the measurements behind every choice made here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped

from .._distance import Distance
from .._image_axes import is_image
from ..encoders import MLP, Encoder
from ..errors import InputError
from ..quasimetrics._pairs import distances_both_ways
from ..recorded import Sightings, drawn, recorded_distance, sighted
from ..trajectories import Trajectories
from ._base import Objective, Terms
from ._paths import Lengths, Paths, lengths_by_landmarks, shortest_paths
from ._sampling import AnyArray, EpisodeTable, Pairs, below, trajectory_pairs
from ._states import States
from ._terms import excess

_CYCLES = (0.0375, 0.1, 0.2375, 0.5, 1.0)  # the shares of training after which the learning rate has fallen to 0
_LEAST_SHARE = 0.01  # of pairs that have a path: fewer would be given more weight than so few deserve


class PathTables(eqx.Module):
    """What sampling needs: the episodes, the paths, and the time of a typical step."""

    episodes: EpisodeTable
    paths: Paths
    step_time: Float[AnyArray, ""]
    unseen: Shaped[AnyArray, " unseen *shape"]
    """States that were never recorded but probably exist: the graph knows their distances too."""


class PathBatch(NamedTuple):
    """Some nodes and some goals, the lengths of the paths between them, and pairs that bound the distance."""

    nodes: Int[Array, " nodes"]
    goals: Int[Array, " goals"]
    to_goals: Lengths
    from_goals: Lengths
    to_coordinates: Float[Array, "nodes coordinates"]
    from_coordinates: Float[Array, "nodes coordinates"]
    near: Pairs
    share: Float[Array, ""]
    mean: Float[Array, ""]
    longest: Float[Array, ""]
    step_time: Float[Array, ""]


def _encoder() -> Encoder:
    """Small, because it is taught rather than left to find out, and as sharp as steps are long."""
    return MLP(
        hidden=(256, 256),
        latent=256,
        fourier=256,
        fourier_sigma=1.7,
        fourier_unit="step",
        fourier_span=40.0,
        fourier_codes=0.75,
    )


@dataclass(frozen=True)
class PathDist(Objective):
    r"""L = E m(d(s, s'), D) + w_e (1 - p) E m(e_k(s), D_k) + w_b E relu(d(s_i, s_j) - t)^2, with

    - D the length of the shortest path from s to s' in the graph of the recording. One of them is a landmark in half of
      the pairs. Of the other half, the lengths to and from all landmarks tell what D is at least and at most, and D is
      whatever of that is nearest to d;
    - m(d, D) = ((d - D) / (D + c))^2, and relu(1 - d / l)^2 where there is no path, l being `beyond` times the longest;
      without the `softening` c the shortest distances, whose relative error is largest, would dominate. The former is
      divided by the share of pairs that have a path, or paths would hardly count in a world of many parts;
    - e_k the coordinates of the embedding, half of which are taught the distance to a landmark of their own, and half,
      with the opposite sign, the distance from it; since they are to be subtracted, their errors are divided by c plus
      the mean length. By the triangle inequality the greatest difference of such
      coordinates never exceeds the distance, and it is exact where a shortest path goes on to a landmark. The greatest
      difference alone passes its gradient to a single coordinate; this term shows every coordinate what to become, and
      fades in the course of a cycle (p from 0 to 1). Quasimetrics that are no greatest difference go without;
    - pairs seen at most `horizon` states apart in the third term, t the time between them, which no distance exceeds.

    Lengths and times are in typical steps. All nodes of a batch are compared with all of its goals, since encoding
    states costs more than comparing them. The learning rate falls to nothing along half a cosine in each of several
    cycles, every one about twice as long as the one before; at the end of each, training may stop.

    Args:
        encoder: of states.
        quasimetric: between embeddings.
        learning_rate: of Adam, at the start.
        clip_norm: the global norm at which gradients are clipped; None for no clipping.
        averaging: the share of the training over which the weights of the model are averaged.
        batch_size: the number of nodes in a batch.
        batch_goals: the number of goals in a batch, half of which are landmarks.
        bound_batch_size: the number of pairs for the third term.
        landmarks: the number of landmarks.
        nodes: the largest number of nodes whose paths from and to the landmarks are taught.
        softening: c, in typical steps.
        beyond: l, in lengths of the longest path.
        embedding_weight: w_e.
        bound_weight: w_b.
        horizon: the largest number of steps between the states of a pair of the third term.

    >>> import minaction as ma
    >>> objective = ma.PathDist(encoder=ma.MLP(hidden=(256,), latent=64), landmarks=100)
    >>> objective.hyperparameters()["landmarks"]
    100
    """

    name: ClassVar[str] = "pathdist"
    default_steps: ClassVar[int] = 8000

    encoder: Encoder = field(default_factory=_encoder)
    learning_rate: float = 1e-3
    clip_norm: float | None = 10.0
    averaging: float = 0.0  # the falling learning rate does as much
    batch_size: int = 512
    batch_goals: int = 16
    bound_batch_size: int = 120  # 512 + 16 + 2 x 120 states are 768, a round number for a GPU
    landmarks: int = 300
    nodes: int = 20_000
    softening: float = 5.0
    beyond: float = 2.0
    embedding_weight: float = 1.0
    bound_weight: float = 0.004
    horizon: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("batch_size", "batch_goals", "bound_batch_size", "landmarks", "nodes")
        self.require_positive("softening", "beyond", "horizon")
        self.require_not_negative("embedding_weight", "bound_weight")

    @property
    def _coordinates(self) -> int:
        """How many landmarks have a pair of coordinates of their own, if there are so many."""
        taught = self.quasimetric.greatest_difference and self.embedding_weight > 0
        return self.encoder.latent_size // 2 if taught else 0

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        return self.adam(
            lambda step: self.learning_rate * 0.5 * (1 + jnp.cos(jnp.pi * self._fallen(jnp.asarray(step) / steps)))
        )

    def pauses(self, steps: int) -> tuple[int, ...]:
        return tuple(sorted({math.ceil(end * steps) for end in _CYCLES}))

    def _fallen(self, progress: Float[Array, ""]) -> Float[Array, ""]:
        """How much of the present cycle is over, from 0 to 1, after this share of the training."""
        ends = jnp.array(_CYCLES)
        cycle = jnp.sum(progress >= ends[:-1])  # a search would be a loop, which a GPU waits for in every step
        begin = jnp.concatenate([jnp.zeros(1), ends])[cycle]
        return (progress - begin) / (ends[cycle] - begin)

    def tables(self, data: Trajectories) -> PathTables:
        if is_image(data.state_shape):
            how = Sightings.of(data)
            seen = sighted(data, how)
            if np.ptp(seen.states, axis=0).max() == 0:
                raise InputError(
                    "Nothing stands out from a still background in these images, so no graph of them can be made; "
                    "record them with a camera that stands still, or choose --objective tautdist (ma.TautDist())."
                )
            graph = recorded_distance(seen)
            unseen = drawn(how, graph, data, self.nodes)
            known = how(unseen)
        else:
            graph = recorded_distance(data)
            known = graph.unseen
            unseen = known.reshape(-1, *data.state_shape)
        paths = shortest_paths(graph, known, data.num_states, self.landmarks, self.nodes)
        step_time = np.asarray(graph.typical_time / graph.steps, np.float32)
        return PathTables(EpisodeTable.of(data), paths, step_time, unseen)  # type: ignore[arg-type]

    def more_states(self, tables: PathTables) -> np.ndarray | None:
        return np.asarray(tables.unseen) if len(tables.unseen) else None

    def sample(self, key: PRNGKeyArray, tables: PathTables) -> PathBatch:
        node_key, landmark_key, goal_key, near_key = jax.random.split(key, 4)
        paths = jax.tree.map(jnp.asarray, tables.paths)
        node = below(jax.random.bits(node_key, (self.batch_size,)), paths.num_nodes)
        to_landmarks, from_landmarks = paths.to_landmarks[node], paths.from_landmarks[node]
        others = self.batch_goals // 2
        landmark = below(jax.random.bits(landmark_key, (self.batch_goals - others,)), paths.num_landmarks)
        # Where lengths do not add up, nothing follows from them, and all goals are landmarks, the first of the nodes.
        other = below(
            jax.random.bits(goal_key, (others,)), jnp.where(paths.add_up, paths.num_nodes, paths.num_landmarks)
        )
        apart = lengths_by_landmarks(
            to_landmarks,
            from_landmarks,
            paths.to_landmarks[other],
            paths.from_landmarks[other],
            paths.num_landmarks,
        )
        to_goals, from_goals = (
            _known(lengths[:, landmark].T).beside(
                jax.tree.map(
                    partial(jnp.where, paths.add_up),
                    between,
                    _known(lengths[:, jnp.minimum(other, paths.num_landmarks - 1)].T),
                )
            )
            for lengths, between in zip((to_landmarks, from_landmarks), apart, strict=True)
        )
        return PathBatch(
            nodes=paths.nodes[node],
            goals=paths.nodes[jnp.concatenate([landmark, other])],
            to_goals=to_goals,
            from_goals=from_goals,
            to_coordinates=to_landmarks[:, : self._coordinates],
            from_coordinates=from_landmarks[:, : self._coordinates],
            near=trajectory_pairs(near_key, tables.episodes, self.bound_batch_size, self.horizon),
            share=paths.share,
            mean=paths.mean,
            longest=paths.longest,
            step_time=jnp.asarray(tables.step_time),
        )

    def loss(
        self, distance: Distance, extra: Any, batch: PathBatch, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        del extra
        nodes, goals, first, second = states.embed(
            distance.encoder, batch.nodes, batch.goals, batch.near.first, batch.near.second
        )
        nodes, goals = nodes / batch.step_time, goals / batch.step_time
        away, back = distances_both_ways(distance.quasimetric, nodes, goals)
        path = self._misfit(back, batch.to_goals, batch) + self._misfit(away, batch.from_goals, batch)
        near = distance.quasimetric(first, second)
        bound = jnp.mean((excess(near, batch.near.elapsed) / batch.step_time) ** 2)
        value, terms = path + self.bound_weight * bound, {"path": path, "bound": bound}
        if count := batch.to_coordinates.shape[1]:
            to, away_from = nodes[:, :count], -nodes[:, -count:]
            embedding = self._misfit(to, _known(batch.to_coordinates), batch, batch.mean)
            embedding += self._misfit(away_from, _known(batch.from_coordinates), batch, batch.mean)
            weight = self.embedding_weight * (1 - self._fallen(progress))
            value, terms = value + weight * embedding, terms | {"embedding": embedding}
        return value, terms

    def _misfit(self, found: Array, lengths: Lengths, batch: PathBatch, usual: Array | None = None) -> Float[Array, ""]:
        """Half of m, as every length is taught both ways; errors relative to each length or to `usual`."""
        reachable = jnp.isfinite(lengths.least)
        least = jnp.where(reachable, lengths.least, 0.0)
        length = jax.lax.stop_gradient(jnp.clip(found, least, jnp.where(reachable, lengths.most, 0.0)))
        relative = (found - length) / ((length if usual is None else usual) + self.softening)
        lost = jax.nn.relu(1.0 - found / (self.beyond * batch.longest))
        share = jnp.maximum(batch.share, _LEAST_SHARE)
        return 0.5 * jnp.mean(jnp.where(reachable, relative**2 / share, lost**2))


def _known(lengths: Float[Array, "*n"]) -> Lengths:
    return Lengths(lengths, lengths)
