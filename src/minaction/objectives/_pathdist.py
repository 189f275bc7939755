"""PathDist: our own objective, and the default. Learn the shortest paths of the recording as a graph.

`minaction.recorded` turns a recording into a graph of recorded, borrowed and straight steps, whose shortest paths are
the best answer about recorded states that is known. A network that learns them answers about any state, at once, and
keeps the laws of a quasimetric. docs/research.md has the measurements behind every choice made here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
from ..recorded import recorded_distance, sighted
from ..trajectories import Trajectories
from ._base import Objective, Terms
from ._sampling import AnyArray, EpisodeTable, Pairs, below, trajectory_pairs
from ._states import States
from ._terms import excess


class Paths(eqx.Module):
    """Lengths of shortest paths from and to landmarks, and where landmarks and nodes lie among the recorded states.

    Lengths are in typical steps, infinite where no path leads. Counts are arrays, so that tables of several data sets
    can be padded and stacked.
    """

    landmarks: Int[AnyArray, " landmarks"]
    nodes: Int[AnyArray, " nodes"]
    from_landmarks: Float[AnyArray, "landmarks nodes"]
    to_landmarks: Float[AnyArray, "landmarks nodes"]
    num_landmarks: Int[AnyArray, ""]
    num_nodes: Int[AnyArray, ""]
    longest: Float[AnyArray, ""]
    """The longest finite path."""


class PathTables(eqx.Module):
    """What sampling needs: the episodes, the paths, and the time of a typical step."""

    episodes: EpisodeTable
    paths: Paths
    step_time: Float[AnyArray, ""]
    unseen: Shaped[AnyArray, " unseen *shape"]
    """States that were never recorded but probably exist: the graph knows their distances too."""


class PathBatch(NamedTuple):
    """What one step looks at."""

    pairs: Pairs
    near: Pairs
    longest: Float[Array, ""]
    step_time: Float[Array, ""]


def _encoder() -> Encoder:
    """Small, because it is taught rather than left to find out, and as sharp as steps are long."""
    return MLP(hidden=(256, 256), latent=256, fourier=128, fourier_sigma=1.7, fourier_unit="step")


@dataclass(frozen=True)
class PathDist(Objective):
    r"""L = E ((d(s, s') - D) / (D + c))^2 + w_u E relu(1 - d(s, s') / l)^2 + w_b E relu(d(s_i, s_j) / t - 1)^2, with

    - D the length of the shortest path from s to s' in the graph of the recording, one of them a landmark, in typical
      steps; the first expectation runs over pairs with a path, the second over those without;
    - c = `softening` steps: without it the shortest distances, whose relative error is largest, would rule;
    - l = `beyond` times the longest path, to which pairs without a path are pushed apart;
    - pairs seen at most `horizon` states apart in the third, t the time between them: no distance may exceed it.

    The learning rate falls to nothing along half a cosine.

    >>> import minaction as ma
    >>> objective = ma.PathDist(encoder=ma.MLP(hidden=(256,), latent=64), landmarks=100)
    >>> objective.hyperparameters()["landmarks"]
    100
    """

    name: ClassVar[str] = "pathdist"
    default_steps: ClassVar[int] = 4000

    encoder: Encoder = field(default_factory=_encoder)
    learning_rate: float = 1e-3
    clip_norm: float | None = 10.0
    averaging: float = 0.0  # the falling learning rate does as much
    batch_size: int = 1024
    bound_batch_size: int = 256
    landmarks: int = 300
    nodes: int = 20_000
    softening: float = 5.0
    beyond: float = 2.0
    unreachable_weight: float = 1.0
    """w_u"""
    bound_weight: float = 0.1
    """w_b"""
    horizon: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("batch_size", "bound_batch_size", "landmarks", "nodes", "softening", "beyond", "horizon")
        self.require_not_negative("unreachable_weight", "bound_weight")

    def optimiser(self, steps: int) -> optax.GradientTransformation:
        return self.adam(optax.cosine_decay_schedule(self.learning_rate, steps))

    def tables(self, data: Trajectories) -> PathTables:
        images = is_image(data.state_shape)
        graph = recorded_distance(sighted(data) if images else data)
        unseen = np.empty((0, *data.state_shape), data.states.dtype) if images else graph.unseen  # nobody can draw them
        step_time = graph.typical_time / graph.steps
        rows = np.concatenate([graph.rows, data.num_states + np.arange(len(unseen))])
        chosen = np.random.default_rng(0).permutation(len(rows))[: self.nodes]
        landmarks = chosen[: self.landmarks]
        if graph.repeats:
            states = graph.nodes if images else np.concatenate([graph.nodes, unseen])
            there = graph.pairwise(states[landmarks], states[chosen])
            back = graph.pairwise(states[chosen], states[landmarks]).T
        else:
            # To arrive near a state is not enough here: then distances would not add up, and no quasimetric could fit.
            there = graph.from_nodes(landmarks, meet=True)[:, chosen]
            back = graph.to_nodes(landmarks, meet=True)[:, chosen]
        there, back = (lengths.astype(np.float32) / np.float32(step_time) for lengths in (there, back))
        paths = Paths(
            landmarks=rows[landmarks].astype(np.int32),
            nodes=rows[chosen].astype(np.int32),
            from_landmarks=there,  # type: ignore[arg-type]
            to_landmarks=back,  # type: ignore[arg-type]
            num_landmarks=np.asarray(len(landmarks), np.int32),
            num_nodes=np.asarray(len(chosen), np.int32),
            longest=np.asarray(there.max(initial=1.0, where=np.isfinite(there)), np.float32),
        )
        return PathTables(EpisodeTable.of(data), paths, np.asarray(step_time, np.float32), unseen)  # type: ignore[arg-type]

    def more_states(self, tables: PathTables) -> np.ndarray | None:
        return np.asarray(tables.unseen) if len(tables.unseen) else None

    def sample(self, key: PRNGKeyArray, tables: PathTables) -> PathBatch:
        pair_key, near_key = jax.random.split(key)
        paths, bits = tables.paths, jax.random.bits(pair_key, (3, self.batch_size))
        landmark, node = below(bits[0], paths.num_landmarks), below(bits[1], paths.num_nodes)
        away = bits[2] < jnp.uint32(1 << 31)
        length = jnp.where(away, paths.from_landmarks[landmark, node], paths.to_landmarks[landmark, node])
        here, there = jnp.asarray(paths.landmarks)[landmark], jnp.asarray(paths.nodes)[node]
        pairs = Pairs(jnp.where(away, here, there), jnp.where(away, there, here), length)
        near = trajectory_pairs(near_key, tables.episodes, self.bound_batch_size, self.horizon)
        return PathBatch(pairs, near, jnp.asarray(paths.longest), jnp.asarray(tables.step_time))

    def loss(
        self, distance: Distance, extra: Any, batch: PathBatch, states: States, progress: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Terms]:
        del extra, progress
        found, near = states.distances(
            distance, (batch.pairs.first, batch.pairs.second), (batch.near.first, batch.near.second)
        )
        found, length = found / batch.step_time, batch.pairs.elapsed
        reachable = jnp.isfinite(length)
        known = jnp.where(reachable, length, 0.0)
        path = jnp.mean(jnp.where(reachable, ((found - known) / (known + self.softening)) ** 2, 0.0))
        apart = jax.nn.relu(1.0 - found / (self.beyond * batch.longest)) ** 2
        unreachable = jnp.mean(jnp.where(reachable, 0.0, apart))
        bound = jnp.mean((excess(near, batch.near.elapsed) / batch.step_time / self.softening) ** 2)
        value = path + self.unreachable_weight * unreachable + self.bound_weight * bound
        return value, {"path": path, "unreachable": unreachable, "bound": bound}
