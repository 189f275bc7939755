"""`DistanceModel`: a trained distance as a person uses it: ask it, search with it, save it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from ._distance import Architecture, Distance
from ._files import read_tensors, write_tensors
from ._trees import named_leaves, with_named_leaves
from .encoders import Encoder
from .encoders._standardise import Statistics
from .errors import InputError
from .quasimetrics import Quasimetric

# What one block of pairs may need while `pairwise` and `nearest` work, besides the embeddings and the result.
WORKING_BYTES = 256 << 20


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from; kept in its file."""

    objective: str
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    seed: int = 0
    data: str = ""
    """The task or file it was trained on."""
    data_fingerprint: str = ""


class DistanceModel:
    """How many actions lead from one state to another, learned from recorded states."""

    def __init__(self, distance: Distance, architecture: Architecture, provenance: Provenance) -> None:
        self.network = distance
        self.architecture = architecture
        self.provenance = provenance

    @property
    def state_size(self) -> int:
        """How many numbers a state has."""
        return self.network.encoder.standardise.mean.shape[0]

    def __repr__(self) -> str:
        made = self.provenance
        return (
            f"DistanceModel({made.objective}, {self.architecture.quasimetric}, states of {self.state_size} numbers, "
            f"{made.steps} steps on {made.data or 'unnamed data'})"
        )

    # ---------------------------------------------------------------- asking

    def embed(self, states: ArrayLike) -> jax.Array:
        """The embeddings phi(s) of states (..., D)."""
        return _embed(self.network.encoder, self._states(states))

    def distance(self, states: ArrayLike, goals: ArrayLike) -> jax.Array:
        """d(s, g) for states and goals (..., D); leading axes broadcast."""
        states, goals = self._states(states), self._states(goals)
        try:
            np.broadcast_shapes(states.shape, goals.shape)
        except ValueError:
            raise InputError(
                f"States {states.shape} and goals {goals.shape} do not broadcast; use pairwise for all pairs."
            ) from None
        return _distance(self.network, states, goals)

    def pairwise(self, states: ArrayLike, goals: ArrayLike) -> np.ndarray:
        """d(s_i, g_j) for all pairs, (n, m) float32.

        Needs the result, the embeddings of both sides and at most `WORKING_BYTES` more, whatever n and m are.
        """
        sources, targets = self._embed_rows(states), self._embed_rows(goals)
        return self._all_pairs(sources, targets)

    def nearest(
        self, state: ArrayLike, states: ArrayLike, k: int = 10, *, direction: Literal["from", "to"] = "from"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and distances of the k of `states` nearest to `state`, nearest first.

        "from" counts the actions that lead from `state` to each; "to" those that lead back. `state` may be a batch
        (..., D); indices and distances then have shape (..., k). Memory stays bounded however many `states` there are.
        """
        if direction not in ("from", "to"):
            raise InputError(f"The direction is 'from' or 'to', not {direction!r}.")
        query, candidates = self._states(state), _as_rows(states)
        if not 1 <= k <= len(candidates):
            raise InputError(f"Cannot find the {k} nearest of {len(candidates)} states.")
        queries = np.asarray(self.embed(query)).reshape(-1, self.architecture.network.latent_size)
        best = np.empty((len(queries), 0), np.float32)
        index = np.empty((len(queries), 0), np.int64)
        step = min(self._rows_at_a_time, max(1, WORKING_BYTES // (32 * max(1, len(queries)))))
        for start in range(0, len(candidates), step):
            block = self._embed_rows(candidates[start : start + step])
            found = self._all_pairs(queries, block) if direction == "from" else self._all_pairs(block, queries).T
            best = np.concatenate([best, found], axis=1)
            numbers = np.arange(start, start + len(block))
            index = np.concatenate([index, np.broadcast_to(numbers, found.shape)], axis=1)
            keep = np.argsort(best, axis=1, kind="stable")[:, :k]
            best, index = np.take_along_axis(best, keep, 1), np.take_along_axis(index, keep, 1)
        shape = (*query.shape[:-1], k)
        return index.reshape(shape), best.reshape(shape)

    # ---------------------------------------------------------------- files

    def save(self, path: str | Path) -> None:
        """Write weights, input statistics and provenance to one safetensors file."""
        header = {"architecture": self.architecture.as_dict(), "provenance": asdict(self.provenance)}
        write_tensors(path, "model", named_leaves(self.network), {**header, "state_size": self.state_size})

    @classmethod
    def load(cls, path: str | Path) -> DistanceModel:
        """Read what `save` wrote."""
        tensors, header = read_tensors(path, "model")
        try:
            architecture = Architecture.from_dict(header["architecture"])
            provenance = Provenance(**header["provenance"])
            # All arrays at once; `jnp.asarray` compiles a program to copy one for every new shape.
            network = with_named_leaves(_shape(architecture, int(header["state_size"])), jax.device_put(tensors))
        except (KeyError, TypeError, InputError) as error:
            raise InputError(
                f"{path} does not describe a model this version can build ({error}); it may come from another version."
            ) from error
        return cls(network, architecture, provenance)

    # ---------------------------------------------------------------- inside

    def _states(self, values: ArrayLike) -> jax.Array:
        try:
            states = jnp.asarray(values, jnp.float32)
        except (TypeError, ValueError) as error:
            raise InputError(f"States must be numbers in a rectangular array ({error}).") from None
        if states.ndim == 0 or states.shape[-1] != self.state_size:
            raise InputError(
                f"This model takes states of {self.state_size} numbers, but the array given has shape {states.shape}."
            )
        return states

    @property
    def _rows_at_a_time(self) -> int:
        """How many states the encoder may see at once."""
        widest = max(max(stage) for stage in self.architecture.network.stages)
        return max(1, WORKING_BYTES // (16 * widest))

    def _embed_rows(self, values: ArrayLike) -> np.ndarray:
        states, step = _as_rows(values), self._rows_at_a_time
        embeddings = np.empty((len(states), self.architecture.network.latent_size), np.float32)
        for start in range(0, max(1, len(states)), step):
            embeddings[start : start + step] = self.embed(states[start : start + step])
        return embeddings

    def _all_pairs(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        result = np.empty((len(sources), len(targets)), np.float32)
        for rows, columns in _blocks(len(sources), len(targets), sources.shape[1]):
            result[rows, columns] = _between(self.network.quasimetric, sources[rows], targets[columns])
        return result


def _as_rows(values: ArrayLike) -> np.ndarray:
    states = np.asarray(values)
    if states.ndim != 2:
        raise InputError(f"Give states as rows of a two-dimensional array, not of shape {states.shape}.")
    return states


# Traced and compiled once for all models of the same shape, not once per model. Each gets no more of a model than it
# needs, so that models with the same encoder share one program even where their quasimetrics differ, and vice versa.


@lru_cache(maxsize=64)
def _shape(architecture: Architecture, state_size: int) -> Distance:
    """A distance with the shapes of its arrays in their place."""

    def build() -> Distance:
        ones = jnp.ones(state_size)
        return architecture.build(Statistics(ones, ones, ones, jnp.ones(())), key=jax.random.key(0))

    return eqx.filter_eval_shape(build)


@eqx.filter_jit
def _embed(encoder: Encoder, states: jax.Array) -> jax.Array:
    return encoder(states)


@eqx.filter_jit
def _distance(network: Distance, states: jax.Array, goals: jax.Array) -> jax.Array:
    return network(states, goals)


@eqx.filter_jit
def _between(quasimetric: Quasimetric, x: Any, y: Any) -> jax.Array:
    def at_once(x: jax.Array, y: jax.Array) -> jax.Array:
        return quasimetric(x[:, None], y[None, :])

    def piece_by_piece(x: jax.Array, y: jax.Array) -> jax.Array:
        return quasimetric.every_pair(x, y)

    return jax.lax.platform_dependent(x, y, cpu=piece_by_piece, default=at_once)


def _blocks(rows: int, columns: int, latent: int) -> Iterator[tuple[slice, slice]]:
    """Blocks of an (n, m) result for each of which n' x m' x latent floats fit into half of `WORKING_BYTES`.

    All have one shape, because each shape is compiled apart, which takes longer than to measure a few blocks.
    """
    pairs = max(1, WORKING_BYTES // (8 * latent))
    height = min(rows, max(1, int(pairs**0.5), pairs // max(1, columns)))
    width = max(1, pairs // max(1, height))
    for down in _even_parts(rows, height):
        for across in _even_parts(columns, width):
            yield down, across


def _even_parts(length: int, longest: int) -> Iterator[slice]:
    """As few parts of one size as cover `length`; where it cannot be divided so, the last overlaps the one before."""
    if length:
        count = -(-length // longest)
        size = -(-length // count)
        for start in range(0, length, size):
            end = min(length, start + size)
            yield slice(end - size, end)
