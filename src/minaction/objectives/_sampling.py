"""Sampling of indices on the device: pairs on a trajectory, transitions, any states."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from ..trajectories import Trajectories

AnyArray = Array | np.ndarray
"""On the host when a table is made, on the device when it is used."""


class Pairs(NamedTuple):
    """Ordered pairs of states on one trajectory, and the time between them: an upper bound of the MAD."""

    first: Int[Array, " n"]
    second: Int[Array, " n"]
    elapsed: Float[Array, " n"]


class EpisodeTable(eqx.Module):
    """Where episodes begin and how long they are: all that sampling needs to know about a data set.

    Episodes of a single state contain no pair and come last; `usable` counts those before them. Counts are
    arrays, so that tables of several data sets can be padded and stacked.
    """

    starts: Int[AnyArray, " episodes"]
    lengths: Int[AnyArray, " episodes"]
    usable: Int[AnyArray, ""]
    num_states: Int[AnyArray, ""]
    times: Float[AnyArray, " states"] | None

    @classmethod
    def of(cls, data: Trajectories) -> EpisodeTable:
        """The table of a data set."""
        order = np.argsort(data.lengths < 2, kind="stable")
        times = None
        if data.times is not None:  # relative to the episode's start, so that float32 keeps them apart
            times = data.times
            if times.dtype != np.float32:  # or they are relative already (`Units.in_steps`)
                times = (times - np.repeat(times[data.offsets[:-1]], data.lengths)).astype(np.float32)
        return cls(
            starts=data.offsets[:-1][order].astype(np.int32),
            lengths=data.lengths[order].astype(np.int32),
            usable=np.asarray(np.sum(data.lengths >= 2), np.int32),
            num_states=np.asarray(data.num_states, np.int32),
            times=times,
        )

    def elapsed(self, first: Int[Array, " n"], second: Int[Array, " n"]) -> Float[Array, " n"]:
        """Time from state `first` to state `second` of the same episode."""
        if self.times is None:
            return (second - first).astype(jnp.float32)
        return self.times[second] - self.times[first]


def trajectory_pairs(key: PRNGKeyArray, table: EpisodeTable, count: int, horizon: int | None = None) -> Pairs:
    """`count` pairs (i, j): an episode is drawn uniformly, then i in it, then j among the `horizon` states after i."""
    bits = jax.random.bits(key, (3, count))
    first, left = _states_with_successor(bits[0], bits[1], table)
    gap = 1 + below(bits[2], left if horizon is None else jnp.minimum(left, horizon))
    return Pairs(first, first + gap, table.elapsed(first, first + gap))


def any_states(key: PRNGKeyArray, table: EpisodeTable, count: int) -> Int[Array, " n"]:
    """`count` states drawn uniformly from the whole data set."""
    return below(jax.random.bits(key, (count,)), table.num_states)


def transitions(key: PRNGKeyArray, table: EpisodeTable, count: int) -> Pairs:
    """`count` observed transitions: an episode is drawn uniformly, then a step in it."""
    return trajectory_pairs(key, table, count, horizon=1)


def first_steps(table: EpisodeTable, pairs: Pairs) -> tuple[Int[Array, " n"], Float[Array, " n"]]:
    """The state that follows the first one of each pair, and the time it took to get there."""
    following = pairs.first + 1
    return following, table.elapsed(pairs.first, following)


def transitions_with_goals(
    key: PRNGKeyArray, table: EpisodeTable, count: int, *, discount: float, future_fraction: float, of_each: int = 0
) -> tuple[Pairs, Int[Array, " n"]]:
    """Transitions, and for each a goal as in hindsight experience replay.

    With probability `future_fraction` the goal is the state k later in the same episode, at most its last,
    with P(k) = (1 - discount) discount^(k - 1) for k = 1, 2, ...; otherwise it is any state of the data set.
    With `of_each`, every transition has so many goals that never change, this fraction of them in the future, and its
    episode's last state; one of these is drawn.
    """
    bits_key, offset_key, any_key, choice_key = jax.random.split(key, 4)
    bits = jax.random.bits(bits_key, (2, count))
    first, left = _states_with_successor(bits[0], bits[1], table)
    pairs = Pairs(first, first + 1, table.elapsed(first, first + 1))
    if of_each:
        place = below(jax.random.bits(choice_key, (count,)), jnp.asarray(of_each + 1))
        future = place < round(future_fraction * of_each)
        lasting = _lasting_goals(first, left, place, future, table, discount)
        return pairs, jnp.where(place == of_each, first + left, lasting)
    offset = jax.random.geometric(offset_key, 1.0 - discount, (count,), dtype=first.dtype)
    future = first + jnp.minimum(offset, left)
    is_future = jax.random.bernoulli(choice_key, future_fraction, (count,))
    goals = jnp.where(is_future, future, any_states(any_key, table, count))
    return pairs, goals


def _lasting_goals(
    first: Int[Array, " n"],
    left: Int[Array, " n"],
    place: Int[Array, " n"],
    future: Bool[Array, " n"],
    table: EpisodeTable,
    discount: float,
) -> Int[Array, " n"]:
    """The goal at `place` among those of the transition from `first`, drawn with both as the key instead of stored."""

    def drawn(first: Array, left: Array, place: Array, future: Array) -> Array:
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), first), place)
        ahead = jnp.minimum(jax.random.geometric(key, 1.0 - discount, dtype=first.dtype), left)
        return jnp.where(future, first + ahead, any_states(key, table, 1)[0])

    return jax.vmap(drawn)(first, left, place, future)


def below(bits: UInt32[Array, "*n"], bound: Int[AnyArray, "*#n"]) -> Int[Array, "*n"]:
    """Uniform integers from 0 to bound - 1: floor(bits * bound / 2^32), from random 32-bit words.

    Bounds differ from draw to draw. For an array of bounds, `jax.random.randint` computes several random arrays in
    separate kernels, which took a fifth of a training step on a GPU. No value's probability is off by more than a
    factor of bound / 2^32.
    """
    bound = jnp.asarray(bound).astype(jnp.uint32)
    high, low = bits >> 16, bits & 0xFFFF
    bound_high, bound_low = bound >> 16, bound & 0xFFFF
    mixed, other = high * bound_low, low * bound_high
    carry = ((low * bound_low >> 16) + (mixed & 0xFFFF) + (other & 0xFFFF)) >> 16
    return (high * bound_high + (mixed >> 16) + (other >> 16) + carry).astype(jnp.int32)


def _states_with_successor(
    episode_bits: UInt32[Array, " n"], first_bits: UInt32[Array, " n"], table: EpisodeTable
) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
    """A state with a successor (an episode is drawn uniformly, then a state in it), and how many states follow it."""
    episode = below(episode_bits, table.usable)
    start, length = table.starts[episode], table.lengths[episode]
    offset = below(first_bits, length - 1)
    return start + offset, length - 1 - offset
