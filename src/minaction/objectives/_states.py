"""How an objective sees recorded states: by index, through an encoder, in one batched pass per call.

An index always refers to a row of `Trajectories.states`. There are two ways from indices to embeddings, with the same
gradients: `RecordedStates` encodes the rows that are asked for; `TabulatedStates` encodes every distinct state once and
looks the embeddings up, which is far cheaper where a data set has fewer distinct states than a batch has rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from .._devices import Devices
from .._distance import Distance
from .._units import ORDINARY, Units
from ..quasimetrics._blocks import different_pairs
from ..quasimetrics._pairs import distances_of_rows
from ..trajectories import Trajectories

# Repeated pairs are found with a table of all pairs of states; where it is this many times the batch, few repeat.
_TABLE_PER_PAIR = 64

Encode = Callable[[Shaped[Array, " rows *shape"]], Float[Array, "rows latent"]]
Pair = tuple[Int[Array, "..."], Int[Array, "..."]]


class States(eqx.Module):
    """What `Objective.loss` sees of the data."""

    @abstractmethod
    def embed(self, encode: Encode, *indices: Int[Array, ...]) -> tuple[Float[Array, "... latent"], ...]:
        """The embeddings of several index arrays, computed in one pass through `encode`."""

    def distances(
        self, distance: Distance, *pairs: Pair, ring: Int[Array, " n"] | None = None
    ) -> tuple[Float[Array, ...], ...]:
        """d(first, second) for several arrays of pairs, in one pass through the encoder and the quasimetric.

        With a `ring` of states, the last result is the distance from each of them to the one before it. That is cheaper
        than passing the same pairs, as every state is encoded once.
        """
        first, second = _joined(pairs)
        if ring is None:
            found = distance.quasimetric(*self.embed(distance.encoder, first, second))
            return _apart(found, pairs)
        x, y, around = self.embed(distance.encoder, first, second, ring)
        found = distance.quasimetric(jnp.concatenate([x, around]), jnp.concatenate([y, jnp.roll(around, 1, axis=0)]))
        return _apart(found, (*pairs, (ring, ring)))

    @abstractmethod
    def same(self, first: Int[Array, "*n"], second: Int[Array, "*n"]) -> Bool[Array, "*n"]:
        """Whether two indices refer to equal states, possibly recorded at different times."""


class RecordedStates(States):
    """Rows as they were recorded."""

    states: Shaped[Array | np.ndarray, " rows *shape"]
    devices: Devices = eqx.field(static=True, default=Devices())

    def embed(self, encode: Encode, *indices: Int[Array, ...]) -> tuple[Float[Array, "... latent"], ...]:
        rows = jnp.concatenate([index.ravel() for index in indices])
        return _split(self.devices.share_out(lambda rows: encode(self.states[rows]), rows), indices)

    def same(self, first: Int[Array, "*n"], second: Int[Array, "*n"]) -> Bool[Array, "*n"]:
        equal = jnp.asarray(self.states)[first] == jnp.asarray(self.states)[second]
        return jnp.all(equal, axis=tuple(range(first.ndim, equal.ndim)))


class TabulatedStates(States):
    """A table of the distinct states, and which of them each recorded row is."""

    table: Shaped[Array | np.ndarray, " distinct *shape"]
    row: Int[Array | np.ndarray, " rows"]
    on_cpu: bool = eqx.field(static=True, default=False)
    """Whether to look up and measure a few pairs at a time, which is faster only on a CPU, because of its cache."""

    def embed(self, encode: Encode, *indices: Int[Array, ...]) -> tuple[Float[Array, "... latent"], ...]:
        rows = self.row[jnp.concatenate([index.ravel() for index in indices])]
        return _split(_look_up(encode(jnp.asarray(self.table)), rows), indices)

    def distances(
        self, distance: Distance, *pairs: Pair, ring: Int[Array, " n"] | None = None
    ) -> tuple[Float[Array, ...], ...]:
        if not self.on_cpu:
            return super().distances(distance, *pairs, ring=ring)
        if ring is not None:
            pairs = (*pairs, (ring, jnp.roll(ring, 1)))
        first, second = (self.row[side] for side in _joined(pairs))
        latent = distance.encoder(jnp.asarray(self.table))
        if len(self.table) ** 2 > _TABLE_PER_PAIR * len(first):
            return _apart(distances_of_rows(distance.quasimetric, latent, latent, first, second), pairs)
        once = different_pairs(first, second, len(self.table))
        found = distances_of_rows(distance.quasimetric, latent, latent, once.first, once.second, once.how_many)
        return _apart(found[once.place], pairs)

    def same(self, first: Int[Array, "*n"], second: Int[Array, "*n"]) -> Bool[Array, "*n"]:
        return self.row[first] == self.row[second]


def as_recorded(data: Trajectories, more: np.ndarray | None, devices: Devices, units: Units) -> RecordedStates:
    """All recorded rows, followed by those that an objective adds."""
    return RecordedStates(units.centred(with_more(data.states, more)), devices)  # type: ignore[arg-type]


def as_table(
    data: Trajectories, more: np.ndarray | None, on_cpu: bool = False, units: Units = ORDINARY
) -> TabulatedStates:
    """The distinct states of a data set, followed by those that an objective adds."""
    index = data.distinct.index
    if more is not None:
        index = np.concatenate([index, len(data.distinct) + np.arange(len(more), dtype=index.dtype)])
    return TabulatedStates(units.centred(with_more(data.distinct.states, more)), index, on_cpu)  # type: ignore[arg-type]


def with_more(states: np.ndarray, more: np.ndarray | None) -> np.ndarray:
    """`states` followed by `more`, in the type of `states`."""
    return states if more is None else np.concatenate([states, more.astype(states.dtype)])


@jax.custom_vjp
def _look_up(table: Float[Array, "distinct latent"], rows: Int[Array, " n"]) -> Float[Array, "n latent"]:
    """table[rows], with a gradient that is the same from run to run."""
    return table[rows]


def _look_up_forward(table: Array, rows: Array) -> tuple[Array, tuple[Array, Array]]:
    return table[rows], (rows, table)


def _look_up_backward(saved: tuple[Array, Array], gradient: Array) -> tuple[Array, None]:
    rows, table = saved

    def scatter(rows: Array, gradient: Array) -> Array:
        return jnp.zeros_like(table).at[rows].add(gradient)

    def multiply(rows: Array, gradient: Array) -> Array:
        chosen = (rows[None, :] == jnp.arange(len(table))[:, None]).astype(gradient.dtype)
        return jnp.matmul(chosen, gradient, precision=jax.lax.Precision.HIGHEST)

    # A CPU adds rows one after the other: fast, and always in the same order. An accelerator's threads add in an order
    # that changes from run to run, and with it the last bits; there a matrix product computes the same sum in a fixed
    # order.
    return jax.lax.platform_dependent(rows, gradient, cpu=scatter, default=multiply), None


_look_up.defvjp(_look_up_forward, _look_up_backward)


def _split(joined: Array, indices: tuple[Array, ...]) -> tuple[Array, ...]:
    parts, start = [], 0
    for index in indices:
        parts.append(joined[start : start + index.size].reshape(*index.shape, joined.shape[-1]))
        start += index.size
    return tuple(parts)


def _joined(pairs: tuple[Pair, ...]) -> Pair:
    """Several arrays of pairs as one."""
    first, second = (jnp.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    return first, second


def _apart(found: Array, pairs: tuple[Pair, ...]) -> tuple[Array, ...]:
    """Results for joined pairs, split into the shapes of `pairs`."""
    ends = np.cumsum([pair[0].size for pair in pairs])
    return tuple(part.reshape(pair[0].shape) for part, pair in zip(jnp.split(found, ends[:-1]), pairs, strict=True))
